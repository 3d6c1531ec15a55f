"""Whether the numbers of events that are counted make sense: no two are equal, and they agree with times.

With such numbers the next event of a partition is known before all have come: AFA+O (AFA 5.3).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Self

import numpy as np

from ouzel.kernels import numbering
from ouzel.physical.automaton.event_lists import EventLists
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.meaning import integers


def _by_number(numbers: Integers, parts: Integers) -> Integers:
    """The places of events by partition, in each the greatest number first, and of equal ones the last."""
    last_first = np.arange(len(numbers))[::-1]
    if len(numbers) < 2 or parts.min() == parts.max():
        if (numbers[1:] > numbers[:-1]).all():
            return last_first
        return last_first[np.argsort(~numbers[::-1], kind="stable")]
    return np.lexsort((-np.arange(len(numbers)), ~numbers, parts))


def are_well_counted(lists: EventLists, events: EventTable, sequence: str) -> bool:
    """Whether events, all that came and those that come, have numbers that can be."""
    parts, times = lists.partitions.number(events, np.arange(len(events))), events.end_times
    numbers = integers(events.table.column(sequence))
    moments = (lists.moments[name].values for name in ("orders", "times", "before"))
    inside = np.flatnonzero(parts >= 0)
    order = inside[_by_number(numbers[inside], parts[inside])]
    kernel = kernel_of(numbering.are_well_counted, len(order))
    return bool(kernel(order, parts, numbers, times, lists.tails.values, *moments))


@dataclass
class Line:
    """The numbers and times of the latest events of a partition, in order."""

    known: list[tuple[int, int]]

    @classmethod
    def since(cls, lists: EventLists, part: int, number: int) -> Self:
        """Those from a number on, and the one before."""
        orders, times, before = (lists.moments[name].values for name in ("orders", "times", "before"))
        found = []
        moment = int(lists.tails.values[part]) if part < len(lists.tails) else -1
        while moment >= 0:
            found.append((int(orders[moment]), int(times[moment])))
            moment = int(before[moment]) if orders[moment] >= number else -1
        return cls(found[::-1])

    def takes(self, number: int, time: int) -> bool:
        """Take one more, if it can be: what is set aside is no reason against others."""
        place = bisect_left(self.known, (number,))
        is_bad = place < len(self.known) and (self.known[place][0] == number or self.known[place][1] < time)
        is_bad |= place > 0 and self.known[place - 1][1] > time
        if not is_bad:
            self.known.insert(place, (number, time))
        return not is_bad

    def loses(self, number: int) -> None:
        """Let the one of a number go."""
        del self.known[bisect_left(self.known, (number,))]
