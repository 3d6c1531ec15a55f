"""What a tree costs: the number of records that its operators touch and make (ZStream 5.1, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ouzel.logical.conjuncts import Conjunct
from ouzel.physical.tree.nodes import How

# The share of pairs in a window of which the left one comes first (Pt), and what a condition adds to a touch (k).
BEFORE = 0.5
CONDITION = 0.25
# The share of pairs for which a condition holds that nothing is known of.
UNKNOWN = 0.5


@dataclass(frozen=True)
class Statistics:
    """How many events of each component a window holds (CARD), and for which share of pairs conditions hold.

    `partitions` is how many partitions those events belong to: only events of one are joined.
    """

    cards: Mapping[str, float]
    selectivities: Mapping[str, float] = field(default_factory=dict)
    partitions: float = 1.0

    def card(self, variable: str) -> float:
        """The number of events of a component in a window."""
        return self.cards.get(variable, 1.0)

    def selectivity(self, conjuncts: Sequence[Conjunct]) -> float:
        """The share of pairs for which conditions hold."""
        share = 1.0
        for conjunct in conjuncts:
            share *= self.selectivities.get(conjunct.text, UNKNOWN)
        return share


@dataclass(frozen=True)
class Estimate:
    """The cost of a subtree, and the number of its records in a window."""

    cost: float
    card: float


def leaf(statistics: Statistics, variable: str) -> Estimate:
    """A leaf only holds its events."""
    return Estimate(0.0, statistics.card(variable))


def joined(
    statistics: Statistics,
    how: How,
    left: Estimate,
    right: Estimate,
    conjuncts: Sequence[Conjunct],
    between: float = 1.0,
) -> Estimate:
    """Two subtrees joined: all pairs of a partition are touched, in a sequence those in order.

    `between` is how many events of a group lie between the two.
    """
    order = BEFORE if how is How.SEQUENCE else 1.0
    touched = left.card * right.card * order / statistics.partitions * between
    made = touched * statistics.selectivity(conjuncts)
    cost = touched * (1 + CONDITION * len(conjuncts)) + made
    return Estimate(left.cost + right.cost + cost, made)


def union(parts: Sequence[Estimate]) -> Estimate:
    """Alternatives: every record is touched and made."""
    total = sum(one.card for one in parts)
    return Estimate(sum(one.cost for one in parts) + 2 * total, total)
