"""What both engines keep of a stream: the events that may still matter, and the partitions they are in.

Where all events come at once nothing is copied.  Otherwise events are numbered from 0 in the order in which they
were prepared, and get new numbers when others are dropped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.event_types import EventTypes
from ouzel.physical.memory.event_rows import EventRows
from ouzel.physical.memory.growing import Growing, marked
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared, type_names


class Retained:
    """Events and partitions from batch to batch.

    Columns that would be equal are one: times where there are no tie-breakers, clocks where windows measure time.
    """

    def __init__(self, query: BoundQuery, partitions: Partitions, *, once: bool, masks: bool = False) -> None:
        """Begin with no events; `masks` says whether their masks are needed later too."""
        self.query = query
        self.partitions = partitions
        self.once = once
        self.counts = query.window is not None and query.window.counts_events
        self.names = type_names(query)
        self.rows = EventRows(query.schema.time.name, partitions)
        self.codes = Growing(np.int8 if len(self.names) < 128 else np.int32)
        self.moments = self.times = Growing(np.int64)
        self.positions = Growing(np.int64)
        self.numbers = Growing(np.int32)
        self.masks = Growing(np.int64) if masks else None
        self._pushed: tuple[EventTable, Prepared] | None = None
        self._none: EventTable | None = None
        self._base = 0

    def __len__(self) -> int:
        """The number of events."""
        return self._base + (len(self._pushed[1]) if self._pushed else 0)

    # ---- what there is -----------------------------------------------------------------------------------

    @property
    def clocks(self) -> Array:
        """What windows measure, of every event: its time, or its position in the partition."""
        if self.once and self._pushed:
            return self._pushed[1].clocks
        return (self.positions if self.counts else self.times).values

    @property
    def order(self) -> Array:
        """The moments of all events."""
        return self._pushed[1].moments if self.once and self._pushed else self.moments.values

    @property
    def parts(self) -> Array:
        """The partitions of all events."""
        if self.once and self._pushed:
            return self._pushed[1].parts
        return self.numbers.values if self.partitions.tests else np.zeros(len(self), np.int32)

    @property
    def buffer(self) -> Prepared:
        """All events as a kernel takes them; their rows are their numbers, or those of the only batch."""
        if self.once and self._pushed:
            return self._pushed[1]
        masks = np.zeros(len(self), np.int64) if self.masks is None else self.masks.values
        return Prepared(np.arange(len(self)), masks, self.parts.astype(np.int64), self.order, self.clocks)

    def events(self, numbers: Integers) -> tuple[EventTable, Integers]:
        """A table that has some events, given in order, and their rows in it."""
        if self.once and self._pushed is not None:
            rows = self._pushed[1].rows
            return self._pushed[0], rows if len(numbers) == len(rows) else rows[numbers]
        if not len(numbers) and self._none is not None:
            return self._none, numbers
        split = int(np.searchsorted(numbers, self._base))
        old = numbers[:split]
        moments = self.moments.values[numbers]
        times = moments if self.times is self.moments else self.times.values[numbers]
        tables = [self.rows.taken(old, times[:split], self.parts[old] if self.partitions.tests else old)]
        types = EventTypes(None, self.names, self.codes.values[old].astype(np.int32))
        if self._pushed is not None:
            pushed, prepared = self._pushed
            rows = prepared.rows[numbers[split:] - self._base]
            tables.append(self.rows.conform(pushed.table).take(pa.array(rows)))
            types = types.followed_by(pushed.types.taken(rows))
        table = pa.concat_tables(tables)
        events = EventTable.of_moments(table, self.query.schema, types, moments, times)
        self._none = events if not len(numbers) else self._none
        return events, np.arange(len(numbers))

    def alive(self, now: int | None, numbers: Integers | slice = slice(None)) -> Any:
        """Whether a match that starts with an event may still end."""
        clocks = self.clocks[numbers]
        if now is None:
            return np.zeros(len(clocks), np.bool_)
        if self.query.window is None:
            return np.ones(len(clocks), np.bool_)
        if self.counts:
            return self.partitions.seen[self.parts[numbers]] - clocks < self.query.window.limit
        return clocks > max(now - self.query.window.limit, BEGINNING)

    # ---- what comes and goes -----------------------------------------------------------------------------

    def add(self, events: EventTable, prepared: Prepared) -> int:
        """Add the events of a batch; the number of the first of them."""
        self._pushed = events, prepared
        if self.once:
            return 0
        self.rows.begin(events.table)
        if self.times is self.moments and events.end_times is not events.ends:
            self.times = Growing(np.int64, self.moments.values)
        if self.times is not self.moments:
            self.times.extend(events.end_times[prepared.rows])
        self.moments.extend(prepared.moments)
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
        self.codes.extend(events.types.among(self.names)[rows])
        self.rows.add(events.table, rows)
        self._base += len(rows)
        self._pushed = None

    def prune(self, kept: Any) -> None:
        """Drop all events but those for which a flag is set."""
        for one in (*self._columns(), self.codes):
            one.keep(kept)
        self.rows.keep(kept)
        self._base = len(self.moments)

    def _columns(self) -> list[Growing]:
        columns = [self.moments] if self.times is self.moments else [self.moments, self.times]
        columns += [self.positions] if self.counts else []
        columns += [self.numbers] if self.partitions.tests else []
        return columns + ([self.masks] if self.masks is not None else [])

    def forget(self) -> Integers:
        """Forget the partitions that have no event; the numbers of those kept, for who keeps something of each."""
        kept: Integers = np.flatnonzero(marked(self.partitions.count, self.numbers.values))
        numbers = self.partitions.keep(kept)
        self.numbers = Growing(np.int32, numbers[self.numbers.values])
        return kept

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The events, their arrays and the partitions."""
        columns = {"moments": self.moments, "codes": self.codes, "positions": self.positions}
        columns |= {"parts": self.numbers} | ({} if self.times is self.moments else {"times": self.times})
        columns |= {} if self.masks is None else {"masks": self.masks}
        arrays = {name: one.values.copy() for name, one in columns.items()}
        partitions = {f"partitions.{name}": value for name, value in self.partitions.state().items()}
        return {**arrays, **partitions, **self.rows.state()}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.moments = self.times = Growing(np.int64, state["moments"])
        if "times" in state:
            self.times = Growing(np.int64, state["times"])
        self.codes = Growing(self.codes.data.dtype, state["codes"])
        self.positions = Growing(np.int64, state["positions"])
        self.numbers = Growing(np.int32, state["parts"])
        self.masks = None if self.masks is None else Growing(np.int64, state["masks"])
        self._base = len(self.moments)
        prefix = "partitions."
        self.partitions.resume({name[len(prefix) :]: v for name, v in state.items() if name.startswith(prefix)})
        self.rows.resume(state, self._base)
