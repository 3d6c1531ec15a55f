"""The rules by which queries under skip_till_any_match are simplified before they are planned (ZStream 5.2.1).

A rule is a function from a query to a simpler one with the same matches in the same order, and the same values of
what is returned; None if there is nothing to simplify.  Simpler means: fewer operators, or as many that cost less,
and a disjunction costs less than a sequence, and that less than a conjunction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.drop_implied_negatives import drop_implied_negatives
from ouzel.logical.rewrites.drop_impossible_alternatives import drop_impossible_alternatives
from ouzel.logical.rewrites.order_conjunctions import order_conjunctions
from ouzel.logical.rewrites.unite_alternatives import unite_alternatives
from ouzel.logical.rewrites.unite_negatives import unite_negatives

Rule = Callable[[BoundQuery], BoundQuery | None]

RULES: tuple[Rule, ...] = (
    drop_impossible_alternatives,
    drop_implied_negatives,
    unite_negatives,
    unite_alternatives,
    order_conjunctions,
)


@dataclass(frozen=True)
class Rewritten:
    """A query after all rules, and what those that applied made of its pattern, in order."""

    query: BoundQuery
    steps: tuple[tuple[str, BoundQuery], ...] = ()


def rewrite(query: BoundQuery) -> Rewritten:
    """Apply all rules until none applies; every rule leaves less to do, so that this ends."""
    steps: list[tuple[str, BoundQuery]] = []
    while (step := _step(query)) is not None:
        steps.append(step)
        query = step[1]
    return Rewritten(query, tuple(steps))


def _step(query: BoundQuery) -> tuple[str, BoundQuery] | None:
    """The first rule that applies, by name, and what it makes of a query."""
    for rule in RULES:
        simpler = rule(query)
        if simpler is not None:
            return rule.__name__.replace("_", " "), simpler
    return None
