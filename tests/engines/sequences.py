"""Random queries that a scan can run."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ouzel.testing.strategies import RandomQuery, queries

TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
SEQUENCES = queries(strategies=("skip_till_any_match",), closures=False, alternatives=False, non_overlap=True)


def _tested(query: RandomQuery, tests: str) -> RandomQuery:
    """The query with several equivalence tests in place of its own."""
    return replace(query, conditions=[tests, *(one for one in query.conditions if not one.startswith("["))])


TESTED = st.builds(_tested, SEQUENCES, st.sampled_from(("[k, x]", "[k] AND [y]", "[k, x, y]", "[k = 1, x]")))
