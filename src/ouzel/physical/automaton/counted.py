"""Whether the numbers of events that are counted make sense: no two are equal, and they agree with times."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from ouzel.kernels import numbering
from ouzel.physical.automaton.event_lists import EventLists
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Flags
from ouzel.physical.meaning import integers


def _by_number(numbers: Integers, parts: Integers) -> Integers:
    """The places of events by partition, in each the greatest number first, and of equal ones the last."""
    last_first = np.arange(len(numbers))[::-1]
    if len(numbers) < 2 or parts.min() == parts.max():
        if (numbers[1:] > numbers[:-1]).all():
            return last_first
        return last_first[np.argsort(~numbers[::-1], kind="stable")]
    return np.lexsort((-np.arange(len(numbers)), ~numbers, parts))


def miscounted(lists: EventLists, events: EventTable, sequence: str, gone: Integers) -> Flags:
    """Which of some events, as they came, have numbers that cannot be, once others are `gone`, by number."""
    rows = np.arange(len(events))
    parts, times = lists.partitions.number(events, rows), events.end_times
    numbers = integers(events.table.column(sequence))
    moments = {name: lists.moments[name].values for name in ("orders", "times", "before")}
    leaving = np.zeros(len(moments["times"]), np.bool_)
    leaving[lists.events["moment_of"].values[gone]] = True
    suspects = np.zeros(len(events), np.bool_)
    inside = np.flatnonzero(parts >= 0)
    order = inside[_by_number(numbers[inside], parts[inside])]
    mark = kernel_of(numbering.mark_miscounted, len(order))
    if not mark(order, parts, numbers, times, lists.tails.values, *moments.values(), leaving, suspects):
        return suspects
    bad = np.zeros(len(events), np.bool_)
    for part in each_once(parts[suspects]).tolist():
        own = np.flatnonzero(parts == part)
        bad[own] = _as_they_came(_known(lists, part, leaving), numbers[own].tolist(), times[own].tolist())
    return bad


def _known(lists: EventLists, part: int, leaving: Flags) -> list[tuple[int, int]]:
    """The numbers and times of the moments of a partition, in order, without some that are leaving."""
    orders, times, before = (lists.moments[name].values for name in ("orders", "times", "before"))
    found = []
    moment = int(lists.tails.values[part]) if part < len(lists.tails) else -1
    while moment >= 0:
        if not leaving[moment]:
            found.append((int(orders[moment]), int(times[moment])))
        moment = int(before[moment])
    return found[::-1]


def _as_they_came(known: list[tuple[int, int]], numbers: list[int], times: list[int]) -> list[bool]:
    """Which numbers cannot be, one event after the other: what is set aside is no reason against others."""
    bad = []
    for number, time in zip(numbers, times, strict=True):
        place = bisect_left(known, (number,))
        is_bad = place < len(known) and (known[place][0] == number or known[place][1] < time)
        is_bad |= place > 0 and known[place - 1][1] > time
        if not is_bad:
            known.insert(place, (number, time))
        bad.append(is_bad)
    return bad
