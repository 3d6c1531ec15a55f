"""Parameters that are lengths of time: texts, timedeltas, those of NumPy and pandas."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere, pushed
from semantics.harness import found

PAIR = "PATTERN SEQ(A a, B b)"
LENGTHS: list[Any] = ["3 seconds", "3s", " 3 SECONDS ", "0.05 min", "2 s 1000 ms", "3000 units"]
LENGTHS += [timedelta(seconds=3), np.timedelta64(3, "s"), np.timedelta64(3_000_000_000, "ns"), pd.Timedelta("3s")]


@pytest.mark.parametrize("length", LENGTHS, ids=repr)
def test_a_window(length: Any) -> None:
    query = f"{PAIR} WITHIN $w"
    assert found(query, "a0 b2999 b3000", params={"w": length}) == ["a0 b2999"]
    assert found(f"{query} INCLUSIVE", "a0 b2999 b3000", params={"w": length}) == ["a0 b2999", "a0 b3000"]


@pytest.mark.parametrize("length", LENGTHS[:5] + LENGTHS[6:], ids=repr)
@pytest.mark.parametrize("condition", ["b.ts - a.ts < $d", "$d > end(b) - start(a)", "abs(a.ts - b.ts) < $d"])
def test_a_condition(length: Any, condition: str) -> None:
    assert found(f"{PAIR} WHERE {condition}", "a0 b2999 b3000", params={"d": length}) == ["a0 b2999"]
    times = [datetime(2026, 1, 1) + timedelta(milliseconds=k) for k in (0, 2999, 3000)]
    events = pa.table({"ts": times, "type": list("ABB")})
    query = f"{PAIR} WHERE {condition} RETURN b.ts"
    assert everywhere(query, events, runs_on="scan", params={"d": length}) == [{"ts": times[1]}]


@pytest.mark.parametrize("condition", ["a.ts + $d > b.ts", "b.ts - $d < a.ts", "b.ts - a.ts BETWEEN '0 s' AND $d"])
def test_beside_a_time(condition: str) -> None:
    times = [datetime(2026, 1, 1) + timedelta(milliseconds=k) for k in (0, 2999, 3001)]
    events = pa.table({"ts": times, "type": list("ABB")})
    found = oz.match(events, f"{PAIR} WHERE {condition} RETURN b.ts", params={"d": "3 seconds"})
    assert found.to_pylist() == [{"ts": times[1]}]
    numbers = [{"ts": k, "type": kind} for k, kind in ((0, "A"), (2999, "B"), (3001, "B"))]
    assert oz.match(numbers, f"{PAIR} WHERE {condition} RETURN b.ts", params={"d": "3 seconds"}) == [{"ts": 2999}]


def test_nanoseconds_are_kept() -> None:
    events = pa.table({"ts": pa.array([0, 1499, 1500], pa.timestamp("ns")), "type": list("ABB")})
    for length in (np.timedelta64(1500, "ns"), pd.Timedelta(1500, "ns"), "1.5 us", "1500 ns"):
        assert oz.match(events, f"{PAIR} WITHIN $w", params={"w": length}).num_rows == 1
        assert oz.match(events, f"{PAIR} WHERE b.ts - a.ts < $w", params={"w": length}).num_rows == 1


@pytest.mark.parametrize("length", [LENGTHS[0], *LENGTHS[6:]], ids=repr)
def test_in_a_matcher_with_snapshots(length: Any) -> None:
    events = pa.table({"ts": [0, 2999, 3000], "type": list("ABB")})
    query = f"{PAIR} WHERE b.ts - a.ts < $w WITHIN $w RETURN b.ts"
    assert pushed(query, events, params={"w": length}) == [{"ts": 2999}]


WRONG: dict[Any, str] = {
    "soon": "'soon'",
    "5": "'5'",
    "5 m": "'5 m'",
    "five minutes": "'five minutes'",
    "5 minutes ago": "'5 minutes ago'",
    "": "''",
    None: "None",
    np.timedelta64("NaT"): "NaT",
    np.timedelta64(1, "M"): "1 months",
}


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_what_is_no_length_of_time_is_said(value: Any) -> None:
    with pytest.raises(oz.QueryError) as error:
        found(f"{PAIR} WITHIN $w", "a0 b1", params={"w": value})
    assert error.value.message == f"the parameter $w is {WRONG[value]}"
    assert error.value.required == "a length of time such as '5 minutes', a timedelta, or a number"
    if isinstance(value, str):
        with pytest.raises(oz.QueryError, match="a length of time such as '5 minutes'; got"):
            found(f"{PAIR} WHERE b.ts - a.ts < $w", "a0 b1", params={"w": value})


def test_a_month_has_no_fixed_length() -> None:
    for value in (np.timedelta64(1, "M"), np.timedelta64("NaT")):
        with pytest.raises(oz.QueryError, match=r"the parameter \$w is"):
            found(f"{PAIR} WHERE b.ts - a.ts < $w", "a0 b1", params={"w": value})


def test_a_text_beside_a_number_stays_a_text() -> None:
    with pytest.raises(oz.QueryError, match="two values of one type; got integer and string"):
        found("PATTERN A a WHERE a.x = $w", "a0:x=1", params={"w": "5 minutes"})


def test_a_number_of_events_is_a_number() -> None:
    with pytest.raises(oz.QueryError, match="a whole number of events"):
        found(f"{PAIR} WITHIN $w EVENTS", "a0 b1", params={"w": "5 minutes"})
