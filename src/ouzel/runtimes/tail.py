"""The events that may still be corrected, by time: those of one time in the order in which they came.

They are kept in runs, each by time, in the order in which they came: one for every batch, and many small ones are
made a larger one, as in log-structured storage.  So what comes late, or is withdrawn, moves no other event, and
whoever reads a stretch of time merges the few runs that have events in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.times import BEGINNING
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Flags
from ouzel.runtimes.sought import Sought

# So many runs of about the same size are made one, up to so many events.
FANOUT, LARGEST = 4, 1 << 17


@dataclass(frozen=True)
class Run:
    """Events by time, and which of them are there no more; None if all are."""

    events: EventTable
    gone: Flags | None = None
    _only: dict[frozenset[str], EventTable] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        """The number of events, those that are gone too."""
        return len(self.events)

    @property
    def tier(self) -> int:
        """About how large it is."""
        return int(np.log(max(len(self), 1)) / np.log(FANOUT))

    def edges(self, since: int, until: int | None) -> tuple[int, int]:
        """The places from one time up to before another."""
        times = self.events.end_times
        first = int(times.searchsorted(since)) if times[0] < since else 0
        return first, len(times) if until is None or times[-1] < until else int(times.searchsorted(until))

    def only(self, columns: frozenset[str]) -> EventTable:
        """Its events with some columns, and that of their types, which are looked for once."""
        known = self._only.get(columns)
        if known is None:
            known = self._only[columns] = self.events.with_types(columns)
        return known

    def at(self, times: Integers) -> Integers:
        """The places of the events that are there at some times, which are in order."""
        own = self.events.end_times
        if times[-1] < own[0] or own[-1] < times[0]:
            return np.zeros(0, np.int64)
        first, last = own.searchsorted(times), own.searchsorted(times, side="right")
        counts = last - first
        return self._left(np.repeat(last - np.cumsum(counts), counts) + np.arange(counts.sum()))

    def numbered(self, column: str, sought: Sought, first: int, last: int) -> Integers:
        """The places, from one up to before another, of events that are there with some numbers in a column."""
        found = sought.among(self.events.table.column(column).to_numpy()[first:last])
        return self._left(found + first)

    def _left(self, places: Integers) -> Integers:
        return places if self.gone is None else places[~self.gone[places]]

    def slice(self, first: int, last: int) -> Run:
        """Those from one place up to before another."""
        gone = None if self.gone is None else self.gone[first:last]
        return Run(self.events.slice(first, last), gone)

    def is_mostly_before(self, time: int) -> bool:
        """Whether half of its events and more are before a time."""
        return bool(self.events.end_times[len(self) // 2] < time)

    def since(self, time: int) -> Run:
        """Those from a time on, copied where these are few: a slice holds all that there was."""
        if not self.is_mostly_before(time):
            return self
        first, last = self.edges(time, None)
        return Run(self.events.taken(first + np.flatnonzero(self.there[first:last])))

    def count(self, first: int, last: int) -> int:
        """How many of those are there."""
        return max(last - first, 0) - (0 if self.gone is None else int(np.count_nonzero(self.gone[first:last])))

    @property
    def there(self) -> Flags:
        """Which of its events are there."""
        return np.ones(len(self), np.bool_) if self.gone is None else ~self.gone

    @property
    def left(self) -> EventTable:
        """The events that are there."""
        if self.gone is None or not self.gone.any():
            return self.events
        return self.events.taken(np.flatnonzero(~self.gone))

    def without(self, places: Integers) -> Run:
        """What is left if those at some places go: copied where it is few."""
        gone = np.zeros(len(self), np.bool_) if self.gone is None else self.gone.copy()
        gone[places] = True
        if 2 * np.count_nonzero(gone) > len(self):
            return Run(self.events.taken(np.flatnonzero(~gone)))
        return replace(self, gone=gone)


class Tail:
    """Surviving events by time, from that on which was forgotten last."""

    def __init__(self, none: EventTable) -> None:
        """Begin with no events."""
        self.none = none
        self._runs: list[Run] = []
        self._since = BEGINNING
        """What is before this time is still there for some runs, but not for anyone who asks."""

    def __len__(self) -> int:
        """The number of events."""
        return self.count(BEGINNING, None)

    def add(self, events: EventTable) -> None:
        """Take events in any order."""
        if not len(events):
            return
        runs = self._runs
        runs.append(Run(in_order(events)))
        while len(runs) >= FANOUT and runs[-FANOUT].tier <= runs[-1].tier:
            some = runs[-FANOUT:]
            if sum(map(len, some)) > LARGEST:
                break
            merged = _merged(some, self.none)
            runs[-FANOUT:] = [Run(merged.whole)] if len(merged) else []

    def remove(self, chosen: Integers) -> None:
        """Drop events by their places, as `at` and `every` tell them."""
        begin = 0
        for place, run in enumerate(self._runs):
            own = chosen[(chosen >= begin) & (chosen < begin + len(run))] - begin
            begin += len(run)
            if len(own):
                self._runs[place] = run.without(own)
        self._runs = [run for run in self._runs if len(run)]

    def at(self, times: Integers) -> tuple[Integers, EventTable]:
        """The events at some times, which are in order: their places, and themselves, of one time as they came."""
        begin, places, found = 0, [np.zeros(0, np.int64)], []
        times = times[times.searchsorted(self._since) :]
        for run in self._runs if len(times) else ():
            own = run.at(times)
            if len(own):
                places.append(own + begin)
                found.append(run.events.taken(own))
            begin += len(run)
        return np.concatenate(places), EventTable.joined(found).whole if found else self.none

    def every(self) -> tuple[Integers, EventTable]:
        """All events, by time: their places, and themselves."""
        begin, places, found = 0, [np.zeros(0, np.int64)], []
        for run in self._runs:
            first, last = run.edges(self._since, None)
            own = first + np.flatnonzero(run.there[first:last])
            places.append(begin + own)
            found.append(run.events.taken(own))
            begin += len(run)
        events = EventTable.joined(found) if found else self.none
        order = np.argsort(events.end_times, kind="stable")
        return np.concatenate(places)[order], events.taken(order)

    def between(self, since: int, until: int | None) -> EventTable:
        """The events from one time up to before another; None says all that follow."""
        return _merged(list(self._between(since, until)), self.none)

    def _between(self, since: int, until: int | None) -> Iterator[Run]:
        for run, first, last in self._parts(since, until):
            yield run.slice(first, last)

    def _parts(self, since: int, until: int | None) -> Iterator[tuple[Run, int, int]]:
        """The runs that have events from one time up to before another, and from which place to which."""
        since = max(since, self._since)
        for run in self._runs:
            first, last = run.edges(since, until)
            if first < last:
                yield run, first, last

    def chosen(
        self, since: int, until: int | None, column: str, numbers: Integers, columns: frozenset[str]
    ) -> EventTable:
        """Of the events between two times, those that have some numbers, which are in order, in a column.

        They have some columns only, and that of their types, if one has these.
        """
        found, sought = [], Sought(numbers)
        for run, first, last in self._parts(since, until):
            if len(places := run.numbered(column, sought, first, last)):
                found.append(run.only(columns).taken(places))
        return in_order(EventTable.joined(found)) if found else self.none.with_types(columns)

    def count(self, since: int, until: int | None) -> int:
        """How many events there are between two times."""
        return sum(run.count(first, last) for run, first, last in self._parts(since, until))

    def time_before(self, until: int, count: int) -> int | None:
        """The time of the event that is so many before those at a time; None if there are fewer."""
        least = min((int(run.events.end_times[0]) for run in self._runs), default=until)
        if count <= 0 or self.count(least, until) < count:
            return None
        most = until
        while least + 1 < most:
            middle = (least + most) // 2
            least, most = (middle, most) if self.count(middle, until) >= count else (least, middle)
        return least

    def forget(self, before: int) -> None:
        """Forget the events before a time; runs that hold more such events than others are made smaller."""
        self._since = max(self._since, before)
        if any(run.is_mostly_before(before) for run in self._runs):
            some = (run.since(before) for run in self._runs if run.events.end_times[-1] >= before)
            self._runs = [run for run in some if len(run)]

    @property
    def size(self) -> int:
        """For how many events there is room: some of them are gone."""
        return sum(map(len, self._runs))

    def number_anew(self, name: str) -> Integers:
        """Let a column count all that there is room for, from 0 on; what was in it before."""
        before, begin = [np.zeros(0, np.int64)], 0
        for place, run in enumerate(self._runs):
            table = run.events.table
            before.append(table.column(name).to_numpy())
            numbers = pa.array(np.arange(begin, begin + len(run)))
            table = table.set_column(table.schema.get_field_index(name), name, numbers)
            self._runs[place] = Run(replace(run.events, table=table), run.gone)
            begin += len(run)
        return np.concatenate(before)

    def columns(self, name: str) -> Iterator[Integers]:
        """A column of integers, run by run."""
        for run in self._runs:
            yield run.left.table.column(name).to_numpy()

    def state(self) -> dict[str, Any]:
        """All events."""
        return self.between(BEGINNING, None).state()

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with events that were kept elsewhere."""
        self._runs, self._since = [], BEGINNING
        self.add(EventTable.of_state(state, self.none.schema))


def _merged(runs: list[Run], none: EventTable) -> EventTable:
    """The events that are there of runs that came one after the other, by time."""
    if not runs:
        return none
    events = EventTable.joined([run.events for run in runs])
    if all(run.gone is None for run in runs):
        return in_order(events)
    return in_order(events, np.concatenate([run.there for run in runs]))


def in_order(events: EventTable, chosen: Flags | None = None) -> EventTable:
    """The events by time, of one time as they are; or those for which a flag is set."""
    times = events.end_times
    is_ordered = len(times) < 2 or bool((times[1:] >= times[:-1]).all())
    if chosen is None or chosen.all():
        return events if is_ordered else events.brought(np.argsort(times, kind="stable"))
    rows = np.flatnonzero(chosen)
    return events.brought(rows if is_ordered else rows[np.argsort(times[rows], kind="stable")])
