"""Functions of the user's own: what they are given, what they return, and what is said when they fail."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical import functions
from semantics.everywhere import everywhere

SEEN: list[Any] = []


def see(*values: Any) -> bool:
    SEEN.extend(values)
    return True


def boom(value: Any) -> float:
    if value in (13, "thirteen"):
        raise ValueError("no luck")
    return 1.5


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_registered", {})
    SEEN.clear()
    oz.register_function("see", see, returns="boolean")
    oz.register_function("boom", boom, returns="float")


def seen(value: Any, arrow: pa.DataType | None = None) -> Any:
    events = pa.table({"ts": [1], "type": ["A"], "x": pa.array([value], arrow)})
    oz.match(events, "PATTERN A a WHERE see(a.x)")
    (only,) = SEEN
    return only


MOMENT = datetime(2024, 7, 1, 12, 30, 15, 123_456)


@pytest.mark.parametrize(
    "value",
    [
        Decimal("7.10"),
        time(10, 30, 0, 5),
        MOMENT,
        date(2024, 2, 29),
        timedelta(days=-1, microseconds=7),
        5,
        2.5,
        "x",
        True,
    ],
)
def test_values_are_as_python_has_them(value: Any) -> None:
    only = seen(value)
    assert only == value
    assert type(only) is type(value)


def test_zones() -> None:
    berlin = MOMENT.replace(tzinfo=ZoneInfo("Europe/Berlin"))
    only = seen(berlin, pa.timestamp("us", "Europe/Berlin"))
    assert (only, only.hour, only.utcoffset()) == (berlin, 12, timedelta(hours=2))
    only = seen_again(MOMENT.replace(tzinfo=UTC), pa.timestamp("ms", "+05:30"))
    assert only.utcoffset() == timezone(timedelta(hours=5, minutes=30)).utcoffset(None)


def seen_again(value: Any, arrow: pa.DataType) -> Any:
    SEEN.clear()
    return seen(value, arrow)


def test_nanoseconds_are_cut_to_microseconds() -> None:
    assert seen(1_999, pa.timestamp("ns")) == datetime(1970, 1, 1, microsecond=1)
    assert seen_again(-1, pa.timestamp("ns")) == datetime(1969, 12, 31, 23, 59, 59, 999_999)
    assert seen_again(1_999, pa.duration("ns")) == timedelta(microseconds=1)


def test_what_is_computed() -> None:
    events = pa.table({"ts": [MOMENT, MOMENT + timedelta(hours=1)], "type": list("AB")})
    query = "PATTERN SEQ(A a, B b) WHERE see(b.ts - a.ts) AND see(start(a)) AND see(date_trunc('day', b.ts))"
    assert oz.match(events, query).num_rows == 1
    assert set(map(repr, SEEN)) == set(map(repr, (timedelta(hours=1), MOMENT, datetime(2024, 7, 1))))


def test_null_in_null_out_and_null_returned() -> None:
    oz.register_function("nothing", lambda _value: None, returns="integer")
    events = pa.table({"ts": [1, 2], "type": list("AA"), "x": [1, None]})
    found = oz.match(events, "PATTERN A a RETURN nothing(a.x) AS n, see(a.x) AS s")
    assert found.to_pylist() == [{"n": None, "s": True}, {"n": None, "s": None}]
    assert SEEN == [1]


@pytest.mark.parametrize(
    ("returns", "value", "expected"),
    [
        ("integer", np.int32(5), 5),
        ("float", 5, 5.0),
        ("float", np.float32(0.5), 0.5),
        ("boolean", np.bool_(True), True),
        ("string", np.str_("x"), "x"),
        ("integer", 2**70, None),
    ],
)
def test_results(returns: str, value: Any, expected: Any) -> None:
    oz.register_function("give", lambda _value: value, returns=returns)
    events = pa.table({"ts": [1], "type": ["A"], "x": [1], "s": ["q"]})
    assert oz.match(events, "PATTERN A a RETURN give(a.x) AS v, give(a.s) AS w").to_pylist() == [
        {"v": expected, "w": expected}
    ]


EVENTS = pa.table({"ts": [1, 2, 3], "type": list("AAB"), "x": [1, 13, 5], "s": ["one", "thirteen", "b"]})


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B b) WHERE boom(a.x) > 1",
        "PATTERN SEQ(A a, B b) WHERE boom(a.s) > 1",
        "PATTERN SEQ(A a, B b) WHERE a.x < 99 RETURN boom(a.x) AS v",
        "PATTERN SEQ(A a, B b) WHERE a.x < 99 RETURN boom(a.s) AS v",
        "PATTERN SEQ(A+ a[], B b) WHERE boom(a[i].x) > 1",
    ],
)
def test_an_error_names_function_query_and_event(query: str, engine: str) -> None:
    with pytest.raises(oz.FunctionError) as error:
        oz.match(EVENTS, f"QUERY unlucky {query}", engine=engine)
    lines = str(error.value).splitlines()
    assert lines[0] == "function 'boom' in query 'unlucky' failed: ValueError: no luck"
    assert lines[1].startswith("  line 1, column ")
    assert "^^^^^^^" in lines[3]
    assert lines[4] in ("  called with: 13", "  called with: 'thirteen'")
    assert lines[5] == "  event: a, of type A, at 2"
    assert isinstance(error.value.__cause__, ValueError)


def test_in_a_matcher() -> None:
    for condition in ("boom(a.s) > 1", "boom(a.x) > 1"):
        matcher = oz.matcher(f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 9", EVENTS.schema)
        assert matcher.push(EVENTS.slice(0, 1)).num_rows == 0
        with pytest.raises(oz.FunctionError, match="'boom' in query 'query1' failed: ValueError") as error:
            matcher.push(EVENTS.slice(1), watermark=9)
        assert " at 2" in str(error.value)


def test_times_in_messages() -> None:
    events = pa.table({"ts": pa.array([MOMENT], pa.timestamp("us", "UTC")), "type": ["A"], "x": [13]})
    with pytest.raises(oz.FunctionError, match=r"event: a, of type A, at 2024-07-01 12:30:15\.123456\+00:00"):
        oz.match(events, "PATTERN A a RETURN boom(a.x)")


def test_one_that_other_conditions_exclude_does_no_harm() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE a.x < 9 AND boom(a.s) > 1 RETURN a.x"
    assert oz.match(EVENTS, query).to_pylist() == [{"x": 1}]


def test_results_of_another_type() -> None:
    oz.register_function("lie", lambda _value: "text", returns="float")
    with pytest.raises(oz.FunctionError) as error:
        oz.match(EVENTS, "PATTERN A a RETURN lie(a.x)")
    assert str(error.value).startswith("function 'lie' in query 'query1' returned 'text'")
    assert "required: float, as it was registered; got str" in str(error.value)


def test_a_time_that_python_does_not_have() -> None:
    with pytest.raises(oz.FunctionError, match="OverflowError"):
        seen(2**62, pa.timestamp("s"))


def test_on_every_engine() -> None:
    oz.register_function("vowels", lambda text: sum(one in "aeiou" for one in text), returns="integer")
    events = pa.table({"ts": [1, 2, 3, 4], "type": list("AABB"), "s": ["one", "why", None, "three"]})
    query = "PATTERN SEQ(A a, B b) WHERE vowels(a.s) > 0 AND vowels(b.s) = 2 WITHIN 9 RETURN a.s, vowels(a.s) AS n"
    assert everywhere(query, events, runs_on="scan") == [{"s": "one", "n": 2}]


@pytest.mark.parametrize("engine", ["scan", "automaton", "reference"])
@pytest.mark.parametrize("pattern", ["SEQ(A a, B b)", "SEQ(A a, !(B n), B b)"])
def test_an_error_over_several_events_names_all_of_them(pattern: str, engine: str) -> None:
    oz.register_function("both", lambda x, y: boom(x) > y, returns="boolean")
    with pytest.raises(oz.FunctionError) as error:
        oz.match(EVENTS, f"PATTERN {pattern} WHERE both(a.x, b.x) WITHIN 9", engine=engine)
    lines = str(error.value).splitlines()
    assert lines[0] == "function 'both' in query 'query1' failed: ValueError: no luck"
    assert lines[4:] == ["  called with: 13, 5", "  event: a, of type A, at 2; b, of type B, at 3"]
    assert isinstance(error.value.__cause__, ValueError)


@pytest.mark.parametrize("engine", ["scan", "automaton", "reference"])
@pytest.mark.parametrize(
    "condition",
    [
        "a.x < 9 AND boom(a.s) > 1",
        "a.x > 9 OR boom(a.s) > 1",
        "a.s = b.s OR a.x > 9 OR boom(a.x) < b.x",
        "b.x > 99 AND boom(a.x) + b.x > 1",
    ],
)
def test_errors_are_raised_only_where_values_are_asked_for(condition: str, engine: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} RETURN a.x"
    rows = {"b.x > 99 AND boom(a.x) + b.x > 1": 0, "a.x < 9 AND boom(a.s) > 1": 1}.get(condition, 2)
    assert oz.match(EVENTS, query, engine=engine).num_rows == rows


def test_functions_of_one_event_are_called_once_for_events_that_may_be_it() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE see(a[i].x) = see(a[1].x) AND a[i].x < 9 AND see(b.x) WITHIN 9"
    oz.match(EVENTS, query, engine="automaton")
    assert sorted(SEEN) == [1, 5]


def test_limits_and_functions_over_several_events() -> None:
    events = pa.table({"ts": range(300), "type": ["A"] * 300, "x": range(300)})
    with pytest.raises(oz.OuzelError, match="more than 100 matches"):
        oz.match(events, "PATTERN SEQ(A a, A b) WHERE see(a.x, b.x)", limits=oz.Limits(max_matches=100))
