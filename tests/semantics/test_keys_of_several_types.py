"""Equivalence tests on an attribute of several types: values are equal by what they mean."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import pushed

PAIRS: dict[str, Any] = {
    "integers and floats": ([1, 2, None, 3], pa.int64(), [2.0, 1.0, 2.5, None], pa.float64()),
    "integers and decimals": ([1, 2, 2, 3], pa.int8(), [Decimal("2.00"), Decimal("1.5"), None, Decimal(3)], None),
    "decimals and floats": (
        [Decimal("0.1"), Decimal("0.25"), None, Decimal(3)],
        None,
        [0.25, 0.1, 3.0, 2.0],
        None,
    ),
    "unsigned integers": ([2**63, 2, 3, None], pa.uint64(), [2, 3, -1, 2], pa.int64()),
    "units of time": (
        [datetime(2026, 1, day) for day in (1, 2, 3, 4)],
        pa.timestamp("s"),
        [datetime(2026, 1, 2), datetime(2026, 1, 1), None, datetime(2026, 1, 4, 1)],
        pa.timestamp("ns"),
    ),
    "dates": (
        [date(2026, 1, 1), date(2026, 1, 2), None, date(2026, 1, 4)],
        pa.date32(),
        [datetime(2026, 1, 2), datetime(2026, 1, 1), None, datetime(2026, 1, 4, 1)],
        pa.timestamp("us"),
    ),
    "nothing that equals itself": (
        [1, 2, 3, 4],
        pa.int64(),
        [float("nan"), 2.0, float("inf"), -0.0],
        pa.float64(),
    ),
}


def table(values: list[Any], arrow: pa.DataType | None, times: list[int]) -> pa.Table:
    return pa.table({"ts": times, "k": pa.array(values, arrow), "x": times})


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("engine", ["scan", "automaton"])
def test_in_match(name: str, engine: str) -> None:
    left, left_type, right, right_type = PAIRS[name]
    events = {"A": table(left, left_type, [1, 2, 3, 4]), "B": table(right, right_type, [5, 6, 7, 8][: len(right)])}
    for query in (
        "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 RETURN a.x AS a, b.x AS b",
        "PATTERN SEQ(A a, B b) WHERE a.k = b.k WITHIN 9 RETURN a.x AS a, b.x AS b",
        "PATTERN SEQ(A a, B b) WHERE [k] AND [x] WITHIN 9 RETURN a.x AS a, b.x AS b",
        "PATTERN SEQ(A a, !(B n), B b) WHERE [k] WITHIN 9 RETURN a.x AS a, b.x AS b OUTPUT NON_OVERLAP",
    ):
        found = oz.match(events, query, engine=engine)
        assert found.equals(oz.match(events, query, engine="reference")), query


@pytest.mark.parametrize("engine", ["scan", "automaton"])
def test_constants(engine: str) -> None:
    events = {
        "A": table([1, 2, 2, 3], pa.int64(), [1, 2, 3, 4]),
        "B": table([2.0, 1.0, 2.0, None], None, [5, 6, 7, 8]),
    }
    for constant in ("2", "2.0", "1", "2.5"):
        query = f"PATTERN SEQ(A a, B b) WHERE [k = {constant}] RETURN a.x AS a, b.x AS b"
        found = oz.match(events, query, engine=engine)
        assert found.equals(oz.match(events, query, engine="reference")), constant


@pytest.mark.parametrize("strategy", ["skip_till_next_match", "partition_contiguity", "strict_contiguity"])
def test_in_closures(strategy: str) -> None:
    events = {
        "A": table([1, 1, 2, 1], pa.int64(), [1, 2, 3, 4]),
        "B": table([1.0, 2.0, 1.5, 1.0], None, [5, 6, 7, 8]),
        "C": table(list("xyzx"), None, [2, 3, 6, 7]),
    }
    query = f"PATTERN SEQ(A+ a[], B b) WHERE {strategy} {{ [k] }} WITHIN 9 RETURN a[].x AS a, b.x AS b"
    found = oz.match(events, query, engine="automaton")
    assert found.equals(oz.match(events, query, engine="reference"))


def test_in_batches() -> None:
    """In one table an attribute is one column: only composite events have it in another."""
    events = pa.table({"ts": range(60), "type": ["A", "B", "C"] * 20, "k": [n % 4 for n in range(60)]})
    query = """QUERY made PATTERN SEQ(A a, B b) WITHIN 4 RETURN a.k * 0.5 AS k, b.k AS x INTO T
               QUERY found PATTERN SEQ(T t, C c) WHERE [k] WITHIN 9 RETURN t.x AS t, c.ts AS c"""
    found = pushed(query, events, of="found", size=5)
    assert found == oz.match(events, query, engine="reference")["found"].to_pylist()
    assert found
