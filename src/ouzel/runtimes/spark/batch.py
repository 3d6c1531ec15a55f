"""Batch: `match` on a Spark DataFrame, partition by partition, or slice of time by slice of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan
from ouzel.physical.limits import Limits
from ouzel.runtimes.aggregates import of_no_events
from ouzel.runtimes.embedded import run_program
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark.columns import arrow_schema, backquoted, narrowed, result_schemas
from ouzel.runtimes.spark.given import Given, cut_by_time, spread_of
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.parquet import FileTask, match_files, row_groups
from ouzel.runtimes.spark.pushdown import types_wanted_by_arrow, wanted_by_arrow
from ouzel.runtimes.spark.task import Task
from ouzel.runtimes.spark.time_slices import in_slices, slices_of
from ouzel.runtimes.spark.types_there import check_types
from ouzel.runtimes.spark.workers import check_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def match_dataframe(
    events: DataFrame,
    text: str,
    params: Mapping[str, Any],
    reading: Reading,
    engine: str,
    tuning: Mapping[str, str],
    limits: Limits,
    options: SparkOptions | None,
) -> dict[str, DataFrame]:
    """The matches of every query as a DataFrame, computed when it is used."""
    options = options or SparkOptions()
    whole = narrowed(
        Task(text, "", dict(params), reading, arrow_schema(events), engine, limits, tuning=dict(tuning))
    )
    check_workers(events.sparkSession)
    check_types(events, whole, is_patient=options.looks_at_types)
    plans = whole.compiled.plans
    of_nothing = run_program(plans, whole.none, limits)
    given = Given(events, whole, options)
    by_name = {plan.query.name: plan for plan in plans}
    found = {name: _query(given, by_name[name], of_nothing[name].schema) for name in whole.compiled.names}
    return {name: _or_of_nothing(found[name], by_name[name].query) for name in found}


def _or_of_nothing(result: DataFrame, query: BoundQuery) -> DataFrame:
    """A result with the row that totals of nothing have: of no events, Spark may start no task at all."""
    from pyspark.sql import functions as f

    rows = of_no_events(query)
    if not rows:
        return result
    [row] = rows  # there is one in any case, which an aggregate of all rows keeps
    firsts = {name: f.first(result[backquoted(name)]) for name in row}
    return result.agg(
        *(
            (firsts[name] if value is None else f.coalesce(firsts[name], f.lit(value))).alias(name)
            for name, value in row.items()
        )
    )


def _query(given: Given, plan: Plan, result: pa.Schema) -> DataFrame:
    spark_schema, output = result_schemas(result)
    task = given.task.altered(name=plan.query.name, memory=given.options.memory, output=output)
    spread = spread_of(given, plan)
    if spread.files:
        queries = given.queries(plan)
        conditions = (wanted_by_arrow(queries, task), types_wanted_by_arrow(queries, task))
        reading = FileTask(task, row_groups(spread.files), tuple(spread.keys), spread.tasks, *conditions)
        return match_files(given.events.sparkSession, reading, spark_schema)
    condition = given.wanted(plan)
    if spread.keys:
        return given.apart(condition, spread).mapInArrow(task.whole, spark_schema)
    chosen, query = given.chosen(condition), cut_by_time(plan.query)
    slices = None if spread.one else slices_of(given.spans[condition], query, given.tasks_for_rows(condition))
    if slices is None:
        return chosen.coalesce(1).mapInArrow(task.whole, spark_schema)
    sliced = in_slices(chosen, given.ticks, query, slices, given.tasks_for_rows(condition))
    return sliced.mapInArrow(task.altered(slices=slices).sliced, spark_schema)
