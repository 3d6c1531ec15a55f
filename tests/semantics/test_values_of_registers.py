"""What fields of a register take: integers without a sign, times of other units, one zero."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz


def becomes(table: pa.Table, first: Any, value: str) -> list[Any]:
    """What a field becomes at each event, the same in every engine and with corrections."""
    one = oz.automaton(start="q0", final=["q1"], register={"v": first}).arc("q0", "q1", None, {"v": value})
    found = []
    for engine in ("automaton", "reference"):
        found.append([row["v"] for row in oz.match(table, one, engine=engine, time_unit="s").to_pylist()])
        for speculation in (None, "inf"):
            matcher = oz.matcher(one, table.schema, engine=engine, time_unit="s", speculation=speculation)
            rows = [*matcher.push(table).to_pylist(), *matcher.finish().to_pylist()]
            found.append([row["v"] for row in rows])
    assert len(set(map(repr, found))) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("coalesce(e.u, v)", [1, 7, None]),
        ("coalesce(e.u, e.x)", [1, 4, None]),
        ("coalesce(e.u, 0)", [1, 0, None]),
        ("greatest(e.u, e.x)", [3, 4, None]),
        ("least(e.u, e.x)", [1, 4, 5]),
        ("CASE WHEN e.x > 3 THEN e.u ELSE v END", [7, None, None]),
    ],
)
def test_integers_without_a_sign_beside_others(value: str, expected: list[Any]) -> None:
    unsigned = pa.array([1, None, 2**63 + 5], pa.uint64())
    assert becomes(pa.table({"ts": [1, 2, 3], "u": unsigned, "x": [3, 4, 5]}), 7, value) == expected


TIMES = pa.table(
    {
        "ts": pa.array([datetime(2026, 1, 1), datetime(2026, 1, 2)], pa.timestamp("us")),
        "coarse": pa.array([datetime(2026, 1, 3), None], pa.timestamp("ms")),
        "fine": pa.array([datetime(2026, 1, 3), None], pa.timestamp("ns")),
        "day": pa.array([date(2026, 1, 4), None]),
    }
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("e.coarse", [datetime(2026, 1, 3), None]),
        ("e.day", [datetime(2026, 1, 4), None]),
        ("coalesce(e.coarse, e.ts)", [datetime(2026, 1, 3), datetime(2026, 1, 2)]),
        ("e.ts + 1 hour", [datetime(2026, 1, 1, 1), datetime(2026, 1, 2, 1)]),
        ("'2026-01-05 12:00'", [datetime(2026, 1, 5, 12)] * 2),
    ],
)
def test_times(value: str, expected: list[Any]) -> None:
    assert becomes(TIMES, {"type": "time"}, value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "e.fine",
            "becomes timestamp in ns\n(?s:.*)required: a value of the type of its first one, timestamp in us",
        ),
        ("'2026-01-01 00:00:00.000000001'", "becomes timestamp in ns"),
        ("'yesterday'", "a time such as '2026-01-31 12:00:00'"),
        ("3", "becomes integer"),
    ],
)
def test_times_that_do_not_fit(value: str, message: str) -> None:
    with pytest.raises(oz.QueryError, match=message):
        becomes(TIMES, {"type": "time"}, value)


def test_there_is_one_zero() -> None:
    assert repr(becomes(pa.table({"ts": [1, 2], "y": [0.0, -0.0]}), 0.0, "e.y * -1")) == "[0.0, 0.0]"
