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
PIECE = 1 << 17


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
                break
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
                # what is before the first of them stays as it is
                split = int(piece.end_times.searchsorted(own.end_times[0]))
                after = in_order(piece.slice(split, len(piece)).followed_by(own))
                self._pieces[place : place + 1] = [piece.slice(0, split), after] if split else [after]
        self._append(events)
        self._join()

    def _append(self, events: EventTable) -> None:
        if len(events):
            self._pieces.append(events)

    def _join(self) -> None:
        """Join small pieces, so that there are few of each size, the largest first."""
        joined: list[EventTable] = []
        for piece in self._pieces:
            last = piece
            while joined and len(joined[-1]) <= len(last) and len(joined[-1]) + len(last) <= PIECE:
                last = _whole(joined.pop().followed_by(last))
            joined.append(last)
        self._pieces = joined

    def remove(self, chosen: Integers) -> None:
        """Drop events by their places among all."""
        if not len(chosen):
            return
        begin, pieces = 0, []
        for piece in self._pieces:
            own = chosen[(chosen >= begin) & (chosen < begin + len(piece))] - begin
            begin += len(piece)
            if len(own):
                split = int(own.min())
                after = piece.taken(np.delete(np.arange(split, len(piece)), own - split))
                pieces += [one for one in (piece.slice(0, split), after) if len(one)]
            else:
                pieces.append(piece)
        self._pieces = pieces

    def at(self, times: Integers) -> tuple[Integers, EventTable]:
        """The events at some times: their places among all, and themselves."""
        times = np.unique(times)
        begin, places, found = 0, [np.zeros(0, np.int64)], []
        for piece in self._pieces if len(times) else ():
            ends = piece.end_times
            if ends[0] <= times[-1] and ends[-1] >= times[0]:
                first, last = ends.searchsorted(times[0]), ends.searchsorted(times[-1], "right")
                own = first + np.flatnonzero(among(ends[first:last], times))
                places.append(own + begin)
                found.append(piece.taken(own))
            begin += len(piece)
        return np.concatenate(places), _joined(found, self.none)

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
        gone = 0
        while gone < len(self._pieces) and self._pieces[gone].end_times[-1] < before:
            gone += 1
        if gone:
            del self._pieces[:gone]
        if self._pieces and self._pieces[0].end_times[0] < before:
            first = self._pieces[0]
            self._pieces[0] = first.slice(int(first.end_times.searchsorted(before)), len(first))

    def columns(self, name: str) -> Iterator[Integers]:
        """A column of integers, piece by piece."""
        for piece in self._pieces:
            yield piece.table.column(name).to_numpy()

    def state(self) -> dict[str, Any]:
        """All events."""
        return reduce(EventTable.followed_by, self._pieces, self.none).state()

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with events that were kept elsewhere."""
        self._pieces = []
        self._append(EventTable.of_state(state, self.none.schema))


def _joined(pieces: list[EventTable], none: EventTable) -> EventTable:
    return reduce(EventTable.followed_by, pieces) if pieces else none


def among(times: Integers, some: Integers) -> Flags:
    """Which times are among some, which are in order."""
    found: Flags = some[np.minimum(some.searchsorted(times), len(some) - 1)] == times
    return found


def in_order(events: EventTable, chosen: Flags | None = None) -> EventTable:
    """The events by time, of one time as they are; or those for which a flag is set."""
    times = events.end_times
    is_ordered = len(times) < 2 or bool((times[1:] >= times[:-1]).all())
    if chosen is None or chosen.all():
        return events if is_ordered else events.taken(np.argsort(times, kind="stable"))
    rows = np.flatnonzero(chosen)
    return events.taken(rows if is_ordered else rows[np.argsort(times[rows], kind="stable")])


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
