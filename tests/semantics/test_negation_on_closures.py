"""Conditions of negative components on closures: on every element, the first or last, and on aggregates."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from engines.splits import long_stream
from semantics.everywhere import everywhere
from semantics.harness import found

BETWEEN = "PATTERN SEQ(A+ a[], !(N n), C c)"
QUERIES = {
    "every element": "SEQ(A+ a[], !(B n), C c) WHERE n.x > a[i].x WITHIN 8",
    "of two closures": "SEQ(A+ a[], !(B n), C+ c[]) WHERE n.x + a[i].x > c[i].x WITHIN 6",
    "from the second": "SEQ(A+ a[], !(B n), C c) WHERE n.x > a[i].x - a[1].x WITHIN 8",
    "beside the last": "SEQ(A+ a[], !(B n), C c) WHERE n.x > a[i].x AND n.x != a[a.LEN].x WITHIN 8",
    "literals": "SEQ(A+ a[], !(B n), C c) WHERE n.x > a[i].x OR n.x = sum(a[].x) OR c.x = 1 WITHIN 8",
    "a length": "SEQ(A+ a[], !(B n), C c) WHERE n.x > a.LEN WITHIN 8",
    "a count": "SEQ(A+ a[], !(B n), C c) WHERE n.x >= count(a[]) AND count(a[].x) > 1 WITHIN 8",
    "a sum": "SEQ(A+ a[], !(B n), C c) WHERE n.x * 2 > sum(a[].x) WITHIN 8",
    "an average": "SEQ(A+ a[], !(B n), C c) WHERE n.x > avg(a[].x) WITHIN 8",
    "a deviation": "SEQ(A+ a[], !(B n), C c) WHERE n.x > stddev(a[].x) WITHIN 8",
    "extremes": "SEQ(A+ a[], !(B n), C c) WHERE n.x BETWEEN min(a[].x) AND max(a[].x) WITHIN 8",
    "texts": "SEQ(A+ a[], !(B n), C c) WHERE n.s < max(a[].s) AND n.s != a[i].s WITHIN 8",
    "distinct": "SEQ(A+ a[], !(B n), C c) WHERE n.x < count(distinct a[].s) WITHIN 8",
    "first and last": "SEQ(A+ a[], !(B n), C c) WHERE n.x > first(a[].x) AND n.s >= last(a[].s) WITHIN 8",
    "at the start": "SEQ(!(B n), A+ a[], C c) WHERE n.x > a[i].x AND n.x < sum(a[].x) WITHIN 6",
    "at the end": "SEQ(A+ a[], C c, !(B n)) WHERE n.x >= a[i].x AND n.x < count(a[]) + 2 WITHIN 6",
    "maybe empty": "SEQ(C c, A* a[], !(B n), C d) WHERE n.x > count(a[]) AND n.x > a[i].x WITHIN 6",
    "nothing to add up": "SEQ(C c, A* a[], !(B n), C d) WHERE n.x > sum(a[].x) WITHIN 6",
    "alternatives": "SEQ(C c, (A+ a[] | B b), !(B n), C d) WHERE n.x > sum(a[].x) AND n.x != a[i].x WITHIN 6",
    "optional": "SEQ(A+ a[], C? c, !(B n), C d) WHERE n.x > a[i].x + c.x WITHIN 6",
    "partitions": "SEQ(A+ a[], !(B n), C c) WHERE skip_till_next_match { [k] AND n.x > max(a[].x) } WITHIN 15",
    "positions": "SEQ(!(B n), A+ a[], C c) WHERE n.x > a[i].x WITHIN 5 EVENTS",
    "a function": "SEQ(A+ a[], !(B n), C c) WHERE upper(n.s) LIKE upper(a[i].s) OR n.s LIKE max(a[].s) WITHIN 6",
    "times": "SEQ(A+ a[], !(B n), C c) WHERE start(n) - end(a[i]) < 3 WITHIN 8",
}


def stream() -> list[dict[str, Any]]:
    rows = long_stream(3)[:32]
    return [{**row, "x": place * 7 % 5, "s": "aA"[place % 2] * (place % 3)} for place, row in enumerate(rows)]


@pytest.mark.parametrize("name", QUERIES)
def test_every_engine_agrees(name: str) -> None:
    rows = stream()
    assert everywhere(f"PATTERN {QUERIES[name]}", rows, runs_on="automaton")


def test_an_event_refutes_if_its_condition_holds_for_every_element() -> None:
    assert found(f"{BETWEEN} WHERE n.x > a[i].x", "a1:x=1 a2:x=5 n3:x=3 c4:x=0") == ["[a1 a2] c4", "[a2] c4"]
    assert found(f"{BETWEEN} WHERE n.x > a[i].x", "a1:x=1 a2:x=5 n3:x=9 c4:x=0") == []


def test_of_an_empty_closure_it_holds() -> None:
    query = "PATTERN SEQ(C c, A* a[], !(N n), D d) WHERE n.x > a[i].x"
    assert found(query, "c1:x=0 n2:x=3 d3:x=0") == []


def test_aggregates_are_of_the_whole_closure() -> None:
    assert found(f"{BETWEEN} WHERE n.x < sum(a[].x)", "a1:x=2 a2:x=2 n3:x=3 c4:x=0") == ["[a1] c4", "[a2] c4"]
    assert found(f"{BETWEEN} WHERE n.x = a.LEN", "a1 a2 n3:x=2 c4") == ["[a1] c4", "[a2] c4"]


def test_where_another_alternative_was_chosen_an_aggregate_is_not_applied() -> None:
    query = "PATTERN SEQ((A+ a[] | B b), !(N n), C c) WHERE n.x > sum(a[].x)"
    assert found(query, "a1:x=9 n2:x=3 c4:x=0") == ["[a1] - c4"]
    assert found(query, "b1:x=9 n2:x=3 c4:x=0") == []


def test_wide_numbers() -> None:
    values = [Decimal(10) ** 25 + one for one in (1, 2, 2, 2, 3)]
    columns: dict[str, Any] = {"ts": [1, 2, 3, 4, 5], "type": list("AAANC"), "d": pa.array(values)}
    for condition in ("n.d >= a[i].d", "count(distinct a[].d) = 2 AND n.d = last(a[].d)", "n.d > a[a.LEN].d"):
        everywhere(f"{BETWEEN} WHERE {condition} RETURN a[].ts AS a", pa.table(columns), runs_on="automaton")


@pytest.mark.parametrize("name", ["of two closures", "extremes", "texts", "at the end"])
def test_compiled(name: str) -> None:
    rows = stream()
    everywhere(f"PATTERN {QUERIES[name]}", rows, compiled="automaton")
