"""Texts are ordered by code points, on every engine: events among each other, in aggregates, and in batches."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere, pushed

# in this order by code points: in UTF-16 the last one would come before the one before it
IN_ORDER = ["", "A", "B", "a", "aa", "b", "ä", "ﬁ", "😀"]
NAMES = ["b", "B", "a", None, "ä", "aa", "", "😀", "ﬁ", "A", "b", "a"]
EVENTS = pa.table({"ts": range(12), "type": list("ABABABABABAB"), "s": NAMES, "t": ["a", "b"] * 6})


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_of_two_events(sign: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE a.s {sign} b.s WITHIN 9 RETURN a.s AS a, b.s AS b"
    found = everywhere(query, EVENTS, runs_on="scan")
    for row in found:
        one, other = IN_ORDER.index(row["a"]), IN_ORDER.index(row["b"])
        assert {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}[sign]
    assert found


@pytest.mark.parametrize("engine", ["scan", "automaton"])
@pytest.mark.parametrize(
    "condition",
    [
        "b.s BETWEEN a.s AND 'z'",
        "a.s BETWEEN 'A' AND b.s",
        "least(a.s, b.s) = 'a'",
        "greatest(a.s, b.s, 'B') < 'b'",
        "CASE WHEN a.ts > 3 THEN a.s ELSE b.s END < a.t",
        "coalesce(a.s, b.s) >= b.t",
        "NOT a.s < b.s",
        "lower(a.s) < upper(b.s)",
        "substring(b.s, 1, 1) >= substring(a.s, 1, 1)",
        "a.s < 'b' AND b.s > 'B'",
        "a.s < NULL OR a.s > b.s",
    ],
)
def test_in_expressions(condition: str, engine: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 5 RETURN a.ts AS a, b.ts AS b"
    assert everywhere(query, EVENTS, runs_on=engine)


@pytest.mark.parametrize(
    "condition",
    [
        "a[i].s > a[i-1].s",
        "a[i].s >= min(a[..i-1].s)",
        "b.s < max(a[].s)",
        "min(a[].s) < b.s",
        "first(a[].s) < last(a[].s)",
        "a[1].s <= b.s",
        "max(a[].s) = b.s OR b.s < a[a.LEN].s",
    ],
)
def test_of_closures(condition: str) -> None:
    query = f"PATTERN SEQ(A+ a[], B b) WHERE {condition} WITHIN 6 RETURN a[].ts AS a, b.ts AS b, min(a[].s) AS s"
    assert everywhere(query, EVENTS, runs_on="automaton")


def test_in_negation() -> None:
    for gap in ("A a, !(A n), B b", "A a, B b, !(A n)"):
        query = f"PATTERN SEQ({gap}) WHERE n.s > a.s WITHIN 4 RETURN a.ts AS a, b.ts AS b"
        assert everywhere(query, EVENTS, runs_on="scan")


@pytest.mark.parametrize("engine", ["scan", "automaton"])
def test_compiled(engine: str) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE a.s < b.s AND least(a.s, b.s, 'b') > 'A' WITHIN 9 RETURN a.ts, b.ts AS b"
    assert everywhere(query, EVENTS, compiled=engine)


def test_the_least_of_a_closure_compiled() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE max(a[].s) > b.s WITHIN 5 RETURN a[].ts AS a, min(a[].s) AS s"
    assert everywhere(query, EVENTS, compiled="automaton")


def test_texts_that_come_later_find_their_places() -> None:
    names = [f"{(7 * n) % 101:03}" for n in range(400)]
    events = pa.table({"ts": range(400), "type": ["A", "B"] * 200, "s": names})
    query = "PATTERN SEQ(A a, B b) WHERE a.s < b.s WITHIN 8 RETURN a.ts AS a, b.ts AS b"
    expected = oz.match(events, query, engine="reference").to_pylist()
    for restored in (False, True):
        assert pushed(query, events, size=10, restored=restored) == expected
