"""Events on their way to a kernel: in order of time, masked by component, numbered by partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.language.tree import Strategy
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.memory.partitions import Partitions


@dataclass(frozen=True)
class Prepared:
    """The events that some component wants, in order of time.

    `rows` are their rows in the event table, `masks` one bit per component, `parts` their partitions, `moments`
    what orders them, `clocks` what windows measure: times, or positions in the partition.
    """

    rows: Integers
    masks: Integers
    parts: Integers
    moments: Integers
    clocks: Integers

    def __len__(self) -> int:
        """The number of events."""
        return len(self.rows)

    @property
    def arrays(self) -> tuple[Integers, Integers, Integers, Integers, Integers]:
        """All arrays, in the order of the fields."""
        return self.rows, self.masks, self.parts, self.moments, self.clocks

    def by_partition(self) -> Prepared:
        """The events of each partition together, still in order of time."""
        if not np.any(self.parts[1:] != self.parts[:-1]):
            return self
        # numbers of 16 bits are sorted digit by digit, which is several times faster
        small = int(self.parts.max()) < 2**15
        return self.taken(np.argsort(self.parts.astype(np.int16) if small else self.parts, kind="stable"))

    def taken(self, places: Integers) -> Prepared:
        """Some of the events."""
        arrays = {id(one): one[places] for one in self.arrays}
        return Prepared(*(arrays[id(one)] for one in self.arrays))

    def followed_by(self, others: Prepared) -> Prepared:
        """These events and then others."""
        return Prepared(*(np.concatenate(pair) for pair in zip(self.arrays, others.arrays, strict=True)))

    @classmethod
    def none(cls) -> Prepared:
        """No events at all."""
        return cls(*(np.zeros(0, np.int64) for _ in range(5)))


def prepare(
    query: BoundQuery, events: EventTable, filters: Filters, partitions: Partitions, threads: int = 1
) -> Prepared:
    """Select, order, mask and partition the events of a query.

    Contiguity minds events that no component wants, strict contiguity even those of no partition: they are kept.
    """
    strict = query.strategy is Strategy.STRICT_CONTIGUITY
    keep_all = strict or query.strategy is Strategy.PARTITION_CONTIGUITY
    if events.has_intervals:
        raise UnsuitableError("composite events last, and compiled kernels know moments only")
    counts = query.window is not None and query.window.counts_events
    marks = _type_masks(query, events, threads)
    rows = np.arange(len(events)) if counts or keep_all else np.flatnonzero(marks != 0)
    moments = events.ends[rows]
    if np.any(moments[1:] < moments[:-1]):
        order = np.argsort(moments, kind="stable")
        rows, moments = rows[order], moments[order]
    parts = partitions.number(events.table, rows)
    times = moments if events.end_times is events.ends else events.end_times[rows]
    clocks = partitions.positions(moments, parts) if counts else times
    masks = filters.apply(marks[rows].astype(np.int64), events.table, rows, times)
    if strict:
        masks = np.where(parts < 0, 0, masks)
    prepared = Prepared(rows, masks, parts, moments, clocks)
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
    bits = [sum(1 << c.position for c in query.components if name in c.type_names) for name in names]
    smallest = np.uint8 if len(query.components) <= 8 else np.int64
    marks: Array = events.types.marked(names, np.array([*bits, 0], smallest), threads)
    return marks
