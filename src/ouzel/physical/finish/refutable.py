"""Which matches an event after them may refute: those with a negative component behind all that they bind."""

from __future__ import annotations

import numpy as np

from ouzel.logical.pattern import Conjunction, Disjunction, Pattern, Step
from ouzel.physical.match_table import Bound, Flags, is_bound


def may_be_refuted(pattern: Pattern, bound: Bound) -> Flags:
    """Of which matches an event may stand at the end of the pattern, or around it, that must not."""
    return _behind(pattern, bound)[0]


def _behind(pattern: Pattern, bound: Bound) -> tuple[Flags, Flags]:
    """Whether there is a negative component behind what is bound, and whether nothing is."""
    count = len(next(iter(bound.values())))
    if isinstance(pattern, Step):
        component = pattern.component
        if component.negative:
            return np.ones(count, np.bool_), np.ones(count, np.bool_)
        return np.zeros(count, np.bool_), ~is_bound(bound[component.variable])
    parts = [_behind(item, bound) for item in pattern.items]
    nothing = np.logical_and.reduce([empty for _found, empty in parts])
    if isinstance(pattern, Conjunction):  # whose negative operands look around the whole match
        return np.logical_or.reduce([found for found, _empty in parts]), nothing
    if isinstance(pattern, Disjunction):  # of which one item was chosen, any if nothing is bound
        return np.logical_or.reduce([found & (~empty | nothing) for found, empty in parts]), nothing
    refutable, is_open = np.zeros(count, np.bool_), np.ones(count, np.bool_)
    for found, empty in reversed(parts):
        refutable |= is_open & found
        is_open &= empty
    return refutable, nothing
