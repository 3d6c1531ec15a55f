"""Which matches an event after them may refute: those with a negative component behind all that they bind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ouzel.logical.pattern import Conjunction, Disjunction, Pattern, Sequence, Step
from ouzel.physical.match_table import Bound, Flags, is_bound


def may_be_refuted(pattern: Pattern, bound: Bound) -> Flags:
    """Of which matches an event may stand at the end of the pattern, or around it, that must not."""
    found = _look(pattern, bound)
    return found.behind | found.around


class _Look(NamedTuple):
    """Of each match, whether a part of the pattern bound nothing, and where it has negative components."""

    is_empty: Flags
    behind: Flags
    """Behind all that it bound."""
    around: Flags
    """With operands of & that look around the whole match, wherever they stand."""


def _look(pattern: Pattern, bound: Bound) -> _Look:
    count = len(next(iter(bound.values())))
    none = np.zeros(count, np.bool_)
    if isinstance(pattern, Step):
        if pattern.component.negative:
            return _Look(~none, ~none, none)
        return _Look(~is_bound(bound[pattern.component.variable]), none, none)
    parts = [_look(item, bound) for item in pattern.items]
    is_empty = np.logical_and.reduce([one.is_empty for one in parts])
    if isinstance(pattern, Disjunction):  # one item was chosen: any, if nothing is bound
        parts = [_Look(*(flags & (~one.is_empty | is_empty) for flags in one)) for one in parts]
    around = np.logical_or.reduce([one.around for one in parts])
    if isinstance(pattern, Sequence):
        return _Look(is_empty, _behind_last(parts), around)
    if isinstance(pattern, Conjunction):
        around = around | any(isinstance(item, Step) and item.component.negative for item in pattern.items)
    return _Look(is_empty, np.logical_or.reduce([one.behind for one in parts]), around)


def _behind_last(parts: list[_Look]) -> Flags:
    """Whether there is a negative component behind the last of some parts in order that bound something."""
    behind, is_open = np.zeros_like(parts[0].behind), np.ones_like(parts[0].behind)
    for one in reversed(parts):
        behind |= is_open & one.behind
        is_open &= one.is_empty
    return behind
