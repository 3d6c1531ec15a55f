"""Matches that bind the same events to the same variables are one: the first way to find them counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Bound, One, chosen


def first_of_each(bound: Bound) -> Bound:
    """One of each, of matches in the order of results: of equal ones, that which chose the first alternatives."""
    count = len(next(iter(bound.values())))
    same = np.ones(max(count - 1, 0), np.bool_)
    for one in bound.values():
        same &= _are_same(one)
    if not same.any():
        return bound
    groups = np.concatenate([np.zeros(1, np.int64), np.cumsum(~same)])
    unbound = [one.unbound for one in bound.values() if one.unbound is not None]
    order: Integers = np.lexsort((*reversed(unbound), groups))
    kept = np.sort(order[np.flatnonzero(np.diff(groups[order], prepend=-1))])
    return {variable: chosen(one, kept) for variable, one in bound.items()}


def _are_same(one: Any) -> Any:
    """Of every match but the last, whether it and the next bind the same to a variable."""
    if isinstance(one, One):
        return one.rows[1:] == one.rows[:-1]
    lengths = np.diff(one.offsets)
    same = lengths[1:] == lengths[:-1]
    pairs = np.flatnonzero(same & (lengths[1:] > 0))
    sizes = lengths[pairs]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    first, second = (one.rows[np.repeat(one.offsets[pairs + next_], sizes) + within] for next_ in (0, 1))
    wrong = np.bincount(np.repeat(np.arange(len(pairs)), sizes), first != second, len(pairs))
    same[pairs[wrong > 0]] = False
    return same
