"""What every engine hands over: matches as columns of row numbers, ready to be gathered into a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ouzel.kernels import arrays
from ouzel.physical.compiled import share
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.event_table import Integers
from ouzel.physical.recycled import picked, recycled

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class One:
    """The row that a variable is bound to in each match, -1 where it is bound to none.

    Where it matters, `unbound` tells that it belongs to an alternative that was not chosen.
    """

    rows: Integers
    unbound: Flags | None = None

    def __len__(self) -> int:
        """The number of matches."""
        return len(self.rows)

    def numbered(self, rows: Integers) -> One:
        """The same with other numbers: those of `rows` for places in it."""
        # there may be many more rows than matches: no copy of them is made to have a place for -1
        numbers = rows[self.rows]
        unbound = self.rows < 0
        if unbound.any():
            numbers[unbound] = -1
        return One(numbers, self.unbound)

    def placed(self, numbers: Integers) -> One:
        """The same with places among numbers, which are in order, for these."""
        if _are_all(numbers):
            return self
        return One(np.where(self.rows < 0, -1, np.searchsorted(numbers, self.rows)), self.unbound)

    def told(self, unbound: Flags) -> One:
        """The same with flags where the variable was not chosen."""
        return One(self.rows, unbound)


@dataclass(frozen=True)
class Pieces:
    """Rows piece by piece: piece k is lengths[k] of `rows`, from begins[k] on.

    Those of match m are the pieces from edges[m] to edges[m + 1]; what no piece has of `rows` means nothing.
    Where pieces are long, values are copied and need not be gathered.
    """

    rows: Integers
    begins: Integers
    lengths: Integers
    edges: Integers

    def numbered(self, rows: Integers) -> Pieces:
        """The same with other numbers: those of `rows` for places in it."""
        return Pieces(picked(rows, self.rows), self.begins, self.lengths, self.edges)

    def ends(self, matches: Integers) -> tuple[Integers, Integers]:
        """The first and the last row of some matches, none of which is without pieces."""
        first, last = self.edges[matches], self.edges[matches + 1] - 1
        return self.rows[self.begins[first]], self.rows[self.begins[last] + self.lengths[last] - 1]

    def copied(self, values: Any, threads: int = 1) -> Any:
        """Of as many values as there are `rows`, those of all pieces in a row."""
        ends = np.cumsum(self.lengths, dtype=np.int64)
        out = recycled(int(ends[-1]) if len(ends) else 0, values.dtype)
        copy = long_kernel_of(arrays.copy_pieces, len(out))

        def work(begin: int, end: int) -> None:
            at = int(ends[begin - 1]) if begin else 0
            copy(values, self.begins[begin:end], self.lengths[begin:end], out[at:])

        share.in_threads(work, len(ends), threads)
        return out


@dataclass(frozen=True)
class Many:
    """The rows that an array variable is bound to: those of match m are rows[offsets[m]:offsets[m + 1]].

    They may be held as pieces, of which they are made when they are asked for.  An unbound variable, of an
    alternative that was not chosen, is null rather than empty.
    """

    offsets: Integers
    held: Integers | Pieces
    unbound: Flags

    def __len__(self) -> int:
        """The number of matches."""
        return len(self.unbound)

    @cached_property
    def rows(self) -> Integers:
        """All rows."""
        return self.held.copied(self.held.rows) if isinstance(self.held, Pieces) else self.held

    def ends(self, matches: Integers) -> tuple[Integers, Integers]:
        """The first and the last row of some matches, none of which is empty."""
        if isinstance(self.held, Pieces):
            return self.held.ends(matches)
        return self.held[self.offsets[matches]], self.held[self.offsets[matches + 1] - 1]

    def numbered(self, rows: Integers) -> Many:
        """The same with other numbers: those of `rows` for places in it."""
        if isinstance(self.held, Pieces):
            return Many(self.offsets, self.held.numbered(rows), self.unbound)
        return Many(self.offsets, rows[self.held], self.unbound)

    def placed(self, numbers: Integers) -> Many:
        """The same with places among numbers, which are in order, for these."""
        if _are_all(numbers):
            return self
        return Many(self.offsets, np.searchsorted(numbers, self.rows), self.unbound)

    def told(self, unbound: Flags) -> Many:
        """The same with flags where the variable was not chosen."""
        return Many(self.offsets, self.held, unbound)


Bound = dict[str, One | Many]
"""What each variable is bound to, in the order of the pattern."""


@dataclass(frozen=True)
class MatchTable:
    """Matches: what each variable is bound to, and their intervals, which are looked up when asked for.

    These are starts and ends, as moments and as times.
    """

    bound: Bound
    intervals: Callable[[], tuple[Integers, Integers, Integers, Integers]]

    def __len__(self) -> int:
        """The number of matches."""
        return len(next(iter(self.bound.values())))

    @cached_property
    def _intervals(self) -> tuple[Integers, Integers, Integers, Integers]:
        return self.intervals()

    @property
    def starts(self) -> Integers:
        """The moments at which matches start."""
        return self._intervals[0]

    @property
    def ends(self) -> Integers:
        """The moments at which matches end."""
        return self._intervals[1]

    @property
    def start_times(self) -> Integers:
        """The times at which matches start."""
        return self._intervals[2]

    @property
    def end_times(self) -> Integers:
        """The times at which matches end."""
        return self._intervals[3]

    def taken(self, places: Integers) -> MatchTable:
        """Some of the matches."""
        bound = {variable: chosen(one, places) for variable, one in self.bound.items()}
        starts, ends, start_times, end_times = (one[places] for one in self._intervals)
        return MatchTable(bound, lambda: (starts, ends, start_times, end_times))


def _are_all(numbers: Integers) -> bool:
    """Whether numbers, which are in order, are all from 0 on."""
    return bool(len(numbers) and numbers[-1] == len(numbers) - 1)


def ends_of(variables: list[str], bound: Bound) -> tuple[Integers, Integers]:
    """The first and last event that some variables, in order, are bound to in each match; -1 where to none."""
    first: Integers | None = None
    last: Integers | None = None
    for variable in variables:
        one = bound[variable]
        if isinstance(one, One):
            low = high = one.rows
        else:
            full = np.flatnonzero(one.offsets[:-1] < one.offsets[1:])
            low, high = np.full((2, len(one.offsets) - 1), -1, np.int64)
            low[full], high[full] = one.ends(full)
        first = low if first is None else np.where(first < 0, low, first)
        last = high if last is None else np.where(high >= 0, high, last)
    assert first is not None
    assert last is not None
    return first, last


def numbers_held(one: One | Many) -> int:
    """How many numbers have to change for others to be in their place."""
    held = one.rows if isinstance(one, One) else one.held
    return len(held.rows if isinstance(held, Pieces) else held)


def outermost(bound: Bound, starts: Integers, ends: Integers) -> tuple[Integers, Integers]:
    """The events that start first and end last in each match, whichever variables they are bound to."""
    count = len(next(iter(bound.values())))
    first, last = np.full((2, count), -1, np.int64)
    for one in bound.values():
        for low, high in _layers(one):
            first = np.where((low >= 0) & ((first < 0) | (starts[low] < starts[first])), low, first)
            last = np.where((high >= 0) & ((last < 0) | (ends[high] > ends[last])), high, last)
    return first, last


def _layers(one: One | Many) -> Iterator[tuple[Integers, Integers]]:
    """Events of each match, one at a time, until all were there; -1 where there are no more."""
    if isinstance(one, One):
        yield one.rows, one.rows
        return
    lengths = np.diff(one.offsets)
    for place in range(int(lengths.max(initial=0))):
        at = np.minimum(one.offsets[:-1] + place, max(len(one.rows) - 1, 0))
        row = np.where(place < lengths, one.rows[at], -1)
        yield row, row


def chosen(one: One | Many, matches: Integers) -> One | Many:
    """What a variable is bound to in some matches, in the order given."""
    if isinstance(one, One):
        return One(one.rows[matches], None if one.unbound is None else one.unbound[matches])
    lengths = (one.offsets[1:] - one.offsets[:-1])[matches]
    offsets: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    shift = np.repeat(one.offsets[:-1][matches] - offsets[:-1], lengths)
    return Many(offsets, one.rows[np.arange(offsets[-1]) + shift], one.unbound[matches])


def is_bound(one: One | Many) -> Flags:
    """The matches in which a variable is bound to an event."""
    return one.rows >= 0 if isinstance(one, One) else one.offsets[:-1] < one.offsets[1:]


def took(bound: Bound, before: int, after: int) -> Flags:
    """The matches in which two variables, by their places, bound something, and none between them did.

    A place of -1 is the start or the end of the pattern.
    """
    taken = np.ones(len(next(iter(bound.values()))), np.bool_)
    between = range(before + 1, after if after >= 0 else len(bound))
    for place, one in enumerate(bound.values()):
        if place in (before, after):
            taken &= is_bound(one)
        elif place in between:
            taken &= ~is_bound(one)
    return taken


def counts_of(bound: Bound) -> Integers:
    """The number of events of each match."""
    total: Integers | None = None
    for one in bound.values():
        own = (one.rows >= 0).astype(np.int64) if isinstance(one, One) else one.offsets[1:] - one.offsets[:-1]
        total = own if total is None else total + own
    assert total is not None
    return total


def joined(tables: list[Bound]) -> Bound:
    """Matches of several tables in one."""
    return tables[0] if len(tables) == 1 else {name: _joined([one[name] for one in tables]) for name in tables[0]}


def _joined(parts: list[One | Many]) -> One | Many:
    rows = np.concatenate([one.rows for one in parts])
    are_told = any(one.unbound is not None for one in parts)
    flags = [np.zeros(len(one), np.bool_) if one.unbound is None else one.unbound for one in parts]
    if isinstance(parts[0], One):
        return One(rows, np.concatenate(flags) if are_told else None)
    many = [one for one in parts if isinstance(one, Many)]
    ends = np.cumsum([0, *(one.offsets[-1] for one in many)])
    offsets = [one.offsets[:-1] + end for one, end in zip(many, ends, strict=False)]
    return Many(np.concatenate([*offsets, ends[-1:]]).astype(np.int64), rows, np.concatenate(flags))
