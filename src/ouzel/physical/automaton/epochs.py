"""Which ways of an automaton serve an event, by its time: arcs may come and go while it runs (AFA 2.3, 5.2).

Between the times at which something changes, the same arcs live, so the same ways are open: an epoch.  To let an
arc come or go is to change numbers, and nothing is written or compiled.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from ouzel.logical.automata.registers import Arc
from ouzel.logical.times import BEGINNING, END
from ouzel.physical.automaton.arcs import Way
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Flags

# So many sets of arcs that live together are known by the ways that they open.
MOST_KNOWN = 1_000


class Epochs:
    """The ways that are open from each of some times on; arcs are known by their place in the automaton."""

    def __init__(self, arcs: Sequence[Arc], ways: Sequence[Way]) -> None:
        """Begin with the lives that arcs have; the bit of a way is its place."""
        places = {id(arc): place for place, arc in enumerate(arcs)}
        self._needed = [sum({1 << places[id(arc)] for arc in way.arcs if arc is not way.closing}) for way in ways]
        self._open: dict[int, int] = {}
        bounds = {time for arc in arcs for life in arc.lives for time in life} - {BEGINNING, END}
        self.times = sorted(bounds)
        self._living = [
            sum(1 << place for place, arc in enumerate(arcs) if arc.serves(time))
            for time in (BEGINNING, *self.times)
        ]
        # times and masks as arrays, made where events are asked for that are not of the last epoch
        self._bounds: tuple[Integers, Integers] | None = None

    def masks(self, times: Integers, *, in_order: bool = False) -> Integers | int:
        """The bits of the ways that are open for events of some times; one number if it is the same for all."""
        now = self._ways(self._living[-1])
        if not self.times:
            return now
        last = self.times[-1]
        if times[0] >= last and (in_order or times.min() >= last):
            return now
        if in_order and (len(self.times) == 1 or times[0] >= self.times[-2]):
            # few events, between which something has changed: arrays of all epochs would take longer
            both = np.empty(len(times), np.int64)
            both.fill(now)
            both[: times.searchsorted(last)] = self._ways(self._living[-2])
            return both
        if self._bounds is None:
            masks = np.array([self._ways(living) for living in self._living], np.int64)
            self._bounds = np.array(self.times, np.int64), masks
        bounds, masks = self._bounds
        found: Integers = masks[np.searchsorted(bounds, times, side="right")]
        return found

    def serves(self, place: int, times: Integers) -> Flags:
        """Whether an arc, by its place, lives at some times."""
        lives = np.array([living >> place & 1 for living in self._living], np.bool_)
        found: Flags = lives[np.searchsorted(np.array(self.times, np.int64), times, side="right")]
        return found

    def change(self, time: int, came: Iterable[int], gone: Iterable[int]) -> None:
        """From a time on, let arcs live, and others not; arcs by their places."""
        on = off = 0
        for place in came:
            on |= 1 << place
        for place in gone:
            off |= 1 << place
        if not on | off:
            return
        first = bisect_left(self.times, time)
        if first == len(self.times) or self.times[first] != time:
            self.times.insert(first, time)
            self._living.insert(first + 1, self._living[first])
        for place in range(first + 1, len(self._living)):
            self._living[place] = (self._living[place] & ~off) | on
        self._bounds = None

    def forget(self, time: int) -> None:
        """Forget what was before a time, at which no event will come any more."""
        count = bisect_left(self.times, time + 1)
        if count:
            del self.times[:count], self._living[:count]
            self._bounds = None

    def _ways(self, living: int) -> int:
        """The bits of the ways all of whose arcs live."""
        if living not in self._open:
            if len(self._open) >= MOST_KNOWN:
                self._open.clear()
            self._open[living] = sum(
                1 << bit for bit, needed in enumerate(self._needed) if needed & living == needed
            )
        return self._open[living]
