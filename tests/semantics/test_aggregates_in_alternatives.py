"""Conditions on aggregates of closures in alternatives: where another was chosen, they are not applied."""

from __future__ import annotations

import pytest

import ouzel as oz

VALUES = ["A1", "B2", "C9", "B3", "D4", "A0", "C1", "D2", "B1", "B7", "D9"]
EVENTS = [{"ts": ts, "type": one[0], "x": int(one[1])} for ts, one in enumerate(VALUES)]
QUERIES = [
    "PATTERN SEQ(A a, (B+ b[] | C c), D d) WHERE sum(b[].x) < d.x",
    "PATTERN SEQ(A a, (B+ b[] | C c), D d) WHERE b.LEN = 2 AND c.x > a.x",
    "PATTERN SEQ(A a, (B+ b[] | C+ c[]), D d) WHERE count(b[]) > 1 AND max(c[].x) > d.x",
    "PATTERN SEQ(A a, (B+ b[] | C+ c[]), D d) WHERE avg(b[].x) > 2 OR d.x > min(c[].x)",
    "PATTERN SEQ((A+ a[] | C+ c[]), D d) WHERE skip_till_next_match { last(a[].x) < d.x AND first(c[].x) < 5 }",
    "PATTERN SEQ(A a, (B+ b[] | C c), D d) WHERE d.x > b[i].x AND sum(b[].x) > 3",
]


@pytest.mark.parametrize("query", QUERIES)
def test_engines_agree(query: str) -> None:
    expected = oz.match(EVENTS, query, engine="reference")
    assert oz.match(EVENTS, query, engine="automaton") == expected
    assert expected
