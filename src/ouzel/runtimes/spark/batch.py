"""Batch: `match` on a Spark DataFrame, partition by partition, or slice of time by slice of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ouzel.logical.pattern import edge_negatives
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import NESTED
from ouzel.optimizer.plan import Plan
from ouzel.physical.limits import Limits
from ouzel.runtimes.embedded import run_program
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark.columns import arrow_schema, backquoted, narrowed, result_schemas
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.parquet import FileTask, match_files, plain_files, row_groups
from ouzel.runtimes.spark.pushdown import Wanted, types_wanted_by_arrow, wanted_by_arrow
from ouzel.runtimes.spark.sizes import bytes_of_files, estimated_bytes, merges_tasks, most_tasks, tasks_for
from ouzel.runtimes.spark.task import SLICE, Task
from ouzel.runtimes.spark.types_there import check_types
from ouzel.runtimes.spark.workers import check_workers
from ouzel.runtimes.time_units import warn_of_unit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A slice is at least so many windows long: what is in two slices is matched twice.
WINDOWS_PER_SLICE = 4
# A guess at what a value takes in a file.
BYTES_PER_VALUE = 4


def match_dataframe(
    events: DataFrame,
    text: str,
    params: Mapping[str, Any],
    reading: Reading,
    engine: str,
    limits: Limits,
    options: SparkOptions | None,
) -> dict[str, DataFrame]:
    """The matches of every query as a DataFrame, computed when it is used."""
    options = options or SparkOptions()
    whole = narrowed(Task(text, "", dict(params), reading, arrow_schema(events), engine, limits))
    check_workers(events.sparkSession)
    check_types(events, whole, is_patient=options.looks_at_types)
    plans = whole.compiled.plans
    of_nothing = run_program(plans, whole.none, limits)
    given = Given(events, whole, options)
    return {plan.query.name: _query(given, plan, of_nothing[plan.query.name].schema) for plan in plans}


def _query(given: Given, plan: Plan, result: pa.Schema) -> DataFrame:
    events, options = given.events, given.options
    spark_schema, output = result_schemas(result)
    task = given.task.altered(name=plan.query.name, memory=options.memory, output=output)
    spread = spread_of(given, plan)
    if spread.files:
        conditions = (wanted_by_arrow(plan.query, task), types_wanted_by_arrow(plan.query, task))
        reading = FileTask(task, row_groups(spread.files), tuple(spread.keys), spread.tasks, *conditions)
        return match_files(events.sparkSession, reading, spark_schema)
    events = _chosen(given, plan)
    if spread.keys:
        # rows, not blobs: to pack what Spark has read costs more than its shuffle does
        number = () if spread.merges else (spread.tasks,)
        apart = events.repartition(*number, *(events[backquoted(name)] for name in spread.keys))
        return apart.mapInArrow(task.whole, spark_schema)
    if spread.one:
        return events.coalesce(1).mapInArrow(task.whole, spark_schema)
    return _by_time(events, plan.query, task, options, spark_schema)


def _chosen(given: Given, plan: Plan) -> DataFrame:
    """The events that some component wants, with the columns that are needed."""
    condition = None if given.task.is_composed else given.wanted.by(plan.query)
    return given.narrow if condition is None else given.narrow.where(condition)


@dataclass(frozen=True)
class Spread:
    """How the events of a query are spread over tasks: by keys, by slices of time, or not at all: `one` says why.

    `files` are the Parquet files that workers read themselves; `merges` says that Spark may make it fewer tasks.
    """

    tasks: int
    keys: list[str]
    files: list[str] | None = None
    one: str = ""
    merges: bool = False


class Given:
    """Events, and what is asked of Spark about them once, for all queries."""

    def __init__(self, events: DataFrame, task: Task, options: SparkOptions) -> None:
        """Of a program."""
        self.events, self.task, self.options = events, task, options

    @cached_property
    def narrow(self) -> DataFrame:
        """The columns that are needed."""
        return self.events.select([self.events[backquoted(name)] for name in self.task.schema.names])

    @cached_property
    def wanted(self) -> Wanted:
        """Which events of these the queries want."""
        return Wanted(self.task, self.events.schema)

    @cached_property
    def files(self) -> list[str] | None:
        """The Parquet files that workers may read themselves."""
        return plain_files(self.events, self.task.schema) if self.options.reads_files else None

    @cached_property
    def tasks_for_files(self) -> int:
        """How many tasks the files are worth."""
        return tasks_for(bytes_of_files(self.files or ()), self.events.sparkSession)

    @cached_property
    def tasks(self) -> tuple[int, bool]:
        """How many tasks the events are worth that Spark reads, and whether Spark may make it fewer."""
        session = self.events.sparkSession
        if merges_tasks(session):
            return most_tasks(session), True
        return tasks_for(estimated_bytes(self.events), session), False


def spread_of(given: Given, plan: Plan) -> Spread:
    """Decide it; nothing is read but the schemas of files."""
    is_composed, options = given.task.is_composed, given.options
    keys = [] if is_composed else partition_columns(plan)
    if not keys:
        return Spread(0, [], one="queries feed each other" if is_composed else _indivisible(plan.query))
    # workers that read files hash whole columns, not fields of structs
    files = None if any(NESTED in key for key in keys) else given.files
    if options.tasks:
        return Spread(options.tasks, keys, files)
    if files:
        return Spread(given.tasks_for_files, keys, files)
    tasks, merges = given.tasks
    return Spread(tasks, keys, merges=merges)


def _indivisible(query: BoundQuery) -> str:
    """Why the time of a stream cannot be cut into slices, if that is so."""
    if query.window is None:
        return "without WITHIN a match may be as long as the stream"
    if query.window.counts_events:
        return "a window that counts events begins anywhere in time"
    if query.non_overlap:
        return "NON_OVERLAP chooses from all matches"
    if query.numbers_matches:
        return "match_number() counts all matches"
    return "aggregates are over all matches" if query.aggregates and not query.every else ""


def partition_columns(plan: Plan) -> list[str]:
    """The columns by which events can be kept apart, if each test has one column for all components."""
    if not plan.partition_by:
        return []
    found = [test.only_column for test in plan.query.equivalences]
    return [] if None in found else [column for column in found if column is not None]


def _by_time(events: DataFrame, query: BoundQuery, task: Task, options: SparkOptions, output: Any) -> DataFrame:
    """Slices of time that overlap by the window, each match owned by the one in which it starts.

    Of windows of aggregates each is whole in one slice, which owns the matches that end in it.
    """
    from pyspark.sql import functions as f

    window = query.window
    assert window is not None
    ticks = _ticks(events, task)
    least, most, rows = events.agg(f.min(ticks), f.max(ticks), f.count("*")).first() or (None, None, 0)
    if task.reading.time_unit is None and least is not None and most is not None:
        warn_of_unit(least, most, task.none.schema.time)
    if least is None:
        return events.coalesce(1).mapInArrow(task.whole, output)
    tasks = options.tasks or tasks_for(rows * len(task.schema) * BYTES_PER_VALUE, events.sparkSession)
    length = max((most - least) // max(2 * tasks, 1) + 1, WINDOWS_PER_SLICE * window.limit)
    if query.every is not None:
        least -= least % query.every.length
        length += -length % query.every.length
    count = (most - least) // length + 1
    # beyond that, Spark's divisions are not exact, nor do its differences fit
    if count == 1 or most - least + window.limit >= 2**53:
        return events.coalesce(1).mapInArrow(task.whole, output)
    # negation at the start looks back as far as the window, everything else looks ahead
    back = window.limit if edge_negatives(query.pattern, at_end=False) else 0
    back += window.limit if query.every is not None else 0
    low = f.floor((ticks - f.lit(least) - f.lit(window.limit)) / f.lit(length))
    high = f.floor((ticks - f.lit(least) + f.lit(back)) / f.lit(length))
    numbers = f.sequence(f.greatest(low, f.lit(0)), f.least(high, f.lit(count - 1)))
    sliced = events.withColumn(SLICE, f.explode_outer(numbers)).repartition(min(count, 2 * tasks), SLICE)
    return sliced.mapInArrow(task.altered(slices=(least, length)).sliced, output)


def _ticks(events: DataFrame, task: Task) -> Any:
    """The time column as whole ticks, as the engines count them."""
    from pyspark.sql import functions as f

    column = events[backquoted(task.reading.time)]
    arrow = task.schema.field(task.reading.time).type
    if pa.types.is_timestamp(arrow):
        if arrow.tz:
            return f.unix_micros(column)
        # without a zone: as if it were in UTC, whatever the session's zone
        return f.timestamp_diff("MICROSECOND", f.lit(datetime(1970, 1, 1)).cast("timestamp_ntz"), column)
    if pa.types.is_date(arrow):
        return f.unix_date(column).cast("long")
    return column.cast("long")
