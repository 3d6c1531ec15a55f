"""How Spark runs a query, in words: what `explain` says of a DataFrame beside what it says of every query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ouzel.explain.layout import Sections
from ouzel.explanation import explain
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import NESTED
from ouzel.optimizer.plan import Plan
from ouzel.physical.limits import Limits
from ouzel.runtimes.reading import Reading, settled
from ouzel.runtimes.revising import Revising
from ouzel.runtimes.revision import Revision, check_revision
from ouzel.runtimes.spark.columns import arrow_schema, narrowed, type_column
from ouzel.runtimes.spark.given import Given, spread_of
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.pushdown import described, minds_all, wanted_by_arrow
from ouzel.runtimes.spark.streaming import stream_keys
from ouzel.runtimes.spark.task import Task
from ouzel.runtimes.spark.types_there import check_types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def explain_dataframe(
    events: DataFrame,
    text: str,
    params: Mapping[str, Any],
    reading: Reading,
    engine: str,
    tuning: Mapping[str, str],
    options: SparkOptions,
    revision: Revision | None = None,
    speculation: Any = 0,
) -> str:
    """Explain every query over a DataFrame, a batch or a stream, whose matches may be corrected."""
    schema = arrow_schema(events)
    if revision is not None:
        check_revision(revision, schema, settled(reading, schema.names))
    how = {"tuning": dict(tuning), "revision": revision, "speculation": speculation}
    task = Task(text, "", dict(params), reading, schema, engine, Limits(), **how)
    narrow = narrowed(task)
    spread = _stream_words(narrow, options) if events.isStreaming else None
    corrected = _corrected_words(narrow, is_stream=events.isStreaming)
    if not events.isStreaming:
        check_types(events, narrow, is_patient=options.looks_at_types)

    given = Given(events, narrow, options)

    def sections(plan: Plan) -> Sections:
        words = [*(spread or _batch_words(given, plan)), *_read_words(given.queries(plan), narrow)]
        return [("spark", words), *([("corrections", corrected)] if corrected else [])]

    return explain(task.compiled.plans, None, sections)


def _corrected_words(task: Task, *, is_stream: bool) -> list[str]:
    """How matches are corrected: on a stream, as every bucket's matcher says it."""
    if task.revision is None:
        return []
    if not is_stream:
        return [f"rows with -1 in '{task.op}' withdraw events: what is left is matched"]
    matcher = task.matcher(on_late="keep")
    assert isinstance(matcher, Revising)
    return matcher.corrections


def _stream_words(task: Task, options: SparkOptions) -> list[str]:
    keys = stream_keys(task, options)
    if not keys:
        return ["a stream, in one bucket: no keys keep the events of all queries apart"]
    return [f"a stream, in {options.buckets} buckets by {_listed(keys)}, each with a matcher in Spark's state"]


def _batch_words(given: Given, plan: Plan) -> list[str]:
    spread = spread_of(given, plan)
    if spread.one:
        return [f"one task: {spread.one}"]
    if not spread.keys:
        verb = "ends" if plan.query.every else "starts"
        return [f"by slices of time that overlap by the window; a match belongs to the one in which it {verb}"]
    by = f"{spread.tasks} {'task' if spread.tasks == 1 else 'tasks'} by {_listed(spread.keys)}"
    if spread.files is None:
        return [f"{by}; Spark reads the events"]
    return [f"{by}; workers read the Parquet files themselves, {len(spread.files)} of them"]


def _listed(keys: list[str]) -> str:
    return ", ".join(key.replace(NESTED, ".") for key in keys)


def _read_words(queries: list[BoundQuery], task: Task) -> list[str]:
    """What crosses to Python."""
    columns = f"columns: {', '.join(task.schema.names)}"
    if task.op is not None:
        return [columns, "all events: a row that withdraws an event must find it"]
    if minds_all(queries):
        return [columns, "all events: those that no component wants matter too"]
    if wanted_by_arrow(queries, task) is None:
        return [columns, "all events: some component may want any"]
    conditions = (["types"] if type_column(task) else []) + described(queries)
    return [columns, f"events that some component may want, by {', '.join(conditions)}"]
