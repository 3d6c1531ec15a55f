"""How much a scan has to do in a window: what is looked at of stacks, and what is bound (SASE 4.1, 4.3)."""

from __future__ import annotations

from math import exp

from ouzel.physical.scan.shape import Levels, Shape
from ouzel.physical.statistics import Statistics, Work, in_order

# What each unit takes, in nanoseconds; `ouzel bench shoot-out` tells whether that is still true.
NANOSECONDS = {"event": 17.5, "end": 7.0, "looked at": 3.6, "tried": 3.6, "match": 1.6}


def scan_work(shape: Shape, statistics: Statistics) -> Work:
    """Events are pushed; each end looks at the stacks, keeps what goes with it, and tries combinations of that.

    >>> scan_work(Shape((), (), ()), Statistics({}, events=5))
    {'event': 5}
    """
    if not shape.positives:
        return {"event": statistics.events}
    last = shape.length - 1
    ends = statistics.card(shape.positives[last].variable)
    kept, looked_at, reached = [0.0] * last, 0.0, 1.0
    for level in reversed(range(last)):
        stack = statistics.share(shape.positives[level].variable)
        looked_at += reached * stack
        kept[level] = stack * _holds(shape, statistics, frozenset({level, last}), frozenset({level}))
        reached *= 1 - exp(-kept[level])
    combinations, tried = 1.0, 0.0
    for level in range(last):
        combinations *= kept[level]
        tried += combinations * in_order(level + 1)
        known = frozenset({*range(level + 1), last})
        combinations *= _holds(shape, statistics, known, frozenset({level}), least=2)
    matches = ends * combinations * in_order(last)
    work = {"event": statistics.events, "end": ends, "looked at": ends * looked_at, "tried": ends * tried}
    return {**work, "match": matches}


def _holds(shape: Shape, statistics: Statistics, known: Levels, new: Levels, least: int = 1) -> float:
    """The share of combinations for which the conditions hold that a newly bound component decides."""
    last = {shape.length - 1}
    decided = [
        one
        for one in shape.conjuncts
        if (levels := shape.levels(one)) <= known and new <= levels and len(levels - last) >= least
    ]
    return statistics.selectivity(decided)
