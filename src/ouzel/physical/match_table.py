"""What every engine hands over: matches as columns of row numbers, ready to be gathered into a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.physical.event_table import Integers

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class One:
    """The row that a variable is bound to in each match, -1 where it is bound to none."""

    rows: Integers

    def numbered(self, rows: Integers) -> One:
        """The same with other numbers: those of `rows` for places in it."""
        return One(np.append(rows, -1)[self.rows])

    def placed(self, numbers: Integers) -> One:
        """The same with places among numbers, which are in order, for these."""
        return One(np.where(self.rows < 0, -1, np.searchsorted(numbers, self.rows)))


@dataclass(frozen=True)
class Many:
    """The rows that an array variable is bound to: those of match m are rows[offsets[m]:offsets[m + 1]].

    An unbound variable, of an alternative that was not chosen, is null rather than empty.
    """

    offsets: Integers
    rows: Integers
    unbound: Flags

    def numbered(self, rows: Integers) -> Many:
        """The same with other numbers: those of `rows` for places in it."""
        return Many(self.offsets, rows[self.rows], self.unbound)

    def placed(self, numbers: Integers) -> Many:
        """The same with places among numbers, which are in order, for these."""
        return Many(self.offsets, np.searchsorted(numbers, self.rows), self.unbound)


@dataclass(frozen=True)
class MatchTable:
    """Matches: what each variable is bound to, and their intervals."""

    bound: dict[str, One | Many]
    starts: Integers
    ends: Integers
    start_times: Integers
    end_times: Integers

    def __len__(self) -> int:
        """The number of matches."""
        return len(self.starts)

    def taken(self, places: Integers) -> MatchTable:
        """Some of the matches."""
        bound = {variable: chosen(one, places) for variable, one in self.bound.items()}
        times = (self.starts, self.ends, self.start_times, self.end_times)
        return MatchTable(bound, *(one[places] for one in times))


def ends_of(variables: list[str], bound: dict[str, One | Many]) -> tuple[Integers, Integers]:
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
            low[full] = one.rows[one.offsets[:-1][full]]
            high[full] = one.rows[one.offsets[1:][full] - 1]
        first = low if first is None else np.where(first < 0, low, first)
        last = high if last is None else np.where(high >= 0, high, last)
    assert first is not None
    assert last is not None
    return first, last


def chosen(one: One | Many, matches: Integers) -> One | Many:
    """What a variable is bound to in some matches, in the order given."""
    if isinstance(one, One):
        return One(one.rows[matches])
    lengths = (one.offsets[1:] - one.offsets[:-1])[matches]
    offsets: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    shift = np.repeat(one.offsets[:-1][matches] - offsets[:-1], lengths)
    return Many(offsets, one.rows[np.arange(offsets[-1]) + shift], one.unbound[matches])


def counts_of(bound: dict[str, One | Many]) -> Integers:
    """The number of events of each match."""
    total: Integers | None = None
    for one in bound.values():
        own = (one.rows >= 0).astype(np.int64) if isinstance(one, One) else one.offsets[1:] - one.offsets[:-1]
        total = own if total is None else total + own
    assert total is not None
    return total


def joined(tables: list[dict[str, One | Many]]) -> dict[str, One | Many]:
    """Matches of several tables in one."""
    return tables[0] if len(tables) == 1 else {name: _joined([one[name] for one in tables]) for name in tables[0]}


def _joined(parts: list[One | Many]) -> One | Many:
    rows = np.concatenate([one.rows for one in parts])
    if isinstance(parts[0], One):
        return One(rows)
    many = [one for one in parts if isinstance(one, Many)]
    ends = np.cumsum([0, *(one.offsets[-1] for one in many)])
    offsets = [one.offsets[:-1] + end for one, end in zip(many, ends, strict=False)]
    return Many(
        np.concatenate([*offsets, ends[-1:]]).astype(np.int64), rows, np.concatenate([one.unbound for one in many])
    )
