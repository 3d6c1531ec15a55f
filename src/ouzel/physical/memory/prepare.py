"""Events on their way to a kernel: in order of time, masked by component, numbered by partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ouzel.kernels import jit, numbering
from ouzel.language.tree import Strategy
from ouzel.logical.pattern import Binds
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.kernel import pays
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.share import picked
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Room
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.recycled import numbered, recycled


@dataclass(frozen=True)
class Prepared:
    """The events that some component wants, in order of their ends.

    `rows` are their rows in the event table, `masks` one bit per component, `parts` their partitions; `starts` and
    `ends` are moments, which order them; `clocks` is what windows measure: times, or positions in the partition;
    `codes` are the places of their types among those that the query mentions, in order of name.
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
    codes: Array

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
    def arrays(self) -> tuple[Array, ...]:
        """All arrays, in the order of the fields."""
        intervals = self.starts, self.ends, self.start_times, self.end_times
        return self.rows, self.masks, self.parts, *intervals, self.clocks, self.codes

    def by_partition(self) -> Prepared:
        """The events of each partition together, still in order of time."""
        if not np.any(self.parts[1:] < self.parts[:-1]):
            return self
        least, most = int(self.parts.min()), int(self.parts.max())
        if most - least > len(self) or not pays(numbering.order_by_number, len(self)):
            return self.taken(np.argsort(self.parts, kind="stable"))
        edges, places = np.zeros(most - least + 2, np.int64), recycled(len(self))
        jit.compiled(numbering.order_by_number)(self.parts, least, edges, places)
        return self.taken(places)

    def taken(self, places: Integers) -> Prepared:
        """Some of the events."""
        arrays = {key: picked(one, places, 1) for key, one in {id(one): one for one in self.arrays}.items()}
        return Prepared(*(arrays[id(one)] for one in self.arrays))

    def taken_from(self, events: EventTable) -> EventTable:
        """These events, of the table that they were prepared from, in a table of their own."""
        intervals = self.starts, self.ends, self.start_times, self.end_times
        table = events.table.take(pa.array(self.rows))
        return EventTable(table, events.schema, events.types.taken(self.rows), *intervals)


NONE = Prepared(*(np.zeros(0, np.int64),) * 9)
"""No events at all."""


class Preparation:
    """Selects, orders, masks and partitions the events of a query, batch by batch.

    Contiguity minds events that no component wants, strict contiguity even those of no partition: they are kept.
    """

    def __init__(self, query: BoundQuery, filters: Filters, room: Room) -> None:
        """Find out what does not depend on the events, of which there may be copies if there is room."""
        self.names = type_names(query)
        self.filters = filters
        self.room = room
        self._minds_all = query.minds_all_events
        anything = sum({1 << one.bit for one in query.components if INFERRED in one.type_names})
        self._everything = self._minds_all or anything != 0
        self._shares = query.shares_events
        self._strict = query.strategy is Strategy.STRICT_CONTIGUITY
        self._keep_all = self._strict or query.strategy is Strategy.PARTITION_CONTIGUITY
        self._counts = query.window is not None and query.window.counts_events
        self._grouped = sum({1 << c.bit for c in query.components if c.binds is Binds.GROUP})
        count = len(self.names)
        self._numbers = np.arange(count + 1, dtype=np.uint8 if count < 2**8 else np.int32)
        composites = {one.name for one in query.schema.types.values() if one.composite}
        bits = [
            sum({1 << c.bit for c in query.components if name in c.type_names})
            | (name not in composites) * anything
            for name in self.names
        ]
        self._bits: Integers = np.array([*bits, anything], np.int64)

    def of(self, events: EventTable, partitions: Partitions, threads: int = 1) -> Prepared:
        """The events of a batch, or of all there are."""
        everything = self._everything
        if everything:
            rows, codes = numbered(len(events)), events.types.marked(self.names, self._numbers, threads)
        else:
            rows, codes = events.types.selected(self.names, self._numbers, threads)
        if not len(rows):
            return NONE
        starts, ends, start_times, end_times = events.intervals_of(rows, threads)
        if len(ends) > 1 and (ends[1:] < ends[:-1]).any():
            order = np.argsort(ends, kind="stable")
            rows, codes = rows[order], codes[order]
            starts, ends, start_times, end_times = events.intervals_of(rows, threads)
        masks = picked(self._bits, codes, threads)
        if not self.filters.is_empty:
            masks = self.filters.apply(masks, events, rows, end_times)
        if (everything or not self.filters.is_empty) and not self._minds_all and not masks.all():
            wanted = np.flatnonzero(masks)
            rows, codes, masks = rows[wanted], codes[wanted], masks[wanted]
            starts, ends, start_times, end_times = events.intervals_of(rows, threads)
        if self._shares:
            spread = partitions.spread(events, rows, self.room, threads)
            rows, codes, masks = (one[spread.places] for one in (rows, codes, masks))
            parts = spread.parts
            starts, ends, start_times, end_times = events.intervals_of(rows, threads)
        else:
            parts = partitions.number(events, rows, threads)
        clocks = partitions.positions(ends, parts) if self._counts else end_times
        prepared = Prepared(rows, masks, parts, starts, ends, start_times, end_times, clocks, codes)
        if not self._minds_all and parts.min(initial=0) >= 0:
            return self._canonical(events, prepared) if self._grouped else prepared
        dropped = parts < 0
        if self._strict:
            masks[dropped] = 0
            return prepared
        if self._counts and not self._keep_all:
            dropped |= masks == 0
        prepared = prepared.taken(np.flatnonzero(~dropped)) if dropped.any() else prepared
        return self._canonical(events, prepared) if self._grouped else prepared

    def _canonical(self, events: EventTable, prepared: Prepared) -> Prepared:
        """The events of groups in an order that does not depend on arrival, where they are simultaneous."""
        grouped = np.flatnonzero(prepared.masks & self._grouped)
        same = prepared.ends[grouped[1:]] == prepared.ends[grouped[:-1]]
        tied = grouped[np.append(same, False) | np.append(False, same)] if len(grouped) else grouped
        if not len(tied):
            return prepared
        order = np.arange(len(prepared))
        order[tied] = tied[np.lexsort((events.places(prepared.rows[tied]), prepared.ends[tied]))]
        return prepared.taken(order)


def type_names(query: BoundQuery) -> tuple[str, ...]:
    """The types of events that a query mentions; if it takes primitive events of any type, composite ones too."""
    names = {name for component in query.components for name in component.type_names}
    if INFERRED in names:
        names |= {one.name for one in query.schema.types.values() if one.composite}
    return tuple(sorted(names))
