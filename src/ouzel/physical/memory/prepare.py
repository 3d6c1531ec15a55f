"""Events on their way to a kernel: in order of time, masked by component, numbered by partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ouzel.language.tree import Strategy
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.memory.partitions import Partitions


@dataclass(frozen=True)
class Prepared:
    """The events that some component wants, in order of their ends.

    `rows` are their rows in the event table, `masks` one bit per component, `parts` their partitions; `starts` and
    `ends` are moments, which order them; `clocks` is what windows measure: times, or positions in the partition.
    Arrays that are equal may be one and the same, as in an event table.
    """

    rows: Integers
    masks: Integers
    parts: Integers
    starts: Integers
    ends: Integers
    start_times: Integers
    end_times: Integers
    clocks: Integers

    def __len__(self) -> int:
        """The number of events."""
        return len(self.rows)

    @property
    def is_plain(self) -> bool:
        """Whether no event lasts, and moments are times."""
        return self.starts is self.ends is self.start_times is self.end_times

    @property
    def start_clocks(self) -> Integers:
        """What windows measure of a match's first event: the time it starts, or its position."""
        return self.start_times if self.clocks is self.end_times else self.clocks

    @property
    def arrays(self) -> tuple[Integers, ...]:
        """All arrays, in the order of the fields."""
        intervals = self.starts, self.ends, self.start_times, self.end_times
        return self.rows, self.masks, self.parts, *intervals, self.clocks

    def by_partition(self) -> Prepared:
        """The events of each partition together, still in order of time."""
        if not np.any(self.parts[1:] != self.parts[:-1]):
            return self
        # numbers of 16 bits are sorted digit by digit, which is several times faster
        small = int(self.parts.max()) < 2**15
        return self.taken(np.argsort(self.parts.astype(np.int16) if small else self.parts, kind="stable"))

    def taken(self, places: Integers) -> Prepared:
        """Some of the events."""
        arrays = {key: one[places] for key, one in {id(one): one for one in self.arrays}.items()}
        return Prepared(*(arrays[id(one)] for one in self.arrays))

    def taken_from(self, events: EventTable) -> EventTable:
        """These events, of the table that they were prepared from, in a table of their own."""
        intervals = self.starts, self.ends, self.start_times, self.end_times
        table = events.table.take(pa.array(self.rows))
        return EventTable(table, events.schema, events.types.taken(self.rows), *intervals)

    @classmethod
    def none(cls) -> Prepared:
        """No events at all."""
        return cls(*(np.zeros(0, np.int64),) * 8)


def prepare(
    query: BoundQuery, events: EventTable, filters: Filters, partitions: Partitions, threads: int = 1
) -> Prepared:
    """Select, order, mask and partition the events of a query.

    Contiguity minds events that no component wants, strict contiguity even those of no partition: they are kept.
    """
    strict = query.strategy is Strategy.STRICT_CONTIGUITY
    keep_all = strict or query.strategy is Strategy.PARTITION_CONTIGUITY
    counts = query.window is not None and query.window.counts_events
    marks = _type_masks(query, events, threads)
    rows = np.arange(len(events)) if counts or keep_all else np.flatnonzero(marks != 0)
    starts, ends, start_times, end_times = events.intervals_of(rows)
    if np.any(ends[1:] < ends[:-1]):
        rows = rows[np.argsort(ends, kind="stable")]
        starts, ends, start_times, end_times = events.intervals_of(rows)
    parts = partitions.number(events, rows)
    clocks = partitions.positions(ends, parts) if counts else end_times
    masks = filters.apply(marks[rows].astype(np.int64), events, rows, end_times)
    if strict:
        masks = np.where(parts < 0, 0, masks)
    prepared = Prepared(rows, masks, parts, starts, ends, start_times, end_times, clocks)
    if filters.is_empty and not counts and len(parts) and int(parts.min()) >= 0:
        return prepared
    inside = (parts >= 0) | strict
    kept = np.flatnonzero(inside if keep_all else inside & (masks != 0))
    return prepared if len(kept) == len(rows) else prepared.taken(kept)


def type_names(query: BoundQuery) -> tuple[str, ...]:
    """The types of events that a query mentions."""
    return tuple(sorted({name for component in query.components for name in component.type_names}))


def _type_masks(query: BoundQuery, events: EventTable, threads: int) -> Array:
    """For every event, one bit for each component that binds events of its type."""
    names = type_names(query)
    bits = [sum({1 << c.bit for c in query.components if name in c.type_names}) for name in names]
    smallest = np.uint8 if len(query.components) <= 8 else np.int64
    marks: Array = events.types.marked(names, np.array([*bits, 0], smallest), threads)
    return marks
