"""`A | B` is one component of both types where nothing tells which of the two it was: a disjunction less.

Both forms bind the same events, once each as the types differ.  What is returned must mention neither variable,
and conditions must say the same of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ouzel.logical.expressions import references
from ouzel.logical.pattern import Binds, Component, Disjunction, Pattern, Step, has_conjunction
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.change import absorbed
from ouzel.logical.rewrites.conditions import said_of


def unite_alternatives(query: BoundQuery) -> BoundQuery | None:
    """Make one of two alternatives that stand side by side."""
    if has_conjunction(query.pattern):
        # matches of the same events are in order of the components that have them, which would be others
        return None
    read = _returned(query)
    for one, other in _neighbours(query.pattern, query.components):
        if read is None or {one.variable, other.variable} & read or one.type_names & other.type_names:
            continue
        # what mentions both is never applied, and would be
        left, right = said_of(query, one), said_of(query, other)
        if all(said in right for said in left) and all(said in left for said in right):
            return absorbed(query, one, other)
    return None


def _returned(query: BoundQuery) -> set[str] | None:
    """The variables that RETURN mentions; None if it shows all of them."""
    if not query.output and not query.aggregates:
        return None
    expressions = [column.expression for column in query.output]
    names = {node.variable for expression in expressions for node in references(expression)}
    return names | {one.variable for one in query.aggregates if one.variable is not None}


def _neighbours(pattern: Pattern, order: Sequence[Component]) -> list[tuple[Component, Component]]:
    """Pairs of single events that are alternatives, one behind the other in the text."""
    if isinstance(pattern, Step):
        return []
    found = [pair for item in pattern.items for pair in _neighbours(item, order)]
    for left, right in pairwise(pattern.items) if isinstance(pattern, Disjunction) else ():
        if isinstance(left, Step) and isinstance(right, Step):
            one, other = left.component, right.component
            if one.binds is other.binds is Binds.ONE and order.index(other) == order.index(one) + 1:
                found.append((one, other))
    return found
