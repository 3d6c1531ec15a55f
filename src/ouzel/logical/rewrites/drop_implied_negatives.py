"""`!B & !(B with p)` is `!B`: what a negative component rules out, another in its place need not (absorption)."""

from __future__ import annotations

from itertools import permutations

from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.change import absorbed
from ouzel.logical.rewrites.conditions import said_of
from ouzel.logical.rewrites.negatives import places


def drop_implied_negatives(query: BoundQuery) -> BoundQuery | None:
    """Drop a negative component if all that it forbids is forbidden there anyway."""
    for place in places(query.pattern):
        for wide, narrow in permutations(place, 2):
            if _is_implied(query, narrow, wide):
                return absorbed(query, wide, narrow)
    return None


def _is_implied(query: BoundQuery, narrow: Component, wide: Component) -> bool:
    """Whether an event that refutes a match as one component does so as another: it may be more, under less."""
    narrowing = said_of(query, narrow)
    return narrow.type_names <= wide.type_names and all(one in narrowing for one in said_of(query, wide))
