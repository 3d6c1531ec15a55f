"""Values in rows and in pandas' columns of objects: one type for all of them, whichever comes first."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ouzel as oz

DAY, NOON = date(2026, 1, 2), datetime(2026, 1, 2, 12)
MIDNIGHT = datetime(2026, 1, 2)
EAST = timezone(timedelta(hours=5))
ZONED = datetime(2026, 1, 2, 12, tzinfo=UTC)
HINT = "\n  hint: mend the data, or set such events aside with on_bad='quarantine'"
ALL = "PATTERN A a RETURN a.x AS x"
NONE, NOT_ONE = "PATTERN A a WHERE a.x IS NULL RETURN a.ts", "PATTERN A a WHERE NOT a.x >= 1 RETURN a.ts"


def rows(values: Any) -> list[dict[str, Any]]:
    return [{"ts": place, "type": "A", "x": value} for place, value in enumerate(values)]


def objects(values: Any) -> pd.DataFrame:
    return pd.DataFrame(rows(values), dtype=object)


def returned(values: Any) -> list[Any]:
    """What a query returns of values, the same of rows and of a column of objects."""
    found = [row["x"] for row in oz.match(rows(values), ALL)]
    table = pa.Table.from_pandas(oz.match(objects(values), ALL)).column("x")
    assert [pa.scalar(value, table.type) for value in found] == list(table)
    return found


def refusal(events: Any) -> str:
    with pytest.raises(oz.DataError) as error:
        oz.match(events, ALL)
    return str(error.value).removesuffix(HINT)


# ---- times -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[DAY, NOON], [NOON, DAY], [None, DAY, NOON]])
def test_dates_beside_moments_are_midnights(values: list[Any]) -> None:
    assert returned(values) == [MIDNIGHT if value is DAY else value for value in values]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_dates_beside_moments_as_times_of_events(reverse: bool, engine: str) -> None:
    events = [{"ts": DAY, "type": "A"}, {"ts": NOON, "type": "B"}]
    found = oz.match(
        events[::-1] if reverse else events, "PATTERN SEQ(A a, B b) RETURN a.ts AS a, b.ts AS b", engine=engine
    )
    assert found == [{"a": MIDNIGHT, "b": NOON}]


@pytest.mark.parametrize("values", [(DAY, NOON), (NOON, DAY), (NOON, ZONED), (ZONED, NOON)])
def test_other_times_in_one_table_per_type(values: Any) -> None:
    events = {name: [{"ts": value}] for name, value in zip("AB", values, strict=True)}
    with pytest.raises(oz.SchemaError, match="time column 'ts': required one type in all tables; got "):
        oz.match(events, "PATTERN SEQ(A a, B b)")


@pytest.mark.parametrize("make", [rows, objects])
def test_moments_with_and_without_a_zone(make: Any) -> None:
    expected = (
        "row 1, column 'x': required timestamp[us] without a zone; got datetime.datetime(2026, 1, 2, 12, 0, tzi…"
    )
    assert refusal(make([NOON, ZONED])) == expected
    expected = (
        "row 1, column 'x': required timestamp[us, tz=UTC] with a zone; got datetime.datetime(2026, 1, 2, 12, 0)"
    )
    assert refusal(make([ZONED, NOON])) == expected
    expected = "row 1, column 'x': required timestamp[us, tz=UTC]; got datetime.date(2026, 1, 2)"
    assert refusal(make([ZONED, DAY])) == expected


def test_moments_without_a_zone_are_set_aside() -> None:
    report = oz.Report()
    events = [{"ts": ZONED, "type": "A"}, {"ts": NOON, "type": "A"}, {"ts": ZONED, "type": "A"}]
    assert len(oz.match(events, "PATTERN A a", on_bad="quarantine", report=report)) == 2
    assert [row["row"] for row in report.quarantined] == [1]
    assert report.quarantined[0]["ts"] == NOON


def test_moments_of_several_zones_are_in_utc() -> None:
    east = ZONED.astimezone(EAST)
    assert [value.utcoffset() for value in returned([east, ZONED])] == [timedelta(0)] * 2
    assert [value.utcoffset() for value in returned([east, east])] == [timedelta(hours=5)] * 2
    hours = "PATTERN A a RETURN hour(a.x) AS hour"
    assert oz.match(rows([east, ZONED]), hours) == oz.match(rows([ZONED, east]), hours) == [{"hour": 12}] * 2


@pytest.mark.parametrize(
    "value",
    [pd.Timestamp(1), np.datetime64(1, "ns"), pd.Timedelta(1), np.timedelta64(1, "ns"), pd.Timestamp(1, tz="UTC")],
)
def test_nanoseconds_are_kept(value: Any) -> None:
    assert [pd.Series([one]).astype("int64")[0] for one in returned([value])] == [1]


def test_times_of_numpy() -> None:
    days, hours = np.datetime64(1, "D"), np.datetime64(25, "h")
    assert returned([days]) == [date(1970, 1, 2)]
    moments = [datetime(1970, 1, 2), datetime(1970, 1, 2, 1), NOON]
    assert returned([days, hours, NOON]) == moments
    assert returned([np.datetime64("NaT"), np.datetime64(1, "s")])[0] is None
    assert returned([np.datetime64("NaT")]) == [None]
    assert returned([np.timedelta64(1, "m"), timedelta(seconds=1)]) == [timedelta(minutes=1), timedelta(seconds=1)]


@pytest.mark.parametrize("make", [rows, objects])
def test_other_values_of_numpy_behind_a_time(make: Any) -> None:
    """Arrow would end the process."""
    values = pd.Series([None, np.datetime64(1, "s"), np.int8(1)], dtype=object)
    assert refusal(make(values)) == "row 2, column 'x': required timestamp[us]; got np.int8(1)"


def test_a_moment_is_no_date() -> None:
    types = {"A": {"x": pa.date32()}}
    with pytest.raises(oz.DataError, match=r"row 1, column 'x': required date32\[day\]; got datetime"):
        oz.match(rows([MIDNIGHT, NOON]), ALL, types=types)
    assert oz.match(rows([MIDNIGHT]), ALL, types=types) == [{"x": DAY}]


def test_times_of_day_with_a_zone() -> None:
    assert refusal(rows([time(1), time(2, tzinfo=UTC)])).startswith("row 1, column 'x': required time64[us]; got ")


@pytest.mark.parametrize(
    ("first", "second"), [([DAY], [NOON]), ([NOON], [ZONED]), ({"at": DAY}, {"at": NOON}), ([], [DAY, NOON])]
)
def test_times_in_lists_and_structs(first: Any, second: Any) -> None:
    assert refusal(rows([first, second])).startswith("row 1, column 'x': required ")
    assert returned([first, first]) == [first, first]


def test_structs_that_do_not_go_together() -> None:
    """What goes together widens; no field is dropped."""
    report = oz.Report()
    found = oz.match(rows([{"at": 1}, {"at": 2.5}, "s", {"at": None}]), ALL, on_bad="quarantine", report=report)
    assert [row["x"] for row in found] == [{"at": 1.0}, {"at": 2.5}, {"at": None}]
    assert [row["row"] for row in report.quarantined] == [2]
    assert refusal(rows([{"at": [1]}, {"at": 2}, {"in": 3}])).startswith(
        "row 1, column 'x': required struct<at: list"
    )


def test_an_integer_is_no_moment() -> None:
    assert refusal(rows([NOON, 5])) == "row 1, column 'x': required timestamp[us]; got 5"
    assert refusal(rows([DAY, 5])) == "row 1, column 'x': required date32[day]; got 5"


def test_a_struct_of_nulls_among_other_values() -> None:
    assert refusal(rows([{"at": None}, 1.5])) == "row 1, column 'x': required struct<at: null>; got 1.5"


# ---- numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", list(permutations([1, 2.5, "s"])))
def test_numbers_among_texts(values: Any) -> None:
    report = oz.Report()
    found = oz.match(rows(values), ALL, on_bad="quarantine", report=report)
    bad = ["s"] if values[0] != "s" else [value for value in values if value != "s"]
    assert [row["x"] for row in found] == [value for value in values if value not in bad]
    assert [row["x"] for row in report.quarantined] == bad


@pytest.mark.parametrize("values", [[2**63, 1], [1, 2**63], [None, 2**64 - 1]])
def test_integers_of_64_bits_without_a_sign(values: list[Any]) -> None:
    assert [row["x"] for row in oz.match(rows(values), ALL)] == values
    assert oz.match(objects(values), ALL)["x"].tolist() == values
    assert refusal(rows([2**63, -1])) == "row 1, column 'x': required uint64; got -1"


@pytest.mark.parametrize("values", [[Decimal("1.5"), 2.5], [2.5, Decimal("1.5")], [1, 2.5, Decimal("1.5")]])
def test_floats_among_decimals(values: list[Any]) -> None:
    assert returned(values) == values
    assert refusal(rows([*values, 2.25])) == f"row {len(values)}, column 'x': required decimal128(2, 1); got 2.25"


@pytest.mark.parametrize("make", [rows, objects])
def test_true_is_no_number(make: Any) -> None:
    assert refusal(make([1.5, True])) == "row 1, column 'x': required double; got True"
    assert refusal(make([1, True])) == "row 1, column 'x': required int64; got True"
    assert refusal(make([True, 1.5])) == "row 1, column 'x': required bool; got 1.5"


# ---- what is no number -----------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[math.nan, 3.0], [math.nan, None, 3], [1, math.nan], [math.nan]])
def test_nan_is_a_value_but_to_pandas(values: list[Any]) -> None:
    wanted = [row for row, value in enumerate(values) if value is None]
    nan = [row for row, value in enumerate(values) if value is not None and math.isnan(value)]
    columns = {"ts": range(len(values)), "type": ["A"] * len(values)}
    arrow = pa.table({**columns, "x": pa.array(values, pa.float64())})
    kinds = [arrow, rows(values), {"A": rows(values)}, pl.from_arrow(arrow)]
    for events in kinds:
        assert list(pd.DataFrame(_records(oz.match(events, NONE)), columns=["ts"])["ts"]) == wanted
        assert list(pd.DataFrame(_records(oz.match(events, NOT_ONE)), columns=["ts"])["ts"]) == nan
    for frame in (pd.DataFrame(rows(values)), objects(values)):
        assert oz.match(frame, NONE)["ts"].tolist() == sorted(wanted + nan)
        assert oz.match(frame, NOT_ONE)["ts"].tolist() == []


def _records(result: Any) -> Any:
    return (
        result
        if isinstance(result, list)
        else result.to_dicts()
        if hasattr(result, "to_dicts")
        else result.to_pylist()
    )


@pytest.mark.parametrize("value", ["s", True, NOON, Decimal("1.5"), [1]])
def test_nan_among_other_values_is_missing(value: Any) -> None:
    assert returned([value, math.nan]) == returned([value, None])
    assert returned([math.nan, value]) == returned([None, value])


@pytest.mark.parametrize("missing", [pd.NaT, pd.NA, None])
def test_missing_values_of_pandas_in_rows(missing: Any) -> None:
    assert returned([missing, NOON]) == [None, NOON]
    assert returned([missing, 1]) == [None, 1]


def test_a_decimal_that_is_no_number() -> None:
    assert refusal(rows([Decimal("1.5"), Decimal("NaN")])) == (
        "row 1, column 'x': required decimal128(2, 1); got Decimal('NaN')"
    )


# ---- texts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [rows, objects, lambda values: objects(values).astype({"x": "string"})])
def test_texts_that_cannot_be_written(make: Any) -> None:
    events = make(["a", "\ud800"])
    assert refusal(events) == "row 1, column 'x': required string; got '\\ud800'"
    report = oz.Report()
    assert len(oz.match(events, ALL, on_bad="quarantine", report=report)) == report.quarantined_count == 1


@pytest.mark.parametrize("make", [list, pd.DataFrame])
def test_names_of_columns_that_cannot_be_written(make: Any) -> None:
    with pytest.raises(oz.SchemaError, match=r"events: required column names that UTF-8 can write; got '.ud800'"):
        oz.match(make([{"ts": 1, "type": "A", "\ud800": 1}]), "PATTERN A a RETURN a.ts")
