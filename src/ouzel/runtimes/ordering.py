"""Order: events leave in order of time, all of a moment together, once none before them can come any more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.times import BEGINNING
from ouzel.physical.event_table import EventTable, Integers, primitive_events
from ouzel.physical.event_types import EventTypes


@dataclass
class Ordering:
    """Holds events back until time has passed them.

    Events of the latest time are always held: others of that moment may follow.  With a `delay`, events may come
    that much later than the latest one; an event before `now` is late.
    """

    held: EventTable
    delay: int = 0
    tie_breakers: list[str] = field(default_factory=list)
    by_arrival: bool = False
    now: int = BEGINNING
    released: int = 0

    def split(self, events: EventTable) -> tuple[EventTable, EventTable]:
        """The events that come in time, and the late ones."""
        late = events.end_times < self.now
        if not np.any(late):
            return events, events.none()
        return events.taken(np.flatnonzero(~late)), events.taken(np.flatnonzero(late))

    def push(self, events: EventTable, now: int | None = None) -> EventTable:
        """Take events in any order, and let time pass to `now` if that is said; the events to go on with."""
        self.held = self.held.followed_by(events) if len(self.held) else events
        latest = int(events.end_times.max()) - self.delay if len(events) else self.now
        return self.advance(latest if now is None else max(latest, now))

    def advance(self, now: int) -> EventTable:
        """Let time pass; the events before it."""
        self.now = max(now, self.now)
        return self._released(self.held.end_times < self.now)

    def finish(self) -> EventTable:
        """All events that are left."""
        return self._released(np.ones(len(self.held), np.bool_))

    def resume(self, held: pa.Table, types: EventTypes, times: Integers, now: int, released: int) -> None:
        """Go on with events that were held elsewhere, and their times."""
        self.held = primitive_events(held, self.held.schema, types, times, self.tie_breakers, self.by_arrival)
        self.now, self.released = now, released

    def _released(self, chosen: Any) -> EventTable:
        events = self.held.taken(np.flatnonzero(chosen))
        self.held = self.held.taken(np.flatnonzero(~chosen))
        if not self.tie_breakers and not self.by_arrival:
            return events
        # number the moments on from those released before; held events are in the order in which they came
        ranked = primitive_events(
            events.table, events.schema, events.types, events.end_times, self.tie_breakers, self.by_arrival
        )
        moments = ranked.ends + self.released
        self.released += int(ranked.ends.max(initial=-1)) + 1
        return replace(ranked, starts=moments, ends=moments)
