"""`A; (!B & !C); D` is `A; !(B | C); D` (ZStream 5.2.1, Expression 1 and 2): one operator that looks for both.

The language binds both forms to two negative components in one place.  These become one of both types, where the
conditions on them are the same but for the name.
"""

from __future__ import annotations

from itertools import combinations

from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.change import absorbed
from ouzel.logical.rewrites.conditions import said_of
from ouzel.logical.rewrites.negatives import places


def unite_negatives(query: BoundQuery) -> BoundQuery | None:
    """Make one of two negative components in one place that forbid events of different types."""
    for place in places(query.pattern):
        for one, other in combinations(place, 2):
            left, right = said_of(query, one), said_of(query, other)
            if all(said in right for said in left) and all(said in left for said in right):
                return absorbed(query, one, other)
    return None
