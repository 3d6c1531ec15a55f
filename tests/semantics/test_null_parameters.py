"""Parameters of a set that are null in all queries, and so of no type: what they are compared with is unknown."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

A, B = oz.stream("A"), oz.stream("B").rename(y="x")
EVENTS = pa.table({"ts": range(8), "type": list("ABABABAB"), "x": range(8), "s": list("abcdefgh")})
NULLS = pa.table({"id": [1, 2], "v": pa.nulls(2), "w": [1, 3]})
UNKNOWN: dict[str, Any] = {
    "an integer": A.where("x > $v"),
    "a text": A.where("s = $v"),
    "a duration": A.next(B.select("y"), where="duration() <= $v"),
    "arithmetic": A.where("x > $v + 1"),
    "arithmetic of floats": A.where("x > $v * 2.5"),
    "beside others": A.where("x > $v AND x > $w"),
    "a text query": "PATTERN A a; B b WHERE b.x >= $v AND a.x >= $w",
}


@pytest.mark.parametrize("engine", ["auto", "automaton", "reference"])
@pytest.mark.parametrize("name", UNKNOWN)
def test_nothing_is_found(name: str, engine: str) -> None:
    queries = oz.queries(UNKNOWN[name], NULLS)
    assert oz.match(EVENTS, queries, engine=engine).num_rows == 0
    matcher = oz.matcher(queries, EVENTS.schema, engine=engine)
    assert matcher.push(EVENTS).num_rows == matcher.finish().num_rows == 0


def test_what_is_asked_of_others_counts() -> None:
    queries = oz.queries(A.where("x > $v OR x = 2 * $w").select("x"), NULLS)
    assert [(row["id"], row["x"]) for row in oz.match(EVENTS, queries).to_pylist()] == [(1, 2), (2, 6)]
    queries = oz.queries("PATTERN A a WHERE a.x = 2 * coalesce($v, $w) RETURN a.x, $v AS v", NULLS)
    found = oz.match(EVENTS, queries).to_pylist()
    assert found == [{"id": 1, "x": 2, "v": None}, {"id": 2, "x": 6, "v": None}]


def test_rows_of_dicts() -> None:
    assert oz.match(EVENTS, oz.queries(A.where("x > $v"), [{"id": 1, "v": None}])).num_rows == 0


def test_a_value_that_comes_later_needs_a_type() -> None:
    matcher = oz.matcher(oz.queries(A.where("x > $v"), NULLS.select(["id", "v"])), EVENTS.schema)
    matcher.add(3, {"v": None})
    with pytest.raises(oz.OuzelError) as caught:
        matcher.add(4, {"v": 2})
    assert str(caught.value) == (
        "add: 'v': required null, as all values of the set are; got 2\n"
        "  hint: give the column 'v' of oz.queries(…) a type, such as pa.int64()"
    )
