"""The scan finds what the reference matcher finds, compiled and uncompiled."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.sequences import SEQUENCES, TESTED, TYPES
from ouzel.physical.compiled import kernel
from ouzel.physical.scan.shape import EQUIVALENCES
from ouzel.testing.strategies import RandomQuery, streams

Events = list[dict[str, Any]]


def agree(query: str, events: Events, equivalence: str = "combined", **options: Any) -> None:
    scanned = oz.match(events, query, engine="scan", tuning={"equivalence": equivalence}, **options)
    assert scanned == oz.match(events, query, engine="reference", **options)


@settings(max_examples=150)
@given(SEQUENCES, streams(max_events=14))
def test_random_sequences(query: RandomQuery, events: Events) -> None:
    agree(query.text, events, types=TYPES)


@settings(max_examples=3)
@given(SEQUENCES, streams(max_events=14))
def test_random_sequences_compiled(query: RandomQuery, events: Events) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        agree(query.text, events, types=TYPES)


@settings(max_examples=150)
@given(st.one_of(SEQUENCES, TESTED), streams(max_events=14), st.sampled_from(EQUIVALENCES))
def test_equivalence_tests_evaluated_in_every_way(query: RandomQuery, events: Events, equivalence: str) -> None:
    agree(query.text, events, equivalence, types=TYPES)


@pytest.mark.parametrize("equivalence", EQUIVALENCES)
@pytest.mark.parametrize("negative", ["", "!(C n), "])
def test_equivalence_tests_evaluated_in_every_way_compiled(equivalence: str, negative: str) -> None:
    events = [
        {"ts": n // 3, "type": "ABCAB"[n % 5], "k": n % 4 or None, "x": n * 7 % 3, "y": n * 5 % 4, "eid": str(n)}
        for n in range(60)
    ]
    query = f"""PATTERN SEQ(A a, {negative}B b, A c) WHERE [k, x, y] AND a.eid != c.eid WITHIN 15
        RETURN a.eid AS a, b.eid AS b, c.eid AS c"""
    with patch.object(kernel, "COMPILE_FROM", 0):
        agree(query, events, equivalence)


@pytest.mark.parametrize("equivalence", ["", "hashed"])
def test_an_unknown_equivalence_is_an_error(equivalence: str) -> None:
    message = f"equivalence: required one of combined, dynamic, multi, selection; got '{equivalence}'"
    with pytest.raises(oz.OuzelError, match=message):
        agree("PATTERN SEQ(A a, B b) WHERE [k]", example(), equivalence)


def test_keys_that_are_equal_are_the_same_key() -> None:
    values = [0.0, -0.0, float("nan"), float("nan"), None, None, 1.5, 1.5]
    events = [{"ts": n, "type": "AB"[n % 2], "f": value} for n, value in enumerate(values)]
    assert oz.match(events, "PATTERN SEQ(A a, B b) WHERE [f] RETURN a.ts AS p, b.ts AS q", engine="scan") == [
        {"p": 0, "q": 1},
        {"p": 6, "q": 7},
    ]


EXPRESSIONS = (
    "a.x + b.x > 3",
    "a.x * b.y - 2 * a.y <= b.x",
    "a.x / b.x > 0.5",
    "(a.x - b.x) % 3 = -1",
    "-a.x < b.x AND abs(a.x - b.y) >= 1",
    "sqrt(a.x) < ln(b.x) + exp(a.y)",
    "floor(a.f) = ceil(b.f) OR a.f % 1.5 = 0",
    "NOT (a.f < b.f)",
    "a.x IS NULL OR b.x IS NOT NULL",
    "a.x IN (1, 2, NULL, b.x)",
    "a.x NOT IN (1, b.y)",
    "a.x BETWEEN b.x AND b.y",
    "CASE WHEN a.x > b.x THEN a.f WHEN a.x = b.x THEN b.x ELSE NULL END > 0",
    "coalesce(a.x, b.x, 0) = greatest(a.y, b.y)",
    "least(a.f, b.x, 1) < 1",
    "a.s = b.s",
    "a.s != 'red' AND lower(b.s) = 'red'",
    "a.s LIKE 'r%' AND upper(substring(b.s, 2, 2)) IN ('ED', 'LU')",
    "a.s > 'green' OR b.s IS NULL",
    "a.flag = b.flag OR NOT a.flag",
    "a.big + b.big > 0",
    "a.big * b.x < 0 OR a.big - b.big IS NULL",
    "start(b) - end(a) > 2",
    "b.ts - a.ts < 3 ms",
)


def example() -> Events:
    values = [None, -3, -1, 0, 1, 2, 7]
    floats = [None, -1.5, 0.0, 0.5, 2.0, float("nan"), float("inf")]
    texts = [None, "red", "RED", "green", "blue", ""]
    bigs = [None, 2**63 - 1, -(2**63), 2**62, -(2**62), 3]
    return [
        {
            "ts": n // 2,
            "type": "AB"[n % 2 if n % 5 else 0],
            "k": n % 3,
            "x": values[n % 7],
            "y": values[(n * 3 + 1) % 7],
            "f": floats[(n * 2) % 7],
            "s": texts[(n * 5) % 6],
            "big": bigs[(n * 7) % 6],
            "flag": [True, False, None][n % 3],
        }
        for n in range(60)
    ]


@pytest.mark.parametrize("condition", EXPRESSIONS)
@pytest.mark.parametrize("least", [10**9, 0], ids=["uncompiled", "compiled"])
def test_every_function_agrees_with_the_interpreter(condition: str, least: int) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 9 RETURN a.ts AS p, b.ts AS q, a.x AS x, b.x AS y"
    with patch.object(kernel, "COMPILE_FROM", least):
        agree(query, example())


@pytest.mark.parametrize("least", [10**9, 0], ids=["uncompiled", "compiled"])
def test_returned_expressions_agree(least: int) -> None:
    query = """PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9
        RETURN a.x + b.x AS sum, a.x * b.big AS product, a.x / b.x AS quotient, a.s = b.s AS same,
               upper(a.s) AS text, start(a) AS s, b.ts - a.ts AS length, a.x > b.x OR a.flag AS either"""
    with patch.object(kernel, "COMPILE_FROM", least):
        agree(query, example())


def test_explain_says_which_engine_and_why() -> None:
    assert "engine      scan" in oz.query("PATTERN SEQ(A a, !(B b), C c) WITHIN 5").explain()
    assert "engine      automaton" in oz.query("PATTERN SEQ(A+ a[], B b)").explain()
    text = oz.query("PATTERN A & B").explain()
    assert "engine      tree: " in text
    assert "not scan: a scan takes single events in sequence\n" in text
    assert "not automaton: an automaton takes events in sequence, not & or grouping closures\n" in text


def test_an_engine_that_cannot_run_a_query_says_why() -> None:
    with pytest.raises(oz.OuzelError, match="the engine scan cannot run this query: a scan takes single"):
        oz.match([{"ts": 1, "type": "A"}], "PATTERN SEQ(A+ a[], A b)", engine="scan")


@pytest.mark.parametrize("engine", ["scan", "automaton", "reference"])
def test_times_as_far_apart_as_can_be(engine: str) -> None:
    events = [{"ts": -(2**63) + 1, "type": "A"}, {"ts": 2**63 - 2, "type": "B"}]
    assert oz.match(events, "PATTERN SEQ(A a, B b) WITHIN 5", engine=engine) == []
    assert len(oz.match(events, "PATTERN SEQ(A a, B b)", engine=engine)) == 1
