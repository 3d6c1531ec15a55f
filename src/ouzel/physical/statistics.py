"""What is known of events: how many there are of each component, and how often conditions hold (ZStream 5.1).

Costs are estimated from it, by every engine in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import factorial

from ouzel.logical.conjuncts import Conjunct

# The share of pairs for which a condition holds that nothing is known of.
UNKNOWN = 0.5


@dataclass(frozen=True)
class Statistics:
    """How many events of each component a window holds (CARD), and for which share of pairs conditions hold.

    `partitions` is how many partitions those events belong to: only events of one are joined.  `events` is how
    many events a window holds that some component wants, and `windows` how many windows lie one after the other
    in all that there is.
    """

    cards: Mapping[str, float]
    selectivities: Mapping[str, float] = field(default_factory=dict)
    partitions: float = 1.0
    events: float = 1.0
    windows: float = 1.0

    def card(self, variable: str) -> float:
        """The number of events of a component in a window."""
        return self.cards.get(variable, 1.0)

    def share(self, variable: str) -> float:
        """The number of events of a component in a window that belong to one partition."""
        return self.card(variable) / self.partitions

    def selectivity(self, conjuncts: Sequence[Conjunct]) -> float:
        """The share of pairs for which conditions hold."""
        share = 1.0
        for conjunct in conjuncts:
            share *= self.selectivities.get(conjunct.text, UNKNOWN)
        return share


def in_order(components: int) -> float:
    """The share of combinations of so many events in which they come one after the other."""
    return 1 / factorial(components)


Work = Mapping[str, float]
"""How much an engine has to do, by what it does: as many of each as there are in a window, or in all windows."""


def nanoseconds(work: Work, each: Mapping[str, float], windows: float) -> float:
    """What the work in so many windows takes, where each unit takes so many nanoseconds."""
    return windows * sum(count * each[unit] for unit, count in work.items())
