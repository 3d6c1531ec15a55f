"""What no kernel can say of several events is called from it: engine and result stay the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical import functions
from semantics.everywhere import everywhere

N = 12
WIDE = [Decimal(10) ** 40 * (n % 5) + Decimal("0.25") for n in range(N)]
COLUMNS: dict[str, Any] = {
    "ts": pa.array(range(N), pa.timestamp("s", "Europe/Madrid")),
    "type": list("ABCABCABCABC"),
    "x": [None, *range(1, N)],
    "y": [n / 2 for n in range(N)],
    "s": ["ab", "a%", None, "b", "_b", "B", "aB", "ab", "", "x", "%", "é"],
    "u": pa.array([2**64 - 1 - n if n % 2 else n for n in range(N)], pa.uint64()),
    "d": pa.array([Decimal(n % 4) / 4 for n in range(N)], pa.decimal128(10, 2)),
    "w": pa.array(WIDE, pa.decimal256(60, 2)),
    "l": pa.array([[n, n] if n % 2 else None for n in range(N)], pa.list_(pa.int64())),
    "day": pa.array(range(N), pa.date32()),
}
EVENTS = pa.table(COLUMNS)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_registered", {})
    oz.register_function("near", lambda x, y: abs(x - y) <= 4, returns="boolean")
    oz.register_function("joined", lambda x, y: f"{x}{y}", returns="string")
    oz.register_function("total", lambda x, y: float(x) + float(y), returns="float")
    oz.register_function("longer", lambda x, y: len(x) + len(y) > 3, returns="boolean")


@pytest.mark.parametrize("engine", ["scan", "automaton"])
@pytest.mark.parametrize(
    "condition",
    [
        "a.s LIKE b.s",
        "substring(a.s, b.x - 3) = b.s OR b.x > 5",
        "near(a.x, b.x)",
        "near(a.x, b.x) AND near(b.x, c.x) AND near(a.x, c.x)",
        "joined(a.s, b.s) < c.s",
        "joined(a.s, b.s) = joined(a.s, c.s) OR a.x > 3",
        "total(a.d, b.u) > total(b.d, a.u)",
        "total(a.w, b.w) >= 0",
        "longer(a.l, b.l) IS NULL",
        "longer(a.l, c.l) OR a.x > 3",
        "a.w < b.w",
        "a.u < b.y OR a.u >= c.y",
        "coalesce(a.u, b.u) > c.u",
        "least(a.u, c.u) != b.u",
        "CASE WHEN a.x > 3 THEN a.d ELSE b.d END < c.d",
        "hour(a.ts + (c.ts - b.ts)) = 1",
        "date_trunc('day', b.ts + (b.ts - a.ts)) = date_trunc('day', c.ts)",
        "year(a.day + (c.day - b.day)) = 1970",
        "a.u > a.y AND b.w > 1",
        "total(a.x, 1) < total(b.x, c.x) + a.x",
        "upper(joined(a.s, b.s)) IS NOT NULL AND a.x < b.x",
    ],
)
def test_of_several_events(condition: str, engine: str) -> None:
    query = f"PATTERN SEQ(A a, B b, C c) WHERE {condition} WITHIN 8 RETURN a.y AS a, b.y AS b, c.y AS c"
    assert everywhere(query, EVENTS, runs_on=engine)


@pytest.mark.parametrize(
    "condition",
    [
        "near(a[i].x, a[i-1].x)",
        "near(count(a[]), b.x)",
        "total(max(a[].u), b.x) > 9",
        "min(a[].u) < b.u",
        "sum(a[].u) IS NULL OR avg(a[].u) > b.y",
        "last(a[].u) != first(a[].u) OR a.LEN = 1",
        "joined(min(a[].s), a[1].s) >= b.s",
        "longer(last(a[].l), b.l)",
        "total(a[1].w, b.w) >= 0",
        "stddev(a[].u) > 0",
    ],
)
def test_of_closures(condition: str) -> None:
    query = f"PATTERN SEQ(A+ a[], B b) WHERE {condition} WITHIN 8 RETURN a[].y AS a, b.y AS b, max(a[].u) AS u"
    assert everywhere(query, EVENTS, runs_on="automaton")


def test_in_negation() -> None:
    for gap in ("A a, !(C n), B b", "A a, B b, !(C n)"):
        query = f"PATTERN SEQ({gap}) WHERE near(n.x, a.x) AND n.s LIKE b.s WITHIN 8 RETURN a.y AS a, b.y AS b"
        assert everywhere(query, EVENTS, runs_on="scan")


def test_what_may_not_be_there() -> None:
    query = "PATTERN SEQ(A a, C? o, B b) WHERE near(o.x, b.x) WITHIN 8 RETURN a.y AS a, o.y AS o, b.y AS b"
    assert {row["o"] is None for row in everywhere(query, EVENTS, runs_on="automaton")} == {True, False}


def test_types_that_lack_an_attribute() -> None:
    table = EVENTS.drop_columns(["type"])
    events = {
        "A": table.filter(pa.compute.equal(EVENTS["type"], "A")),
        "B": table.filter(pa.compute.equal(EVENTS["type"], "B")).drop_columns(["x"]),
    }
    for engine in ("scan", "automaton"):
        query = "PATTERN SEQ(A a, ANY(A, B) b) WHERE near(a.x, b.x) AND b.x > a.x RETURN a.y AS a, b.y AS b"
        found = oz.match(events, query, engine=engine)
        assert found.equals(oz.match(events, query, engine="reference"))
        assert len(found) > 6


def test_large_tables_stay_with_their_engine() -> None:
    count = 30_000
    events = pa.table({"ts": range(count), "type": ["A", "B"] * (count // 2), "x": [n % 7 for n in range(count)]})
    query = "PATTERN SEQ(A a, B b) WHERE near(a.x, b.x) AND [x] WITHIN 8 RETURN a.ts AS a, b.ts AS b"
    assert oz.match(events, query, engine="scan").equals(oz.match(events, query, engine="automaton"))


@pytest.mark.parametrize(
    "condition",
    [
        "count(distinct a[].d) = 2",
        "count(distinct a[].d) < a.LEN OR count(distinct a[].s) = 3",
        "count(distinct a[].w) >= 2 AND count(distinct a[].u) >= 2",
        "a[i].x > count(distinct a[..i-1].s)",
        "count(distinct a[].y) = a.LEN",
        "count(distinct a[].f) = 2",
    ],
)
@pytest.mark.parametrize("strategy", ["skip_till_any_match", "skip_till_next_match"])
def test_the_number_of_distinct_values(condition: str, strategy: str) -> None:
    events = EVENTS.append_column("f", pa.array([0.0, -0.0, float("nan"), float("nan"), 1.0, None] * 2))
    query = f"PATTERN SEQ(A+ a[], B b) WHERE {strategy} {{ {condition} }} WITHIN 11 RETURN a[].y AS a, b.y AS b"
    assert everywhere(query, events, runs_on="automaton")
