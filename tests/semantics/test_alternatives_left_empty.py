"""Closures that may be empty in alternatives: chosen and empty is not the same as not chosen."""

from __future__ import annotations

import pytest

import ouzel as oz
from engines.splits import long_stream
from semantics.everywhere import everywhere
from semantics.harness import found

QUERIES = {
    "a closure": "SEQ(A a, (B* b[] | C c), D d) WHERE a.x <= d.x WITHIN 8",
    "a bounded one": "SEQ(A a, (B{0,2} b[] | C c), D d) WHERE b[i].x = a.x WITHIN 8",
    "one or none": "SEQ(A a, (B? b | C c), D d) WHERE b.x = a.x WITHIN 8",
    "two": "SEQ(A a, (B* b[] | C* c[]), D d) WHERE c[i].x > b[i].x OR a.x = d.x WITHIN 8",
    "first": "SEQ((B* b[] | C c), D d) WHERE d.x >= count(b[]) WITHIN 6",
    "last": "SEQ(A a, (B* b[] | C c)) WHERE count(b[]) < 3 AND c.x = 1 WITHIN 6",
    "the first may not": "SEQ(A a, (B* b[] | C* c[]), D d) WHERE count(b[]) > 0 AND sum(c[].x) > 0 WITHIN 8",
    "the first must": "SEQ(A a, (B* b[] | C* c[]), D d) WHERE b.LEN = 0 AND c.LEN > 0 WITHIN 8",
    "a later condition": "SEQ(A a, (B* b[] | C* c[]), D d) WHERE d.x > count(b[]) AND d.x = c.LEN WITHIN 8",
    "one later still": "SEQ(A a, (B* b[] | C* c[]), D+ d[], A e) WHERE e.x > b.LEN AND e.x >= c.LEN WITHIN 9",
    "at the end": "SEQ(A+ a[], (B* b[] | C* c[])) WHERE b.LEN > 0 AND c.LEN < 2 WITHIN 6",
    "at the start": "SEQ((B* b[] | C* c[]), A+ a[]) WHERE b.LEN > 0 AND count(c[].x) = 0 WITHIN 6",
    "sequences": "SEQ(A a, (SEQ(B b, C* c[]) | D? d), A e) WHERE c.LEN < 2 OR e.x = 1 WITHIN 9",
    "nested": "SEQ(A a, ((B? b | C* c[]) | D* d[]), A e) WHERE c.LEN = 1 OR e.x = 1 AND d.LEN = 0 WITHIN 8",
    "two in a row": "SEQ(A a, (B* b[] | C? c), (C* d[] | D* e[]), A) WHERE d.LEN = b.LEN AND a.x > e.LEN WITHIN 6",
    "negation in one": "SEQ(A a, (SEQ(!(B n), C? c) | D? d), A e) WHERE n.x = a.x WITHIN 8",
    "negation in both": "SEQ(A a, (SEQ(!(B n), C* c[]) | SEQ(!(C m), D? d)), A e) WHERE m.x = a.x WITHIN 8",
    "negation behind": "SEQ(A a, (SEQ(C* c[], !(B n)) | D* d[])) WHERE n.x > c.LEN AND d.LEN < 2 WITHIN 6",
    "negation of an empty one": "SEQ(A a, (B* b[] | C c), !(C n), D d) WHERE n.x > count(b[]) WITHIN 8",
}
STRATEGIES = ("skip_till_any_match", "skip_till_next_match", "strict_contiguity")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", QUERIES)
def test_every_engine_agrees(name: str, strategy: str) -> None:
    rows = [{**row, "x": place * 7 % 3} for place, row in enumerate(long_stream(5)[:40])]
    pattern, rest = QUERIES[name].split(" WHERE ")
    conditions, window = rest.split(" WITHIN ")
    query = f"PATTERN {pattern} WHERE {strategy} {{ {conditions} }} WITHIN {window}"
    assert everywhere(query, rows, runs_on="automaton") or strategy == "strict_contiguity"


def test_what_was_chosen_is_empty_and_what_was_not_is_null() -> None:
    query = "PATTERN SEQ(A a, (B* b[] | C c), D d)"
    assert found(query, "a1 d2") == ["a1 [] - d2"]
    assert found(query, "a1 c2 d3") == ["a1 - c2 d3", "a1 [] - d3"]


def test_of_several_that_may_be_empty_the_first_is_chosen() -> None:
    assert found("PATTERN SEQ(A a, (B* b[] | C* c[]), D d)", "a1 d2") == ["a1 [] - d2"]


def test_it_is_the_first_whose_conditions_hold() -> None:
    query = "PATTERN SEQ(A a, (B* b[] | C* c[]), D d) WHERE b.LEN > 0"
    assert found(query, "a1 d2") == ["a1 - [] d2"]
    assert found(f"{query} AND c.LEN > 0", "a1 d2") == []


def test_it_is_the_first_that_nothing_refutes() -> None:
    query = "PATTERN SEQ(A a, (SEQ(!(N n), C* c[]) | B* b[]), D d)"
    assert found(query, "a1 d2") == ["a1 [] - d2"]
    assert found(query, "a1 n2 d3") == ["a1 - [] d3"]
    query = "PATTERN SEQ(A a, (SEQ(C* c[], !(N n)) | B* b[])) WITHIN 5"
    assert found(query, "a1 x9") == ["a1 [] -"]
    assert found(query, "a1 n2 x9") == ["a1 - []"]


def test_aggregates_over_what_is_empty_by_choice_are_applied() -> None:
    query = "PATTERN SEQ(A a, (B* b[] | C c), D d) WHERE count(b[]) >= d.x"
    assert found(query, "a1:x=0 d2:x=1") == []
    assert found(query, "a1:x=0 c2:x=0 d3:x=1") == ["a1 - c2 d3"]


def test_totals_count_a_match_once() -> None:
    query = "PATTERN SEQ(A a, (B* b[] | C* c[]), D d) {} RETURN count(*) AS n, count(b) AS b OUTPUT AGGREGATE"
    events = [{"ts": ts, "type": kind, "x": 1} for ts, kind in enumerate("CABD")]
    for where in ("", "WHERE b.LEN < 9 AND c.LEN < 9"):
        expected = oz.match(events, query.format(where), engine="reference")
        assert oz.match(events, query.format(where), engine="automaton") == expected
        assert expected[0]["n"] == 2


@pytest.mark.parametrize("name", ["the first may not", "negation behind", "one later still"])
def test_compiled(name: str) -> None:
    rows = [{**row, "x": place * 7 % 3} for place, row in enumerate(long_stream(5)[:40])]
    everywhere(f"PATTERN {QUERIES[name]}", rows, compiled="automaton")
