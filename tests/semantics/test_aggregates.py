from __future__ import annotations

from typing import Any

import pytest

from semantics.harness import found, rows

FUNCTIONS = ["sum", "avg", "min", "max", "first", "last"]


def value(expression: str, events: str, pattern: str = "SEQ(A{3} a[])") -> Any:
    (row,) = rows(f"PATTERN {pattern} RETURN {expression} AS v", events)
    return row["v"]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("count(a[])", 3),
        ("count(a[].x)", 3),
        ("sum(a[].x)", 10),
        ("avg(a[].x)", 10 / 3),
        ("min(a[].x)", 1),
        ("max(a[].x)", 7),
        ("first(a[].x)", 2),
        ("last(a[].x)", 1),
        ("SUM(a[].x)", 10),
        ("sum(a.x)", 10),
        ("max(a[].x) - min(a[].x)", 6),
    ],
)
def test_aggregates_over_all_elements(expression: str, expected: Any) -> None:
    assert value(expression, "a1:x=2 a2:x=7 a3:x=1") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("count(a[])", 3),
        ("count(a[].x)", 2),
        ("sum(a[].x)", 8),
        ("avg(a[].x)", 4.0),
        ("min(a[].x)", 2),
        ("max(a[].x)", 6),
    ],
)
def test_nulls_do_not_count(expression: str, expected: Any) -> None:
    assert value(expression, "a1:x=null a2:x=2 a3:x=6") == expected


def test_first_and_last_are_those_of_the_first_and_last_element_null_or_not() -> None:
    events = "a1:x=null a2:x=2 a3:x=null"
    assert value("first(a[].x)", events) is value("a[1].x", events) is None
    assert value("last(a[].x)", events) is value("a[a.LEN].x", events) is None


@pytest.mark.parametrize("function", FUNCTIONS)
def test_aggregates_of_nulls_only_are_null(function: str) -> None:
    assert value(f"{function}(a[].x)", "a1:x=null a2:x=null a3:x=null b4:x=1") is None
    assert value("count(a[].x)", "a1:x=null a2:x=null a3:x=null b4:x=1") == 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_aggregates_of_nothing_are_null(function: str) -> None:
    assert value(f"{function}(a[].x)", "b1:x=1", "SEQ(A* a[], B b)") is None


def test_there_are_none_to_count_in_nothing() -> None:
    assert value("count(a[])", "b1:x=1", "SEQ(A* a[], B b)") == 0
    assert value("count(a[].x)", "b1:x=1", "SEQ(A* a[], B b)") == 0


def test_an_average_is_a_float_and_a_sum_keeps_its_type() -> None:
    assert isinstance(value("avg(a[].x)", "a1:x=2 a2:x=2 a3:x=2"), float)
    assert isinstance(value("sum(a[].x)", "a1:x=2 a2:x=2 a3:x=2"), int)
    assert value("sum(a[].x)", "a1:x=0.5 a2:x=0.25 a3:x=1.0") == 1.75


def test_text_has_an_order() -> None:
    events = "a1:s=pear a2:s=apple a3:s=plum"
    assert [value(f"{f}(a[].s)", events) for f in ("min", "max", "first", "last")] == [
        "apple",
        "plum",
        "pear",
        "plum",
    ]


def test_a_sum_beyond_64_bits_is_null() -> None:
    most = 2**63 - 1
    assert value("sum(a[].x)", f"a1:x={most} a2:x=1 a3:x=0") is None
    assert value("sum(a[].x)", f"a1:x={most} a2:x=1 a3:x=-1") == most


def test_a_condition_on_an_aggregate_that_is_null_is_not_true() -> None:
    query = "PATTERN SEQ(A{2} a[]) WHERE"
    events = "a1:x=null a2:x=null b3:x=1"
    assert found(f"{query} sum(a[].x) >= 0", events) == []
    assert found(f"{query} NOT (sum(a[].x) >= 0)", events) == []
    assert found(f"{query} sum(a[].x) IS NULL", events) == ["[a1 a2]"]


def test_aggregates_over_a_grouping_closure() -> None:
    events = "a1 b2:x=2 b3:x=7 c4"
    assert value("sum(B.x)", events, "A; B+; C") == 9
    assert value("count(B)", events, "A; B+; C") == 2
    assert value("avg(b.x)", events, "A; B+ b; C") == 4.5


def test_aggregates_so_far() -> None:
    query = "PATTERN SEQ(A+ a[]) WHERE strict_contiguity {{ a[i].x > {}(a[..i-1].x) }}"
    events = "a1:x=3 a2:x=5 a3:x=4 a4:x=6"
    ended = {f: [m for m in found(query.format(f), events) if m.startswith("[a1")] for f in FUNCTIONS[:4]}
    assert ended == {
        "sum": ["[a1 a2]", "[a1]"],  # 4 is not above 3 + 5
        "avg": ["[a1 a2]", "[a1]"],  # 4 is not above 4
        "min": ["[a1 a2 a3 a4]", "[a1 a2 a3]", "[a1 a2]", "[a1]"],
        "max": ["[a1 a2]", "[a1]"],
    }
