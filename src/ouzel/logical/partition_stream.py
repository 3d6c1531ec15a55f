"""Match every partition of the stream apart, where the strategy lets partitions ignore each other."""

from __future__ import annotations

from ouzel.language.tree import Strategy
from ouzel.logical.query import BoundQuery


def partition_stream(query: BoundQuery) -> tuple[tuple[str, ...], str]:
    """The attributes to partition by, and why these, or why none.

    Runs ignore events of other partitions under every strategy but strict contiguity.  The partitions are
    apart only if every component has every attribute: an event without one is in all of them.
    """
    attributes = tuple(test.attribute for test in query.equivalences)
    if not attributes:
        return (), "there is no equivalence test"
    if query.strategy is Strategy.STRICT_CONTIGUITY:
        return (), "strict contiguity looks at the whole stream"
    for test in query.equivalences:
        without = test.types_by_column.get(None)
        if without:
            return (), f"events of type {without[0]} have no '{test.attribute}' and are in every partition"
    return attributes, "equivalence tests keep the partitions apart"
