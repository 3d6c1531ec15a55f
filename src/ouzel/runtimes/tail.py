"""The events that may still be corrected, in order of time: those of one time in the order in which they came.

They are kept in pieces, none after another in time, so that what comes late changes few of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Flags

# Pieces are joined up to so many events.
PIECE = 1 << 14


class Tail:
    """Surviving events by time."""

    def __init__(self, none: EventTable) -> None:
        """Begin with no events."""
        self.none = none
        self._pieces: list[EventTable] = []

    def __len__(self) -> int:
        """The number of events."""
        return sum(map(len, self._pieces))

    def add(self, events: EventTable) -> None:
        """Take events in any order."""
        events = in_order(events)
        for place in reversed(range(len(self._pieces))):
            if not len(events):
                return
            piece = self._pieces[place]
            # what is not before the piece comes into it, or follows the last one
            edge = int(events.end_times.searchsorted(piece.end_times[0])) if place else 0
            own = events.slice(edge, len(events))
            events = events.slice(0, edge)
            last = int(piece.end_times[-1])
            if place == len(self._pieces) - 1:
                split = int(own.end_times.searchsorted(last))
                self._append(own.slice(split, len(own)))
                own = own.slice(0, split)
            if len(own):
                self._pieces[place : place + 1] = _halves(in_order(piece.followed_by(own)))
        self._append(events)
        self._join()

    def _append(self, events: EventTable) -> None:
        if len(events):
            self._pieces.append(events)

    def _join(self) -> None:
        """Join small pieces at the end, so that there are few of each size."""
        while len(self._pieces) > 1:
            before, last = self._pieces[-2:]
            if len(before) > 2 * len(last) or len(before) + len(last) > PIECE:
                return
            self._pieces[-2:] = [_whole(before.followed_by(last))]

    def remove(self, chosen: Integers) -> None:
        """Drop events by their places among all."""
        begin, pieces = 0, []
        for piece in self._pieces:
            own = chosen[(chosen >= begin) & (chosen < begin + len(piece))] - begin
            begin += len(piece)
            left = piece.taken(np.delete(np.arange(len(piece)), own)) if len(own) else piece
            pieces += [left] if len(left) else []
        self._pieces = pieces

    def at(self, times: Integers) -> tuple[Integers, EventTable]:
        """The events at some times: their places among all, and themselves."""
        times = np.unique(times)
        begin, places, found = 0, [np.zeros(0, np.int64)], []
        for piece in self._pieces:
            ends = piece.end_times
            if len(times) and ends[0] <= times[-1] and ends[-1] >= times[0]:
                own = np.flatnonzero(times[np.minimum(times.searchsorted(ends), len(times) - 1)] == ends)
                places.append(own + begin)
                found.append(piece.taken(own))
            begin += len(piece)
        return np.concatenate(places), reduce(EventTable.followed_by, found, self.none)

    def between(self, since: int, until: int | None) -> EventTable:
        """The events from one time up to before another; None says all that follow."""
        return _joined([*self._between(since, until)], self.none)

    def _between(self, since: int, until: int | None) -> Iterator[EventTable]:
        for piece in self._pieces:
            ends = piece.end_times
            if ends[-1] < since or (until is not None and ends[0] >= until):
                continue
            first = int(ends.searchsorted(since)) if ends[0] < since else 0
            last = len(ends) if until is None or ends[-1] < until else int(ends.searchsorted(until))
            if first < last:
                yield piece.slice(first, last)

    def chosen(self, since: int, until: int | None, column: str, flags: Flags) -> EventTable:
        """Of the events between two times, those for which a flag is set at the number in a column."""
        found = []
        for piece in self._between(since, until):
            own = np.flatnonzero(flags[piece.table.column(column).to_numpy()])
            found += [piece.taken(own)] if len(own) else []
        return _joined(found, self.none)

    def count(self, since: int, until: int) -> int:
        """How many events there are between two times."""
        return sum(int(np.diff(piece.end_times.searchsorted((since, until)))[0]) for piece in self._pieces)

    def time_before(self, until: int, count: int) -> int | None:
        """The time of the event that is so many before those at a time; None if there are fewer."""
        for piece in reversed(self._pieces):
            edge = int(piece.end_times.searchsorted(until))
            if edge >= count > 0:
                return int(piece.end_times[edge - count])
            count -= edge
        return None

    def forget(self, before: int) -> None:
        """Forget the events before a time."""
        pieces = [piece.parted(before)[1] for piece in self._pieces]
        self._pieces = [piece for piece in pieces if piece is not None]

    def state(self) -> dict[str, Any]:
        """All events."""
        return reduce(EventTable.followed_by, self._pieces, self.none).state()

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with events that were kept elsewhere."""
        self._pieces = []
        self._append(EventTable.of_state(state, self.none.schema))


def _joined(pieces: list[EventTable], none: EventTable) -> EventTable:
    return reduce(EventTable.followed_by, pieces) if pieces else none


def in_order(events: EventTable) -> EventTable:
    """The events by time, of one time as they are."""
    times = events.end_times
    if len(times) < 2 or bool((times[1:] >= times[:-1]).all()):
        return events
    return events.taken(np.argsort(times, kind="stable"))


def _halves(events: EventTable) -> list[EventTable]:
    """The events in two pieces, if they are many."""
    if len(events) <= 2 * PIECE:
        return [events]
    middle = len(events) // 2
    return [events.slice(0, middle), events.slice(middle, len(events))]


def _whole(events: EventTable) -> EventTable:
    """The events with their columns in one piece."""
    return EventTable(
        events.table.combine_chunks(),
        events.schema,
        events.types,
        events.starts,
        events.ends,
        events.start_times,
        events.end_times,
    )
