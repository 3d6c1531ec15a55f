from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import Row, found, rows, stream

PAIR = "PATTERN SEQ(A a, B b)"


@pytest.mark.parametrize("value", [5, 5.0, Decimal(5)])
def test_a_number(value: Any) -> None:
    assert found("PATTERN A a WHERE a.x > $x", "a1:x=5 a2:x=6", params={"x": value}) == ["a2"]


def test_other_values() -> None:
    events = "a1:s=Ann,flag=true a2:s=Bob,flag=false"
    assert found("PATTERN A a WHERE a.s = $name", events, params={"name": "Bob"}) == ["a2"]
    assert found("PATTERN A a WHERE a.s = $name", events, params={"name": "' OR 1 = 1 --"}) == []
    assert found("PATTERN A a WHERE a.flag = $flag", events, params={"flag": True}) == ["a1"]
    assert found("PATTERN A a WHERE a.s = $name", events, params={"name": None}) == []
    assert found("PATTERN A a WHERE coalesce($name, 'Ann') = a.s", events, params={"name": None}) == ["a1"]


def test_a_percentage() -> None:
    query = f"{PAIR} WHERE b.x < $p% * a.x"
    assert found(query, "a1:x=100 b2:x=79 b3:x=80", params={"p": 80}) == ["a1 b2"]
    query = f"{PAIR} WHERE b.x > (1 + $p%) * a.x"
    assert found(query, "a1:x=100 b2:x=125 b3:x=126", params={"p": 25}) == ["a1 b3"]


@pytest.mark.parametrize(
    ("window", "value"),
    [
        ("$T", 3_000),
        ("$T units", 3_000),
        ("$T s", 3),
        ("$T seconds", 3.0),
        ("$T min", Fraction(1, 20)),
        ("$T", timedelta(seconds=3)),
    ],
)
def test_a_window(window: str, value: Any) -> None:
    query = f"{PAIR} WITHIN {window}"
    assert found(query, "a0 b2999 b3000", params={"T": value}) == ["a0 b2999"]
    assert found(f"{query} INCLUSIVE", "a0 b2999 b3000", params={"T": value}) == ["a0 b2999", "a0 b3000"]


def test_a_window_of_a_fraction_of_a_second() -> None:
    params = {"T": timedelta(seconds=1.5)}
    assert found(f"{PAIR} WITHIN $T", "a0 b1499 b1500", params=params) == ["a0 b1499"]


def test_a_window_of_events() -> None:
    assert found(f"{PAIR} WITHIN $n EVENTS", "a1 x2 b3 b4", params={"n": 3}) == ["a1 b3"]


@pytest.mark.parametrize("values", [[1, 3], (1, 3), {1, 3}])
def test_a_list(values: Any) -> None:
    events = "a1:x=1 a2:x=2 a3:x=3"
    assert found("PATTERN A a WHERE a.x IN $values", events, params={"values": values}) == ["a1", "a3"]
    assert found("PATTERN A a WHERE a.x NOT IN $values", events, params={"values": values}) == ["a2"]


def test_a_list_of_one_and_a_list_with_null() -> None:
    events = "a1:x=1 a2:x=2"
    assert found("PATTERN A a WHERE a.x IN $values", events, params={"values": [2]}) == ["a2"]
    assert found("PATTERN A a WHERE a.x IN $values", events, params={"values": [2, None]}) == ["a2"]
    assert found("PATTERN A a WHERE a.x NOT IN $values", events, params={"values": [2, None]}) == []


def test_elements_of_a_written_list() -> None:
    assert found("PATTERN A a WHERE a.x IN ($one, 3)", "a1:x=1 a2:x=2 a3:x=3", params={"one": 1}) == ["a1", "a3"]


def test_a_length_of_time() -> None:
    query = f"{PAIR} WHERE b.ts - a.ts < $pause"
    assert found(query, "a0 b1999 b2000", params={"pause": timedelta(seconds=2)}) == ["a0 b1999"]


def test_a_moment() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    events: list[Row] = [{"ts": noon + timedelta(hours=hour), "type": "A", "eid": f"a{hour}"} for hour in range(3)]
    assert found("PATTERN A a WHERE a.ts > $t", events, params={"t": noon}) == ["a1", "a2"]
    naive = [row | {"ts": row["ts"].replace(tzinfo=None)} for row in events]
    query = "PATTERN A a WHERE a.ts > $t"
    assert found(query, naive, params={"t": noon.replace(tzinfo=None)}) == ["a1", "a2"]


def test_an_equivalence_test() -> None:
    events = "a1:name=John a2:name=Ann b3:name=Ann b4:name=John"
    assert found(f"{PAIR} WHERE [name=$who]", events, params={"who": "Ann"}) == ["a2 b3"]


def test_a_column_of_return() -> None:
    assert rows("PATTERN A a RETURN a.x * $k AS v, $label AS label", "a1:x=2", params={"k": 3, "label": "z"}) == [
        {"v": 6, "label": "z"}
    ]


def test_a_query_keeps_its_values_until_others_are_given() -> None:
    query = oz.query("PATTERN A a WHERE a.x > $x RETURN a.x", {"x": 1})
    events = [{"ts": 1, "type": "A", "x": 2}]
    assert oz.match(events, query) == [{"x": 2}]
    assert oz.match(events, query.with_params(x=5)) == []
    assert oz.match(events, query, params={"x": 5}) == []
    assert oz.match(events, query) == [{"x": 2}]


def test_a_parameter_without_a_value_is_an_error() -> None:
    with pytest.raises(oz.QueryError, match="the parameter \\$x has no value"):
        oz.match([{"ts": 1, "type": "A", "x": 1}], "PATTERN A a WHERE a.x > $x")


def test_a_float_is_read_as_it_is_written() -> None:
    query = "PATTERN SEQ(A a, B b) WITHIN $T s"
    assert found(query, "a0 b99 b100", params={"T": 0.1}) == ["a0 b99"]
    assert found(query + " INCLUSIVE", "a0 b290", params={"T": 0.29}) == ["a0 b290"]


def test_a_length_of_time_is_no_number_of_events() -> None:
    with pytest.raises(oz.QueryError, match="a whole number of events"):
        found("PATTERN A WITHIN $n EVENTS", "a1", params={"n": timedelta(hours=25)})


UNUSED = "params: 'limt' has a value, but the query has no $limt"


def test_a_value_that_no_query_uses() -> None:
    query = "QUERY q PATTERN A a WHERE a.x > $limit QUERY r PATTERN A a WITHIN $w"
    with pytest.raises(oz.QueryError) as raised:
        oz.query(query, {"limt": 1})
    assert str(raised.value) == (
        f"{UNUSED}\n  required: values for $limit, $w only\n  hint: did you mean 'limit'?"
    )
    good = oz.query(query, {"limit": 1})
    calls: list[Callable[[], Any]] = [
        lambda: good.with_params(limt=1),
        lambda: oz.match(stream("a1:x=5"), good, params={"w": 5, "limt": 1}),
        lambda: oz.matcher(
            good, pa.schema({"ts": "int64", "type": "string", "x": "int64"}), params={"w": 5, "limt": 1}
        ),
        lambda: oz.match([], good, params={"limt": 1}),
    ]
    for call in calls:
        with pytest.raises(oz.QueryError, match=re.escape(UNUSED)):
            call()
    with pytest.raises(oz.QueryError, match="required: no values: there are no parameters"):
        oz.query("PATTERN A a", {"x": 1})


@pytest.mark.parametrize(
    "clause",
    [
        "WHERE a.x > $p",
        "WHERE a.x > $p% * 2",
        "WHERE a.x IN ($p, 1)",
        "WHERE a.x IN $p",
        "WHERE [x = $p]",
        "WITHIN $p",
        "WITHIN $p EVENTS",
        "RETURN a.x + $p AS y",
        "WHERE a.x BETWEEN 1 AND $p",
        "WHERE NOT (a.x = 1 OR -$p > a.x)",
    ],
)
def test_a_value_is_used_wherever_a_parameter_may_be(clause: str) -> None:
    assert oz.query(f"PATTERN A a {clause}", {"p": 1}).params == {"p": 1}


def test_values_are_merged() -> None:
    query = oz.query("PATTERN A a WHERE a.x > $p AND a.x < $q").with_params(p=1).with_params(q=3)
    assert oz.match(stream("a1:x=2 a2:x=4"), query.with_params(p=3, q=5))[0]["a"]["x"] == 4
