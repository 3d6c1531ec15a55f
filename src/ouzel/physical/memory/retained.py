"""What engines keep of a stream: the events that may still matter, and the partitions they are in.

Where all events come at once nothing is copied.  Otherwise events are numbered from 0 in the order in which they
were prepared, and get new numbers when others are dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED
from ouzel.logical.times import BEGINNING, END
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.event_types import EventTypes
from ouzel.physical.memory.event_rows import EventRows
from ouzel.physical.memory.growing import Growing, marked
from ouzel.physical.memory.intervals import Intervals
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared, type_names
from ouzel.state.parts import part


class Retained:
    """Events and partitions from batch to batch."""

    def __init__(self, query: BoundQuery, partitions: Partitions, *, once: bool, masks: bool = False) -> None:
        """Begin with no events; `masks` says whether their masks are needed later too."""
        self.query = query
        self.partitions = partitions
        self.once = once
        self.counts = query.window is not None and query.window.counts_events
        self.names = type_names(query)
        # of events that last, the time column tells nothing
        self.rows = EventRows("" if query.reads_lasting else query.schema.time.name, partitions)
        self.codes = Growing(np.uint8 if len(self.names) < 2**8 else np.int32)
        self.intervals = Intervals()
        self.positions = Growing(np.int64)
        self.numbers = Growing(np.int32)
        self.masks = Growing(np.int64) if masks else None
        self._pushed: tuple[EventTable, Prepared] | None = None
        self._none: dict[frozenset[str] | None, EventTable] = {}
        self._base = 0

    def __len__(self) -> int:
        """The number of events."""
        return self._base + (len(self._pushed[1]) if self._pushed else 0)

    # ---- what there is -----------------------------------------------------------------------------------

    @property
    def clocks(self) -> Array:
        """What windows measure, of every event: the time it ends, or its position in the partition."""
        if self.once and self._pushed:
            return self._pushed[1].clocks
        return (self.positions if self.counts else self.intervals.end_times).values

    @property
    def start_clocks(self) -> Array:
        """The same for the first event of a match: the time it starts, or its position in the partition."""
        if self.once and self._pushed:
            return self._pushed[1].start_clocks
        return (self.positions if self.counts else self.intervals.start_times).values

    @property
    def ends(self) -> Array:
        """The moments at which all events end."""
        return self._pushed[1].ends if self.once and self._pushed else self.intervals.ends.values

    @property
    def starts(self) -> Array:
        """The moments at which all events start."""
        return self._pushed[1].starts if self.once and self._pushed else self.intervals.starts.values

    @property
    def openings(self) -> Array:
        """What tells from which event of a match a window reaches: its positions are in the order of ends."""
        return self.ends if self.counts else self.starts

    @property
    def parts(self) -> Array:
        """The partitions of all events."""
        if self.once and self._pushed:
            return self._pushed[1].parts
        return self.numbers.values if self.partitions.tests else np.zeros(len(self), np.int32)

    @property
    def marks(self) -> Array:
        """The masks of all events, if they are kept."""
        if self.once and self._pushed:
            return self._pushed[1].masks
        assert self.masks is not None
        return self.masks.values

    @property
    def pushed(self) -> tuple[EventTable, Prepared]:
        """The latest batch, before it is settled: all events, where they come at once."""
        assert self._pushed is not None
        return self._pushed

    def events(self, numbers: Integers, columns: frozenset[str] | None = None) -> tuple[EventTable, Integers]:
        """A table that has some events, given in order, with some columns or all; and their rows in it."""
        if self.once and self._pushed is not None:
            rows = self._pushed[1].rows
            return self._pushed[0], rows if len(numbers) == len(rows) else rows[numbers]
        if not len(numbers) and columns in self._none:
            return self._none[columns], numbers
        split = int(numbers.searchsorted(self._base))
        old, codes, pushed = numbers[:split], self.codes.values[numbers[:split]], None
        if self._pushed is not None:
            events, prepared = self._pushed
            new = numbers[split:] - self._base
            pushed = events.table, prepared.rows[new]
            codes = np.concatenate([codes, prepared.codes[new]])
        intervals = self.intervals.taken(numbers)
        parts = self.numbers.values[numbers] if self.partitions.tests else numbers
        table = self.rows.taken(numbers, old, pushed, intervals[-1], parts, columns)
        # of events of any type, it is not kept of which
        names = (*self.names, "") if INFERRED in self.names else self.names
        types = EventTypes(None, names, codes.astype(np.int32))
        taken = EventTable(table, self.query.schema, types, *intervals)
        if not len(numbers):
            self._none[columns] = taken
        return taken, np.arange(len(numbers))

    @property
    def is_mentioned(self) -> Any:
        """Of each event whether it is of a type that the query mentions: of others, it is not kept of which."""
        if INFERRED in self.names:
            return np.ones(len(self), np.bool_)
        return self.codes.values < len(self.names)

    def alive(self, now: int | None, numbers: Integers | slice = slice(None)) -> Any:
        """Whether a match that starts with an event may still end."""
        return self._reach(self.start_clocks, now, numbers)

    def near(self, now: int | None) -> Any:
        """The same of all events, for those that keep them by their ends: a few may start too early."""
        return self._reach(self.clocks, now, slice(None))

    def _reach(self, clocks: Array, now: int | None, numbers: Integers | slice) -> Any:
        """Whether from a clock a window reaches to what may still come."""
        clocks = clocks[numbers]
        if now is None:
            return np.zeros(len(clocks), np.bool_)
        if self.query.window is None:
            return np.ones(len(clocks), np.bool_)
        if not self.counts:
            return clocks > max(now - self.query.window.limit, BEGINNING)
        # an event of no partition, which strict contiguity minds, is over at once
        parts = self.parts[numbers]
        seen, inside = np.full(len(parts), END), parts >= 0
        seen[inside] = self.partitions.seen[parts[inside]]
        return seen - clocks < self.query.window.limit

    # ---- what comes and goes -----------------------------------------------------------------------------

    def add(self, events: EventTable, prepared: Prepared) -> int:
        """Add the events of a batch; the number of the first of them."""
        self._pushed = events, prepared
        if self.once:
            return 0
        self.rows.begin(events.table)
        self.intervals.extend(prepared)
        if self.counts:
            self.positions.extend(prepared.clocks)
        if self.partitions.tests:
            self.numbers.extend(prepared.parts)
        if self.masks is not None:
            self.masks.extend(prepared.masks)
        return self._base

    def settle(self, kept: Any = None) -> None:
        """Keep the events of the latest batch, or those for which a flag is set."""
        if self.once or self._pushed is None:
            return
        events, prepared = self._pushed
        rows = prepared.rows if kept is None else prepared.rows[kept]
        if kept is not None and len(rows) < len(kept):
            for one in self._columns():
                one.keep(kept, self._base)
        self.codes.extend(prepared.codes if kept is None else prepared.codes[kept])
        self.rows.add(events.table, rows)
        self._base += len(rows)
        self._pushed = None

    def prune(self, kept: Any) -> None:
        """Drop all events but those for which a flag is set."""
        for one in (*self._columns(), self.codes):
            one.keep(kept)
        self.rows.keep(kept)
        self._base = len(self.intervals)

    def _columns(self) -> list[Growing]:
        columns = self.intervals.columns()
        columns += [self.positions] if self.counts else []
        columns += [self.numbers] if self.partitions.tests else []
        return columns + ([self.masks] if self.masks is not None else [])

    def forget(self) -> Integers:
        """Forget the partitions that have no event; the numbers of those kept, for who keeps something of each."""
        # an event of no partition marks the place behind them
        kept: Integers = np.flatnonzero(marked(self.partitions.count + 1, self.numbers.values)[:-1])
        numbers = self.partitions.keep(kept)
        self.numbers = Growing(np.int32, numbers[self.numbers.values])
        return kept

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The events, their arrays and the partitions."""
        columns = {"codes": self.codes, "positions": self.positions, "parts": self.numbers}
        columns |= {} if self.masks is None else {"masks": self.masks}
        arrays = {name: one.values.copy() for name, one in columns.items()}
        partitions = {f"partitions.{name}": value for name, value in self.partitions.state().items()}
        return {**self.intervals.state(), **arrays, **partitions, **self.rows.state()}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.intervals.resume(state)
        self.codes = Growing(self.codes.data.dtype, state["codes"])
        self.positions = Growing(np.int64, state["positions"])
        self.numbers = Growing(np.int32, state["parts"])
        self.masks = None if self.masks is None else Growing(np.int64, state["masks"])
        self._base = len(self.intervals)
        self._pushed = None
        self.partitions.resume(part("partitions", state))
        self.rows.resume(state, self._base)
