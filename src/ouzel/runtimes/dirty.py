"""Where a matching is wrong: buckets of partitions, and in each the stretch of time that corrections reach.

An event at t is in matches, or refutes some, that start after t - window and end before t + window, and in no
others: so nothing that ends later is wrong any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.logical.times import BEGINNING, END
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Flags

_NONE = np.zeros(0, np.int64)


class Stretches:
    """Of some buckets, after which time matches start and before which time they end."""

    def __init__(self, buckets: Integers = _NONE, after: Integers = _NONE, before: Integers = _NONE) -> None:
        """Begin with some buckets, in order."""
        self.buckets, self.after, self.before = buckets, after, before

    def __len__(self) -> int:
        """The number of buckets."""
        return len(self.buckets)

    def joined(self, buckets: Integers, after: Integers, before: Integers) -> Stretches:
        """These and others; of a bucket that is in both, from the first to the last."""
        if not len(buckets):
            return self
        every = np.concatenate([self.buckets, buckets])
        order = np.argsort(every)
        every = every[order]
        begins = np.flatnonzero(np.append(True, every[1:] != every[:-1]))
        first = np.minimum.reduceat(np.concatenate([self.after, after])[order], begins)
        last = np.maximum.reduceat(np.concatenate([self.before, before])[order], begins)
        return Stretches(every[begins], first, last)

    def chosen(self, flags: Any) -> Stretches:
        """Some of them."""
        return Stretches(self.buckets[flags], self.after[flags], self.before[flags])

    def among(self, buckets: Integers) -> Stretches:
        """Those of some buckets, each of which is one of these."""
        flags = np.zeros(len(self), np.bool_)
        flags[self.buckets.searchsorted(buckets)] = True
        return self.chosen(flags)

    def hold(self, buckets: Integers, starts: Integers, ends: Integers) -> Flags:
        """Which matches are in such a bucket, and in its stretch."""
        if not len(self.buckets) or not len(buckets):
            return np.zeros(len(buckets), np.bool_)
        places = np.minimum(self.buckets.searchsorted(buckets), len(self.buckets) - 1)
        found: Flags = self.buckets[places] == buckets
        found &= (starts > self.after[places]) & (ends < self.before[places])
        return found

    def state(self) -> dict[str, Any]:
        """All of them."""
        return {"buckets": self.buckets, "after": self.after, "before": self.before}


def before(times: Integers, length: int) -> Integers:
    """Times so much earlier, but none before all times."""
    return np.maximum(times, BEGINNING + length) - length


def after(times: Integers, length: int) -> Integers:
    """Times so much later, but none after all times."""
    return np.minimum(times, END - length) + length
