"""Columns without a value, of Arrow's type of nulls, in conditions of every kind and on every engine."""

from __future__ import annotations

import pyarrow as pa
import pytest

from semantics.everywhere import everywhere

EVENTS = pa.table({"ts": range(6), "type": list("AABABB"), "x": range(6), "z": pa.nulls(6), "s": list("abcabc")})


@pytest.mark.parametrize("engine", ["scan", "automaton"])
@pytest.mark.parametrize(
    ("condition", "is_true"),
    [
        ("a.z IS NULL", True),
        ("a.z IS NOT NULL", False),
        ("a.z = b.x", False),
        ("a.z < b.z", False),
        ("NOT a.z > 1", False),
        ("a.z + b.x > 0", False),
        ("coalesce(a.z, b.x) = b.x", True),
        ("coalesce(a.z, b.s) = b.s", True),
        ("greatest(a.z, a.x) = a.x", True),
        ("a.z = b.s OR a.x >= 0", True),
        ("a.z IN (b.x, 1)", False),
        ("a.z LIKE b.s", False),
        ("CASE WHEN b.z THEN 1 ELSE 2 END = 2", True),
        ("abs(a.z) IS NULL", True),
        ("(a.z < b.s) IS NULL", True),
    ],
)
def test_conditions(condition: str, is_true: bool, engine: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 9 RETURN a.x AS a, b.x AS b, a.z"
    found = everywhere(query, EVENTS, runs_on=engine)
    assert len(found) == (8 if is_true else 0)


@pytest.mark.parametrize(
    "condition", ["count(a[].z) = 0", "sum(a[].z) IS NULL", "max(a[].z) IS NULL", "a[i].z IS NULL"]
)
def test_closures(condition: str) -> None:
    query = f"PATTERN SEQ(A+ a[], B b) WHERE {condition} AND a[1].z IS NULL WITHIN 9 RETURN count(a[].z) AS n, b.x"
    assert {row["n"] for row in everywhere(query, EVENTS, runs_on="automaton")} == {0}


def test_negation() -> None:
    query = "PATTERN SEQ(A a, !(B n), B b) WHERE n.z = a.z AND n.x < 9 WITHIN 9 RETURN a.x AS a, b.x AS b"
    assert len(everywhere(query, EVENTS, runs_on="scan")) == 8


def test_keys() -> None:
    assert everywhere("PATTERN SEQ(A a, B b) WHERE [z] WITHIN 9 RETURN a.x AS a", EVENTS, runs_on="scan") == []


@pytest.mark.parametrize("engine", ["scan", "automaton"])
def test_compiled(engine: str) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE coalesce(a.z, b.x) > 4 AND a.z IS NULL WITHIN 9 RETURN a.x AS a, b.x AS b"
    assert everywhere(query, EVENTS, compiled=engine)
