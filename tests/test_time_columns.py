"""Times of every kind, and lengths of time beside them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
LENGTHS = {"1 sec": 1, "1 min": 60, "90 secs": 90, "1 min 30 secs": 90, "1 hour": 3_600, "1 day": 86_400}
SECONDS = [0, 1, 59, 60, 89, 90, 3_599, 3_600, 86_399, 86_400, 86_401]


def pairs(limit: float, *, inclusive: bool) -> int:
    apart = [later - earlier for earlier in SECONDS for later in SECONDS if earlier < later]
    return sum(one <= limit if inclusive else one < limit for one in apart)


def table(times: pa.Array) -> pa.Table:
    return pa.table({"ts": times, "n": range(len(times))})


def count(times: pa.Array, within: str, **options: Any) -> int:
    found = oz.match(table(times), f"PATTERN SEQ(E a, E b) WITHIN {within}", **options)
    assert found.schema.field("start").type == times.type
    assert found.schema.field("end").type == times.type
    assert found.schema.field("a").type.field("ts").type == times.type
    return int(found.num_rows)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("unit", SECOND)
@pytest.mark.parametrize("integer", [pa.int64(), pa.uint64()], ids=str)
def test_integers(integer: pa.DataType, unit: str, length: str) -> None:
    times = pa.array([second * SECOND[unit] for second in SECONDS], integer)
    assert count(times, length, time_unit=unit) == pairs(LENGTHS[length], inclusive=False)
    assert count(times, f"{length} INCLUSIVE", time_unit=unit) == pairs(LENGTHS[length], inclusive=True)


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("integer", [pa.int32(), pa.uint32()], ids=str)
def test_short_integers(integer: pa.DataType, unit: str) -> None:
    times = pa.array([second * SECOND[unit] for second in SECONDS], integer)
    assert count(times, "1 hour", time_unit=unit) == pairs(3_600, inclusive=False)


def test_integers_are_milliseconds_unless_told_otherwise() -> None:
    times = pa.array([second * 1_000 for second in SECONDS])
    assert count(times, "1 hour") == pairs(3_600, inclusive=False)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Madrid", "+05:30"])
@pytest.mark.parametrize("unit", SECOND)
def test_timestamps(unit: str, zone: str | None) -> None:
    times = pa.array([second * SECOND[unit] for second in SECONDS], pa.timestamp(unit, zone))
    for length, seconds in LENGTHS.items():
        assert count(times, length) == pairs(seconds, inclusive=False)
        assert count(times, f"{length} INCLUSIVE") == pairs(seconds, inclusive=True)


@pytest.mark.parametrize("unit", SECOND)
def test_a_bare_number_is_in_the_unit_of_the_column(unit: str) -> None:
    stamps = pa.array([second * SECOND[unit] for second in SECONDS], pa.timestamp(unit))
    assert count(stamps, f"{90 * SECOND[unit]}") == pairs(90, inclusive=False)
    assert count(stamps, f"{90 * SECOND[unit]} units") == pairs(90, inclusive=False)
    assert count(stamps.cast(pa.int64()), f"{90 * SECOND[unit]}", time_unit=unit) == pairs(90, inclusive=False)


@pytest.mark.parametrize("date", [pa.date32(), pa.date64()], ids=str)
@pytest.mark.parametrize(
    ("within", "matches"),
    [
        ("1 day", 0),
        ("1 day INCLUSIVE", 2),
        ("2 days", 2),
        ("36 hours", 2),
        ("3 days", 3),
        ("1 week", 3),
        ("8 days", 4),
        ("2", 2),
        ("3 units", 3),
    ],
)
def test_dates(date: pa.DataType, within: str, matches: int) -> None:
    days = pa.array([0, 1, 2, 9], pa.int32()).cast(pa.date32()).cast(date)
    assert count(days, within) == matches


@pytest.mark.parametrize("unit", SECOND)
def test_a_length_shorter_than_the_unit(unit: str) -> None:
    times = pa.array([0, 1, 2, 3], pa.timestamp(unit))
    assert count(times, "1 ns") == 0
    assert count(times, f"1 {unit}") == 0
    assert count(times, f"1.5 {unit}") == 3
    assert count(times, f"1 {unit} INCLUSIVE") == 3


@pytest.mark.parametrize(
    "times",
    [
        pa.array([0, 3_600_000, 7_200_000]),
        pa.array([0, 3_600, 7_200], pa.timestamp("s")),
        pa.array([0, 3_600 * 10**9, 7_200 * 10**9], pa.timestamp("ns", "UTC")),
    ],
    ids=["integers", "seconds", "nanoseconds"],
)
@pytest.mark.parametrize(
    ("condition", "matches"),
    [
        ("b.ts - a.ts = 1 hour", 2),
        ("b.ts - a.ts > 90 minutes", 1),
        ("end(b) - start(a) <= 2 hours", 3),
        ("b.ts < a.ts + 2 hours", 2),
        ("b.ts - 1 hour > a.ts", 1),
    ],
)
def test_lengths_in_conditions(times: pa.Array, condition: str, matches: int) -> None:
    found = oz.match(table(times), f"PATTERN SEQ(E a, E b) WHERE {condition}")
    assert found.num_rows == matches


@pytest.mark.parametrize("unit", SECOND)
def test_times_written_as_text(unit: str) -> None:
    times = pa.array([0, 3_600 * SECOND[unit], 7_200 * SECOND[unit]], pa.timestamp(unit))
    for text, matches in {"1970-01-01 01:00:00": 1, "1970-01-01T00:30": 2, "1970-01-02": 0}.items():
        assert oz.match(table(times), f"PATTERN E a WHERE a.ts > '{text}'").num_rows == matches


def test_timestamps_of_several_units_in_one_stream() -> None:
    events = {
        "A": pa.table({"ts": pa.array([0, 2], pa.timestamp("s"))}),
        "B": pa.table({"ts": pa.array([1_500, 2_500], pa.timestamp("ms"))}),
    }
    found = oz.match(events, "PATTERN SEQ(A a, B b) WITHIN 2 secs RETURN a.ts AS a, b.ts AS b")
    assert found.schema == pa.schema({"a": pa.timestamp("ms"), "b": pa.timestamp("ms")})
    assert [column.cast(pa.int64()).to_pylist() for column in found.columns] == [[0, 2_000], [1_500, 2_500]]
