"""Order: events leave in order of time, all of a moment together, once none before them can come any more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ouzel.logical.times import BEGINNING
from ouzel.physical.event_table import EventTable, primitive_events
from ouzel.physical.match_table import Flags
from ouzel.state.parts import in_parts, part


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
    latest: int = BEGINNING
    """The time of the latest event; if time has passed it, it may be forgotten."""

    def __post_init__(self) -> None:
        """Begin with no events."""
        self._none = self.held.none()

    def split(self, events: EventTable, is_late: Flags) -> tuple[EventTable, EventTable | None]:
        """The events that come in time, and the late ones, for which a flag is set, if there are some."""
        if not is_late.any():
            return events, None
        return events.taken(np.flatnonzero(~is_late)), events.taken(np.flatnonzero(is_late))

    def push(self, events: EventTable, now: int | None = None) -> EventTable:
        """Take events in any order, and let time pass to `now` if that is said; the events to go on with."""
        if len(events):
            latest = int(events.end_times.max())
            self.latest = max(latest, self.latest)
            self.now = max(latest - self.delay, self.now)
        if now is not None and now > self.now:
            self.now = now
        before, held = self.held.parted(self.now)
        new, rest = events.parted(self.now)
        self.held = self._joined(held, rest)
        return self._ranked(self._joined(before, new))

    def advance(self, now: int) -> EventTable:
        """Let time pass; the events before it."""
        self.now = max(now, self.now)
        before, held = self.held.parted(self.now)
        self.held = self._joined(held, None)
        return self._ranked(self._joined(before, None))

    def finish(self) -> EventTable:
        """All events that are left."""
        events, self.held = self.held, self._none
        return self._ranked(events)

    def state(self) -> dict[str, Any]:
        """The events that are held, how far time has passed, and how many moments events left with."""
        return {"now": self.now, "released": self.released, **in_parts({"held": self.held.state()})}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with events that were held elsewhere."""
        self.held = EventTable.of_state(part("held", state), self.held.schema)
        self.now, self.released = state["now"], state["released"]
        self.latest = int(self.held.end_times.max(initial=BEGINNING))

    def _joined(self, events: EventTable | None, others: EventTable | None) -> EventTable:
        if events is None or others is None:
            return events or others or self._none
        return events.followed_by(others)

    def _ranked(self, events: EventTable) -> EventTable:
        """The events that leave, with moments that tie-breakers tell apart."""
        events, self.released = ranked(events, self.tie_breakers, self.by_arrival, self.released)
        return events


def ranked(events: EventTable, tie_breakers: list[str], by_arrival: bool, released: int) -> tuple[EventTable, int]:
    """Events that come next, with moments that tie-breakers tell apart, and how many moments there were by then.

    Moments are numbered on from those released before; events of one time are in the order in which they came.
    """
    if not tie_breakers and not by_arrival:
        return events, released
    found = primitive_events(events.table, events.schema, events.types, events.end_times, tie_breakers, by_arrival)
    moments = found.ends + released
    return replace(found, starts=moments, ends=moments), released + int(found.ends.max(initial=-1)) + 1
