"""Events in several partitions: those whose type lacks an attribute of an equivalence test are in every one.

Every partition has a copy of such an event, so that runs go through partitions as ever.  A match all of whose
events lack an attribute is found in every partition, and belongs to none: for what comes after, it is made of
copies in one of another kind, which has all events that could be with it.  There it is one, and may be refuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, product
from math import prod

import numpy as np

from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Room
from ouzel.physical.match_table import Bound, Many, One

# What a copy of an event takes in arrays, in bytes.
COPY = 100
# The key of an event whose type lacks the attribute; that of one in no partition is -1.
ANY = -2

Kind = tuple[int, ...]
"""The equivalence tests, by number, whose attribute no event of a match has."""


class Spread:
    """The partitions of events, of every kind: those that runs go through come first."""

    def __init__(self, rows: Integers, keys: Sequence[Integers], room: Room) -> None:
        """Take the keys of some rows, a number for each equivalence test; with one -1 a row is in no partition."""
        self.inside = np.logical_and.reduce([one != -1 for one in keys])
        known = [each_once(one[self.inside & (one >= 0)]) for one in keys]
        # where some lack the attribute, there is also a partition that no other event has opened yet
        lacking = [bool(np.any(one[self.inside] == ANY)) for one in keys]
        self.sizes = [max(len(one) + more, 1) for one, more in zip(known, lacking, strict=True)]
        # numbered without gaps
        self.keys = [np.where(one >= 0, np.searchsorted(k, one), one) for k, one in zip(known, keys, strict=True)]
        self.lacks = sum((one == ANY).astype(np.int64) << test for test, one in enumerate(self.keys))
        self._places = np.zeros(int(rows.max(initial=0)) + 1, np.int64)
        self._places[rows] = np.arange(len(rows))
        places, parts = self._copies(room)
        # of all combinations of keys, few may have an event
        self._known = each_once(parts[parts >= 0])
        self.places, self.parts = places, np.where(parts < 0, -1, np.searchsorted(self._known, parts))

    @property
    def count(self) -> int:
        """The number of partitions that have events."""
        return len(self._known)

    @property
    def driven(self) -> int:
        """How many of them runs go through."""
        return int(np.searchsorted(self._known, self._firsts[1]))

    @cached_property
    def kinds(self) -> list[Kind]:
        """The kinds of partitions; those of the first are told apart by all tests."""
        lacking = [test for test, keys in enumerate(self.keys) if np.any(keys[self.inside] == ANY)]
        return [kind for count in range(len(lacking) + 1) for kind in combinations(lacking, count)]

    @cached_property
    def _firsts(self) -> list[int]:
        """The number of the first partition of each kind, and behind them, that of all."""
        counts = [prod(self._sizes(kind)) for kind in self.kinds]
        return [sum(counts[:number]) for number in range(len(counts) + 1)]

    def _sizes(self, kind: Kind) -> list[int]:
        return [1 if test in kind else size for test, size in enumerate(self.sizes)]

    # ---- copies ------------------------------------------------------------------------------------------

    def _copies(self, room: Room) -> tuple[Integers, Integers]:
        """The places of events, with one for every copy, in order; and the partition of each copy, -1 for none."""
        outside = np.flatnonzero(~self.inside)
        found = [(outside, np.full(len(outside), -1, np.int64))]
        groups = [(lack, np.flatnonzero(self.inside & (self.lacks == lack))) for lack in self._lacks()]
        for first, kind in zip(self._firsts, self.kinds, strict=False):
            sizes = self._sizes(kind)
            for lack, places in groups:
                copies = len(places) * prod(size for test, size in enumerate(sizes) if lack >> test & 1)
                if copies * COPY > room.size or self._firsts[-1] > 2**62:
                    raise room.exceeded(copies, "events, each in every partition as its type lacks an attribute,")
                found.append(self._of_kind(places, lack, first, kind, sizes))
        places, parts = (np.concatenate([one[k] for one in found]) for k in range(2))
        order = np.argsort(places, kind="stable")
        return places[order], parts[order]

    def _lacks(self) -> list[int]:
        return each_once(self.lacks[self.inside]).tolist()

    def _of_kind(
        self, places: Integers, lack: int, first: int, kind: Kind, sizes: list[int]
    ) -> tuple[Integers, Integers]:
        """Copies of events, which lack the attributes of some tests, for all partitions of a kind."""
        strides = _strides(sizes)
        base = np.full(len(places), first, np.int64)
        for test, keys in enumerate(self.keys):
            if test not in kind and not lack >> test & 1:
                base += keys[places] * strides[test]
        free = [range(size) if lack >> test & 1 else range(1) for test, size in enumerate(sizes)]
        more = [sum(key * stride for key, stride in zip(one, strides, strict=True)) for one in product(*free)]
        return np.repeat(places, len(more)), (base[:, None] + np.array(more, np.int64)).ravel()

    # ---- matches of no partition -------------------------------------------------------------------------

    def settled(self, bound: Bound, rows: Integers, parts: Integers) -> Bound:
        """The same matches, those of no partition made of copies that are the same wherever they were found.

        `rows` and `parts` are the rows and partitions of events by number.
        """
        kinds = self._kinds_of(bound, rows)
        if not np.any(kinds):
            return bound
        width = int(rows.max()) + 1
        # those of no partition are not bound
        sought = parts * width + rows
        numbers = np.argsort(sought)
        settled: Bound = {}
        for variable, one in bound.items():
            own = kinds if isinstance(one, One) else np.repeat(kinds, np.diff(one.offsets))
            events = one.rows.astype(np.int64)
            moved = np.flatnonzero((own > 0) & (events >= 0))
            new = self._parts(parts[events[moved]], own[moved]) * width + rows[events[moved]]
            events[moved] = numbers[np.searchsorted(sought, new, sorter=numbers)]
            settled[variable] = (
                One(events, one.unbound) if isinstance(one, One) else Many(one.offsets, events, one.unbound)
            )
        return settled

    def _kinds_of(self, bound: Bound, rows: Integers) -> Integers:
        """The number of each match's kind."""
        count = len(next(iter(bound.values())))
        lacks = np.full(count, (1 << len(self.keys)) - 1, np.int64)
        for one in bound.values():
            some = np.flatnonzero(one.rows >= 0)
            of = some if isinstance(one, One) else np.repeat(np.arange(count), np.diff(one.offsets))
            np.bitwise_and.at(lacks, of, self.lacks[self._places[rows[one.rows[some]]]])
        numbers = np.zeros(1 << len(self.keys), np.int64)
        for number, kind in enumerate(self.kinds):
            numbers[sum(1 << test for test in kind)] = number
        return numbers[lacks]

    def _parts(self, parts: Integers, kinds: Integers) -> Integers:
        """The partitions, of some kinds, that have the same keys as others that runs go through."""
        parts, found = self._known[parts], np.empty(len(parts), np.int64)
        all_strides = _strides(self.sizes)
        for number, kind in enumerate(self.kinds):
            own = np.flatnonzero(kinds == number)
            found[own] = self._firsts[number]
            for test, stride in enumerate(_strides(self._sizes(kind))):
                if test not in kind:
                    found[own] += parts[own] // all_strides[test] % self.sizes[test] * stride
        return np.searchsorted(self._known, found)


def _strides(sizes: Sequence[int]) -> list[int]:
    return [prod(sizes[test + 1 :]) for test in range(len(sizes))]
