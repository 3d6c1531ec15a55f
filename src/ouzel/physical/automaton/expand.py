"""Paths of the match store become columns of row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.physical.automaton.shape import Shape
from ouzel.physical.compiled.prepare import kernel_of
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Many, One

_COUNT = """
@jit
def kernel(found, component, before, states):
    counts = np.zeros((states, len(found)), np.int64)
    for k in range(len(found)):
        q = found[k]
        while q >= 0:
            counts[component[q], k] += 1
            q = before[q]
    return counts
"""

_FILL = """
@jit
def kernel(found, event, component, before, state, offsets):
    events = np.empty(offsets[-1], np.int64)
    for k in range(len(found)):
        q = found[k]
        at = offsets[k + 1]
        while q >= 0:
            if component[q] == state:
                at -= 1
                events[at] = event[q]
            q = before[q]
    return events
"""


def expand(shape: Shape, found: Any, event: Any, component: Any, before: Any) -> dict[str, One | Many]:
    """What each variable is bound to in each match, as numbers of prepared events (-1: none)."""
    counts = kernel_of(_COUNT, len(event))(found, component, before, len(shape.states))
    bound: dict[str, One | Many] = {}
    for state, one in enumerate(shape.states):
        offsets: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[state])])
        events = kernel_of(_FILL, len(event))(found, event, component, before, state, offsets)
        if one.is_array:
            # a closure that must not be empty is so only in an alternative that was not chosen
            bound[one.variable] = Many(offsets, events, (counts[state] == 0) & (one.least > 0))
        else:
            present = counts[state] > 0
            rows = np.full(len(found), -1, np.int64)
            rows[present] = events
            bound[one.variable] = One(rows)
    return bound
