"""Registered functions that take arrays: what they are given and return, and what is said when they fail."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.logical import functions
from semantics.everywhere import everywhere

GIVEN: list[Any] = []
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def given(*arrays: Any) -> Any:
    GIVEN.append(arrays)
    return np.ones(len(arrays[0]), bool)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "_registered", {})
    GIVEN.clear()
    oz.register_function("given", given, returns="boolean", vectorized=True)
    oz.register_function("norm", np.hypot, returns="float", vectorized=True)


EVENTS = pa.table(
    {
        "ts": range(6),
        "type": list("AABABB"),
        "x": [3, 5, None, 8, 6, 0],
        "y": [4.0, 12, 1, 6, 8, 1],
        "s": list("abcabc"),
    }
)


def test_they_take_the_rows_of_all_events_at_once() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE given(a.x, a.y, a.s) AND a.x < 8"
    assert oz.match(EVENTS, query).num_rows == 6
    ((x, y, s),) = GIVEN
    assert (x.tolist(), y.tolist(), s.tolist()) == ([3, 5], [4.0, 12.0], ["a", "b"])
    assert (x.dtype, y.dtype, s.dtype) == (np.int64, np.float64, object)


def test_rows_with_a_null_are_left_out() -> None:
    found = oz.match(EVENTS, "PATTERN B b RETURN norm(b.x, b.y) AS n, given(b.x) AS g")
    assert found.to_pylist() == [{"n": None, "g": None}, {"n": 10.0, "g": True}, {"n": 1.0, "g": True}]
    assert [one.tolist() for (one,) in GIVEN] == [[6, 0]]


@pytest.mark.parametrize(
    ("value", "arrow", "expected"),
    [
        (True, pa.bool_(), np.array([True])),
        (2**63, pa.uint64(), np.array([2**63], np.uint64)),
        (1.5, pa.float32(), np.array([1.5])),
        (NOON, pa.timestamp("ns", "Europe/Berlin"), np.array(["2026-03-02T12:00:00"], "datetime64[ns]")),
        (NOON.date(), pa.date32(), np.array(["2026-03-02"], "datetime64[D]")),
        (NOON.time(), pa.time32("s"), np.array([12 * 3600], "timedelta64[s]")),
        (NOON - NOON, pa.duration("ms"), np.array([0], "timedelta64[ms]")),
        (Decimal("7.10"), pa.decimal128(5, 2), np.array([Decimal("7.10")], object)),
        ([1, 2], pa.list_(pa.int64()), None),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_arrays_are_as_numpy_has_them(value: Any, arrow: pa.DataType, expected: Any, engine: str) -> None:
    events = pa.table({"ts": [1], "type": ["A"], "x": pa.array([value], arrow)})
    assert oz.match(events, "PATTERN A a WHERE given(a.x)", engine=engine).num_rows == 1
    ((array,),) = GIVEN
    if expected is None:
        assert array.dtype == object
        assert array.tolist() == [value]
    else:
        assert array.dtype == expected.dtype
        assert (array == expected).all()


@pytest.mark.parametrize(
    ("returns", "result", "expected"),
    [
        ("float", lambda x: x * 2, [6.0, 10.0, 16.0]),
        ("integer", lambda x: x.astype(np.uint64) + np.uint64(2**63 - 5), [2**63 - 2, None, None]),
        ("integer", lambda x: np.ma.masked_greater(x, 4), [3, None, None]),
        ("string", lambda x: np.array([f"#{one}" for one in x]), ["#3", "#5", "#8"]),
        ("string", lambda x: np.array(["a", None, "b"][: len(x)], object), ["a", None, "b"]),
        ("boolean", lambda x: [bool(one > 4) for one in x], [False, True, True]),
        ("float", lambda x: np.array([1, None, 2.5][: len(x)], object), [1.0, None, 2.5]),
    ],
)
def test_results(returns: str, result: Any, expected: list[Any]) -> None:
    oz.register_function("made", result, returns=returns, vectorized=True)
    found = oz.match(EVENTS, "PATTERN A a RETURN made(a.x) AS v")
    assert found["v"].to_pylist() == expected


@pytest.mark.parametrize("engine", ["scan", "automaton"])
@pytest.mark.parametrize(
    "condition",
    ["norm(a.x, a.y) > 5 AND norm(b.x, b.y) > 0", "norm(a.x, b.y) < norm(b.x, a.y) + 9", "norm(a.x, a.y) < b.y"],
)
def test_on_every_engine(condition: str, engine: str) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE {condition} WITHIN 9 RETURN a.ts AS a, b.ts AS b"
    assert everywhere(query, EVENTS, runs_on=engine)


def test_of_closures() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE norm(a[i].x, a[i].y) > norm(a[i-1].x, 1) WITHIN 9 RETURN a[].ts AS a"
    assert everywhere(query, EVENTS, runs_on="automaton")


def test_compiled() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE norm(a.x, a.y) <= norm(b.x, b.y) WITHIN 9 RETURN a.ts AS a, b.ts AS b"
    assert everywhere(query, EVENTS, compiled="scan")


def fail_at_five(x: Any) -> Any:
    if 5 in x:
        raise ValueError("five")
    return x.astype(float)


@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("where", ["WHERE fails(a.x) > 1", "WHERE fails(a.x) < b.y", "RETURN fails(a.x)"])
def test_an_error_names_the_event(where: str, engine: str) -> None:
    oz.register_function("fails", fail_at_five, returns="float", vectorized=True)
    with pytest.raises(oz.FunctionError) as error:
        oz.match(EVENTS, f"QUERY q PATTERN SEQ(A a, B b) {where}", engine=engine)
    lines = str(error.value).splitlines()
    assert lines[0] == "function 'fails' in query 'q' failed: ValueError: five"
    assert lines[4:] == ["  called with: 5", "  event: a, of type A, at 1"]
    assert isinstance(error.value.__cause__, ValueError)


def test_one_that_fails_only_for_many_rows() -> None:
    def alone(x: Any) -> Any:
        if len(x) > 1:
            raise ValueError("too many")
        return x

    oz.register_function("alone", alone, returns="integer", vectorized=True)
    with pytest.raises(oz.FunctionError, match="ValueError: too many") as error:
        oz.match(EVENTS, "PATTERN A a WHERE alone(a.x) = 5")
    assert "called with: 3 rows" in str(error.value)


@pytest.mark.parametrize(
    ("result", "said", "required"),
    [
        (lambda x: x[:1], "returned an array of shape (1,)", "an array of 3 values, one for each row"),
        (lambda _x: 5, "returned an array of shape ()", "an array of 1 values, one for each row"),
        (lambda x: x + 0.5, "returned 3.5", "integer, as it was registered; got float"),
    ],
)
def test_results_that_do_not_fit(result: Any, said: str, required: str) -> None:
    oz.register_function("odd", result, returns="integer", vectorized=True)
    with pytest.raises(oz.FunctionError) as error:
        oz.match(EVENTS, "PATTERN A a WHERE odd(a.x) = 5")
    assert f"function 'odd' in query 'query1' {said}" in str(error.value)
    assert f"required: {required}" in str(error.value)
