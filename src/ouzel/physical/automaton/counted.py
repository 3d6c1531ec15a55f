"""Whether the numbers of events that are counted make sense: no two are equal, and they agree with times."""

from __future__ import annotations

import numpy as np

from ouzel.kernels import numbering
from ouzel.physical.automaton.event_lists import EventLists
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Flags
from ouzel.physical.meaning import integers


def _by_number(numbers: Integers, parts: Integers) -> Integers:
    """The places of events by partition, in each the greatest number first, and of equal ones the last."""
    last_first = np.arange(len(numbers))[::-1]
    if len(numbers) < 2 or parts.min() == parts.max():
        if (numbers[1:] > numbers[:-1]).all():
            return last_first
        return last_first[np.argsort(-numbers[::-1], kind="stable")]
    return np.lexsort((-np.arange(len(numbers)), -numbers, parts))


def miscounted(lists: EventLists, events: EventTable, sequence: str, gone: Integers) -> Flags:
    """Which of some events, as they came, have numbers that cannot be, once others are `gone`, by number."""
    rows = np.arange(len(events))
    parts, times = lists.partitions.number(events, rows), events.end_times
    numbers = integers(events.table.column(sequence))
    moments = {name: lists.moments[name].values for name in ("orders", "times", "before")}
    leaving = np.zeros(len(moments["times"]), np.bool_)
    leaving[lists.events["moment_of"].values[gone]] = True
    bad = np.zeros(len(events), np.bool_)
    while True:
        # without those that cannot be, others may
        left = np.flatnonzero(~bad & (parts >= 0))
        order = left[_by_number(numbers[left], parts[left])]
        mark = kernel_of(numbering.mark_miscounted, len(order))
        if not mark(order, parts, numbers, times, lists.tails.values, *moments.values(), leaving, bad):
            return bad
