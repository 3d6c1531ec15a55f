"""What a tree costs: the number of records that its operators touch and make (ZStream 5.1, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Component
from ouzel.physical.statistics import Statistics, Work
from ouzel.physical.tree.nodes import How

# The share of pairs in a window of which the left one comes first (Pt), and what a condition adds to a touch (k).
BEFORE = 0.5
CONDITION = 0.25
# Beyond that, a closure has too many rows anyway.
MOST_DOUBLED = 64.0


@dataclass(frozen=True)
class Estimate:
    """The cost of a subtree, and the number of its records in a window."""

    cost: float
    card: float


def leaf(statistics: Statistics, component: Component, conjuncts: Sequence[Conjunct] = ()) -> Estimate:
    """A leaf only holds its events; that of a closure all rows of them, which double with every event."""
    card = statistics.card(component.variable)
    if not component.is_array:
        return Estimate(0.0, card)
    longer = statistics.share(component.variable) * statistics.selectivity(conjuncts)
    chains = card * 2.0 ** min(longer, MOST_DOUBLED)
    return Estimate(chains, chains)


def joined(
    partitions: float,
    how: How,
    left: Estimate,
    right: Estimate,
    conditions: int,
    share: float,
    looked_up: float = 1.0,
    between: float = 1.0,
) -> Estimate:
    """Two subtrees joined: all pairs of a partition are touched, in a sequence those in order.

    So many conditions hold for a share of the pairs.  Of some equalities, those pairs for which they do not hold
    are not touched.  `between` is how many events of a group lie between the two.
    """
    order = BEFORE if how is How.SEQUENCE else 1.0
    touched = left.card * right.card * order / partitions * between
    made = touched * share
    touched *= looked_up
    cost = touched * (1 + CONDITION * conditions) + made
    return Estimate(left.cost + right.cost + cost, made)


def union(parts: Sequence[Estimate]) -> Estimate:
    """Alternatives: every record is touched and made."""
    total = sum(one.card for one in parts)
    return Estimate(sum(one.cost for one in parts) + 2 * total, total)


# What each unit takes, in nanoseconds; `ouzel bench shoot-out` tells whether that is still true.
NANOSECONDS = {"event": 116.0, "touched": 6.2, "match": 126.0}


def tree_work(statistics: Statistics, estimates: Sequence[Estimate]) -> Work:
    """What trees have to do in a window: events come to leaves, records are touched and made, matches come out."""
    touched = sum(one.cost for one in estimates) / BEFORE
    matches = sum(one.card for one in estimates) / BEFORE
    return {"event": statistics.events, "touched": touched, "match": matches}
