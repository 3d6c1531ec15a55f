"""Rules on Spark: rows of rules on their way to every bucket, and those that make no sense."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from ouzel.errors import OuzelError, listed
from ouzel.language.document import is_list
from ouzel.optimizer.plan import Plan
from ouzel.runtimes.arc_rows import ArcRows
from ouzel.runtimes.quarantine import free_names
from ouzel.runtimes.revision import speculation_ticks
from ouzel.runtimes.ruled import check_rows, problem_of
from ouzel.runtimes.spark.columns import arrow_schema, backquoted
from ouzel.runtimes.spark.keys import key_columns
from ouzel.runtimes.spark.packing import PACKED_DDL, RulePacking

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ouzel.runtimes.spark.processor import StreamTask
    from ouzel.runtimes.spark.task import Task


@dataclass(frozen=True)
class Fitting:
    """What a query that comes later must have: equivalence tests on the keys by which events are spread."""

    keys: tuple[str, ...]

    def __call__(self, plans: Sequence[Plan]) -> None:
        """Refuse plans of which the last cannot run in buckets, or never reports."""
        missing = [key for key in self.keys if key not in key_columns(plans)]
        if missing:
            raise OuzelError(
                f"required an equivalence test, [{', '.join(self.keys)}], by which the events of the stream are "
                f"spread; there is none on {listed(missing)}"
            )
        check_windows(plans)


def check_windows(plans: Sequence[Plan]) -> None:
    """Refuse totals over all of a stream."""
    if any(plan.query.aggregates and plan.query.every is None for plan in plans):
        raise OuzelError(
            "OUTPUT AGGREGATE: required windows on a stream, which has no end at which to report\n"
            "  hint: for example OUTPUT AGGREGATE EVERY 1 hour"
        )


def check_revised_rules(task: Task, rules: RuleTables | None) -> None:
    """Refuse to correct what rules found where that cannot be told."""
    if task.revision is None or rules is None or rules.are_arcs:
        return
    if is_list(task.text):
        raise OuzelError("op: not to be had with rules that are texts\n  hint: make them a set, oz.queries(…)")
    if speculation_ticks(task.speculation, "ns") != 0:
        raise OuzelError(
            "speculation: not to be had with rules: what one that ends has reported early is never withdrawn\n"
            "  hint: leave out speculation"
        )


@dataclass
class RuleTables:
    """The rules of a stream: rows that are there at first, and a stream of more; those `refused` are a stream."""

    first: pa.Table | None = None
    stream: DataFrame | None = None
    refused: DataFrame | None = None
    are_arcs: bool = False
    """Whether they are arcs of an automaton."""

    def check(self, stream: StreamTask) -> None:
        """Refuse rules that lack a column or have one of another type, and first ones that make no sense."""
        rules, time = stream.rules(), stream.task.none.schema.time.arrow
        if self.stream is not None:
            rules.columns.check(arrow_schema(self.stream), time)
        if self.first is not None and not isinstance(rules, ArcRows):
            rules.columns.check(self.first.schema, time)
            check_rows(rules, self.first)


def packed_rules(rules: DataFrame, stream: StreamTask) -> DataFrame:
    """Rows of rules, packed for every bucket."""
    names = stream.rules().columns.chosen(rules.columns)
    chosen = rules.select([rules[backquoted(name)] for name in names])
    return chosen.mapInArrow(RulePacking(stream.buckets).rows, PACKED_DDL)


def refused_rules(rules: DataFrame, stream: StreamTask) -> DataFrame:
    """The rows of rules that make no sense, with what is wrong with them."""
    from pyspark.sql.types import StringType, StructField, StructType

    _row, name = free_names(rules.columns)
    shape = StructType([*rules.schema.fields, StructField(name, StringType())])
    return rules.mapInArrow(_Refusing(stream, arrow_schema(rules), name).rows, shape)


@dataclass(frozen=True)
class _Refusing:
    stream: StreamTask
    schema: pa.Schema
    name: str

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rules = self.stream.rules()
        for batch in batches:
            problems = pa.array([problem_of(rules, row) for row in batch.to_pylist()], pa.string())
            told = pa.Table.from_batches([batch]).append_column(self.name, problems)
            yield from told.filter(problems.is_valid()).to_batches()


def united(results: Sequence[tuple[str | None, DataFrame]], hidden: str) -> DataFrame:
    """Results as one: as they are, or, of queries with other columns, each match in JSON beside its rule."""
    from pyspark.sql import functions as f

    frames = []
    for rule, frame in results:
        if rule is None:
            frames.append(frame)
            continue
        own = f.struct(*(f.col(backquoted(name)) for name in frame.columns if name != hidden))
        match = f.to_json(own, {"ignoreNullFields": "false"})
        frames.append(frame.select(f.lit(rule).alias("query"), match.alias("match")))
    return reduce(lambda one, other: one.union(other), frames)
