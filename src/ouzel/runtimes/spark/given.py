"""What a DataFrame is to the queries that are matched on it: how it is spread, and what is asked of it once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ouzel.logical.parameters import names_in
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import NESTED
from ouzel.optimizer.plan import Plan
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.keys import chains_of, key_columns
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.parquet import plain_files
from ouzel.runtimes.spark.pushdown import wanted_by_spark
from ouzel.runtimes.spark.sizes import bytes_of_files, estimated_bytes, merges_tasks, most_tasks, tasks_for
from ouzel.runtimes.spark.task import Task
from ouzel.runtimes.spark.time_slices import Span, spans_of, ticks_of
from ouzel.runtimes.time_units import warn_of_unit

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# A guess at what a value takes in a file.
BYTES_PER_VALUE = 4


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

    @property
    def is_by_time(self) -> bool:
        """Whether time is cut into slices."""
        return not self.keys and not self.one


class Given:
    """Events, and what is asked of Spark about them once, for all queries."""

    def __init__(self, events: DataFrame, task: Task, options: SparkOptions) -> None:
        """Of a program."""
        self.events, self.task, self.options = events, task, options
        self._made: dict[Any, Any] = {}

    @cached_property
    def narrow(self) -> DataFrame:
        """The columns that are needed."""
        return self.events.select([self.events[backquoted(name)] for name in self.task.schema.names])

    @cached_property
    def chains(self) -> Mapping[str, tuple[Plan, ...]]:
        """By query, it and those that feed it."""
        return chains_of(self.task.compiled.plans)

    def queries(self, plan: Plan) -> list[BoundQuery]:
        """A query and those that feed it."""
        return [one.query for one in self.chains[plan.query.name]]

    def wanted(self, plan: Plan) -> str | None:
        """A condition for the events that a query wants, or one that feeds it; None if all are needed."""
        condition: str | None = self._once(
            ("wanted", plan.query.name),
            lambda: wanted_by_spark(self.queries(plan), self.task, self.narrow.schema),
        )
        return condition

    def chosen(self, condition: str | None) -> DataFrame:
        """The events that are wanted, with the columns that are needed; the same for all who want the same."""
        frame: DataFrame = self._once(
            ("chosen", condition), lambda: self.narrow if condition is None else self.narrow.where(condition)
        )
        return frame

    def apart(self, condition: str | None, spread: Spread) -> DataFrame:
        """Those events, shuffled by keys."""
        # rows, not blobs: to pack what Spark has read costs more than its shuffle does
        number = () if spread.merges else (spread.tasks,)

        def shuffled() -> DataFrame:
            keys = [self.narrow[backquoted(name)] for name in spread.keys]
            return self.chosen(condition).repartition(*number, *keys)

        frame: DataFrame = self._once(("apart", condition, *number, *spread.keys), shuffled)
        return frame

    def _once(self, place: Any, make: Callable[[], Any]) -> Any:
        if place not in self._made:
            self._made[place] = make()
        return self._made[place]

    @cached_property
    def ticks(self) -> Column:
        """The time of events."""
        return ticks_of(self.narrow, self.task)

    @cached_property
    def spans(self) -> Mapping[str | None, Span]:
        """How far the events reach in time that are wanted by queries which are cut by it, by their condition."""
        plans = [plan for plan in self.task.compiled.plans if spread_of(self, plan).is_by_time]
        found = spans_of(self.events, self.narrow, self.ticks, self.task, {self.wanted(plan) for plan in plans})
        if self.task.reading.time_unit is None:
            for span in found.values():
                if span.rows:
                    warn_of_unit(span.least, span.most, self.task.none.schema.time)
        return found

    def tasks_for_rows(self, condition: str | None) -> int:
        """How many tasks the events are worth that are cut by time."""
        size = self.spans[condition].rows * len(self.task.schema) * BYTES_PER_VALUE
        return self.options.tasks or tasks_for(size, self.events.sparkSession)

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
    options = given.options
    chain = given.chains[plan.query.name]
    keys = key_columns(chain)
    if not keys:
        fed = "queries feed each other, and no key is common to them" if len(chain) > 1 else ""
        return Spread(0, [], one=fed or _indivisible(cut_by_time(plan.query)))
    # workers that read files hash whole columns, not fields of structs
    files = None if any(NESTED in key for key in keys) else given.files
    if options.tasks:
        return Spread(options.tasks, keys, files)
    if files:
        return Spread(given.tasks_for_files, keys, files)
    tasks, merges = given.tasks
    return Spread(tasks, keys, merges=merges)


def cut_by_time(query: BoundQuery) -> BoundQuery:
    """A query as it is when time is cut: a set has the window that all of its queries have, if it is one."""
    members = query.members
    if members is None or any(True for _name in names_in(getattr(members.written.template, "within", None))):
        return query
    return replace(query, window=members.template.window)


def _indivisible(query: BoundQuery) -> str:
    """Why the time of a stream cannot be cut into slices, if that is so."""
    if query.window is None and query.members is not None and query.members.template.window is not None:
        return "each query of the set has a window of its own"
    if query.window is None:
        return "without WITHIN a match may be as long as the stream"
    if query.window.counts_events:
        return "a window that counts events begins anywhere in time"
    if query.non_overlap:
        return "NON_OVERLAP chooses from all matches"
    if query.numbers_matches:
        return "match_number() counts all matches"
    return "aggregates are over all matches" if query.aggregates and not query.every else ""
