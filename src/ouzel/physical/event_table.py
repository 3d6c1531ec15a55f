"""All events of a run in one table: primitive ones as they came, composite ones as queries make them.

Attributes of one name share a column where their types agree; types that clash get columns of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.schema import NESTED, Schema
from ouzel.logical.values import Kind, from_arrow
from ouzel.physical.compiled.share import picked
from ouzel.physical.each_once import each_once
from ouzel.physical.event_types import EventTypes
from ouzel.physical.meaning import plain
from ouzel.physical.recycled import recycled

Integers = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class EventTable:
    """Events by row: their columns, types and intervals.

    `starts` and `ends` are moments, integers that order events: the times, or ranks by time and tie-breakers.
    Arrays that are equal may be one and the same, which saves work and means nothing else, but for `starts` and
    `ends`: they are one exactly if no event lasts.
    """

    table: pa.Table
    schema: Schema
    types: EventTypes
    starts: Integers
    ends: Integers
    start_times: Integers
    end_times: Integers

    @classmethod
    def of_moments(
        cls, table: pa.Table, schema: Schema, types: EventTypes, moments: Integers, times: Integers
    ) -> EventTable:
        """Events that do not last; without tie-breakers their moments are their times."""
        return cls(table, schema, types, moments, moments, times, times)

    def __len__(self) -> int:
        """The number of events."""
        return len(self.ends)

    @property
    def has_intervals(self) -> bool:
        """Whether there are composite events, which last."""
        return self.starts is not self.ends

    @cached_property
    def order(self) -> list[int]:
        """The rows in canonical order: by end, start, type and content, never by arrival."""
        content = content_ranks(self.table, np.arange(len(self)))
        keys = (content, self.type_ranks(np.arange(len(self))), self.starts, self.ends)
        ordered: list[int] = np.lexsort(keys).tolist()
        return ordered

    def type_ranks(self, rows: Integers) -> Integers:
        """The types of some rows as numbers that order them by name."""
        names = np.array(self.types.names or ("",))
        ranks: Integers = np.argsort(np.argsort(names)).astype(np.int64)
        return ranks[self.types.codes[rows]]

    def places(self, rows: Integers) -> Integers:
        """The places of some rows among each other in canonical order; content matters only for ties."""
        keys: tuple[Integers, ...] = (self.starts[rows], self.ends[rows])
        if len(each_once(keys[1])) < len(rows):
            keys = (content_ranks(self.table, rows), self.type_ranks(rows), *keys)
        places = np.empty(len(rows), np.int64)
        places[np.lexsort(keys)] = np.arange(len(rows))
        return places

    def taken(self, rows: Integers) -> EventTable:
        """Some of the events."""
        table = self.table.take(pa.array(rows))
        return EventTable(table, self.schema, self.types.taken(rows, table), *self.intervals_of(rows))

    def brought(self, rows: Integers) -> EventTable:
        """The events in another order: of columns in one piece many are taken in a fraction of the time."""
        table = self.table.combine_chunks().take(pa.array(rows))
        return EventTable(table, self.schema, self.types.taken(rows, table), *self.intervals_of(rows))

    def slice(self, begin: int, end: int) -> EventTable:
        """The events from one row to another, of which nothing is copied."""
        if begin == 0 and end == len(self):
            return self
        columns = self.starts, self.ends, self.start_times, self.end_times
        arrays = {id(one): one[begin:end] for one in columns}
        intervals = [arrays[id(one)] for one in columns]
        table, types = self.table.slice(begin, end - begin), self.types.sliced(begin, end)
        return EventTable(table, self.schema, types, *intervals)

    def column(self, name: str, rows: Integers) -> pa.ChunkedArray:
        """A column of some rows."""
        column = self.table.column(name)
        return column if are_all(rows, len(self)) else column.take(pa.array(rows))

    def intervals_of(self, rows: Integers, threads: int = 1) -> tuple[Integers, Integers, Integers, Integers]:
        """The intervals of some rows: starts and ends as moments, and as times; what is one stays one."""
        columns = self.starts, self.ends, self.start_times, self.end_times
        if are_all(rows, len(self)):
            return columns
        if self.starts is self.ends is self.start_times is self.end_times:
            times = picked(self.ends, rows, threads)
            return times, times, times, times
        arrays = {key: picked(one, rows, threads) for key, one in {id(one): one for one in columns}.items()}
        starts, ends, start_times, end_times = (arrays[id(one)] for one in columns)
        return starts, ends, start_times, end_times

    def intervals(self, first: Integers, last: Integers) -> tuple[Integers, Integers, Integers, Integers]:
        """From the start of some rows to the end of others: as moments, and as times."""
        starts, ends = self.starts[first], self.ends[last]
        if self.start_times is self.starts and self.end_times is self.ends:
            return starts, ends, starts, ends
        return starts, ends, self.start_times[first], self.end_times[last]

    def none(self) -> EventTable:
        """No events, of the same columns."""
        return self.taken(np.zeros(0, np.int64))

    def parted(self, time: int) -> tuple[EventTable | None, EventTable | None]:
        """The events that end before a time and the others, if there are some; in order nothing is copied."""
        times = self.end_times
        if len(times) > 1 and np.any(times[1:] < times[:-1]):
            before = times < time
            return self.taken(np.flatnonzero(before)), self.taken(np.flatnonzero(~before))
        edge = int(times.searchsorted(time))
        early = self.slice(0, edge) if edge else None
        return early, self.slice(edge, len(self)) if edge < len(times) else None

    def select(self, columns: Collection[str]) -> EventTable:
        """The events with only some of their columns."""
        table = self.table
        names = [name for name in table.column_names if name in columns]
        if len(names) < len(columns):
            table = _with_fields(table, columns)
            names = [name for name in table.column_names if name in columns]
        intervals = self.starts, self.ends, self.start_times, self.end_times
        return EventTable(table.select(names), self.schema, self.types.beside(names), *intervals)

    def with_types(self, columns: Collection[str]) -> EventTable:
        """The events with only some of their columns, and that of their types, if one has these."""
        held = self.types.held
        return self.select(columns if held is None else {*columns, held})

    def followed_by(self, others: EventTable) -> EventTable:
        """These events and then others; a column that only some of them have is null for the rest."""
        return EventTable.joined([self, others])

    @classmethod
    def joined(cls, some: Sequence[EventTable]) -> EventTable:
        """The events of several tables, in their order, as `followed_by` has those of two."""
        first, *others = some
        if not others:
            return first
        ends: Integers = np.concatenate([one.ends for one in some], out=recycled(sum(map(len, some))))
        timed = all(one.end_times is one.ends for one in some)
        times = ends if timed else np.concatenate([one.end_times for one in some])
        schema = first.table.schema
        is_same = all(schema.equals(one.table.schema) for one in others)
        # to find a schema for both takes longer than to match a few events
        promoted = {} if is_same else {"promote_options": "default"}
        table = pa.concat_tables([one.table for one in some], **promoted)
        types = first.types.followed_by(*(one.types for one in others))
        if not any(one.has_intervals for one in some):
            return cls.of_moments(table, first.schema, types, ends, times)
        starts = np.concatenate([one.starts for one in some])
        start_times = np.concatenate([one.start_times for one in some])
        return cls(table, first.schema, types, starts, ends, start_times, times)

    @property
    def whole(self) -> EventTable:
        """The same with their columns in one piece, of which others are taken in a fraction of the time."""
        table = self.table.combine_chunks()
        types = self.types.held_by(table) or self.types
        return EventTable(table, self.schema, types, self.starts, self.ends, self.start_times, self.end_times)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The events as arrays and a table; of arrays that are one and the same, one."""
        types = {"types": list(self.types.names), "codes": self.types.codes}
        state = {"table": self.table, **types, "ends": self.ends}
        state |= {"starts": self.starts, "start_times": self.start_times} if self.has_intervals else {}
        return state | ({} if self.end_times is self.ends else {"end_times": self.end_times})

    @classmethod
    def of_state(cls, state: Mapping[str, Any], schema: Schema) -> EventTable:
        """The events of a state."""
        types = EventTypes(None, tuple(state["types"]), state["codes"])
        ends = state["ends"]
        times = state.get("end_times", ends)
        starts, start_times = state.get("starts", ends), state.get("start_times", times)
        return cls(state["table"], schema, types, starts, ends, start_times, times)


def are_all(rows: Integers, count: int) -> bool:
    """Whether rows are all of so many, in order."""
    if not count or len(rows) != count or rows[0] != 0 or rows[-1] != count - 1:
        return False
    return count == 1 or bool((rows[1:] > rows[:-1]).all())


def _with_fields(table: pa.Table, columns: Iterable[str]) -> pa.Table:
    """A table with those of some columns that hold fields of its structs; of null they are null."""
    for name in sorted(set(columns).difference(table.schema.names)):
        struct, *fields = name.split(NESTED)
        if fields and struct in table.column_names:
            table = table.append_column(name, reduce(pc.struct_field, fields, table.column(struct)))
    return table


def primitive_events(
    table: pa.Table,
    schema: Schema,
    types: EventTypes,
    times: Integers,
    tie_breakers: list[str],
    by_arrival: bool = False,
    starts: Integers | None = None,
) -> EventTable:
    """The table of events as they came, at their times, or from `starts` to those if they last.

    `tie_breakers` are the columns that order events of one time; what they leave is in the order of rows if
    `by_arrival` says so.
    """
    if starts is not None and np.any(starts != times):
        return EventTable(table, schema, types, starts, times, starts, times)
    moments = times
    if tie_breakers or by_arrival:
        columns = table.select(tie_breakers)
        rows = pa.chunked_array([pa.array(np.arange(len(times)))])
        moments = _ranks(columns.append_column("arrival", rows) if by_arrival else columns, times)
    return EventTable.of_moments(table, schema, types, moments, times)


def _ranks(columns: pa.Table, times: Integers) -> Integers:
    """Dense ranks by time and then by the columns: equal only where all of them are."""
    names = [f"c{k}" for k in range(columns.num_columns + 1)]
    keys = pa.table([pa.array(times), *map(sortable, columns.columns)], names=names)
    order = pc.sort_indices(keys, sort_keys=[(name, "ascending") for name in keys.column_names])
    changed = np.zeros(max(len(times) - 1, 0), bool)
    for column in keys.columns:
        ordered = column.take(order).combine_chunks()
        differ = pc.not_equal(ordered[1:], ordered[:-1])
        if pa.types.is_floating(ordered.type):
            # what is no number has one place in the order, whatever order it came in
            differ = pc.and_(differ, pc.invert(pc.and_(pc.is_nan(ordered[1:]), pc.is_nan(ordered[:-1]))))
        changed |= differ.to_numpy(zero_copy_only=False).astype(bool)
    ranks = np.empty(len(times), np.int64)
    ranks[order.to_numpy()] = np.concatenate([np.zeros(min(len(times), 1), np.int64), np.cumsum(changed)])
    return ranks


def content_ranks(table: pa.Table, rows: Integers) -> Integers:
    """Ranks of rows by their values, column by column: what breaks ties must not depend on arrival."""
    columns = {f"c{k}": sortable(column.take(pa.array(rows))) for k, column in enumerate(table.columns)}
    ranks = np.empty(len(rows), np.int64)
    if columns:
        order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
        ranks[order.to_numpy()] = np.arange(len(rows))
    return ranks


def sortable(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """A column that Arrow can sort by; of those it cannot, the text of their values."""
    column = plain(column)
    if from_arrow(column.type).kind is Kind.OTHER and not pa.types.is_binary(column.type):
        return pa.array([repr(value) for value in column.to_pylist()], pa.string())
    return column
