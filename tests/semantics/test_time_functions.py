"""year … second, weekday and date_trunc: in the column's own zone, on every engine."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere
from semantics.harness import found

PARTS = ["year", "quarter", "month", "day", "hour", "minute", "second", "weekday"]
MOMENT = datetime(2024, 2, 29, 23, 45, 59, 999_999)


def parts_of(moment: datetime) -> list[int]:
    quarter = (moment.month + 2) // 3
    clock = [moment.hour, moment.minute, moment.second]
    return [moment.year, quarter, moment.month, moment.day, *clock, moment.isoweekday()]


def one(values: Any, arrow: pa.DataType | None = None) -> pa.Table:
    return pa.table({"ts": [1], "type": ["A"], "t": pa.array([values], arrow)})


def returned(expression: str, events: pa.Table, **options: Any) -> Any:
    (row,) = oz.match(events, f"PATTERN A a RETURN {expression} AS v", **options).to_pylist()
    return row["v"]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "America/St_Johns", "+05:30"])
def test_parts(unit: str, zone: str | None) -> None:
    moment = MOMENT.replace(tzinfo=UTC) if zone else MOMENT
    events = one(moment, pa.timestamp("us", zone)).cast(
        pa.schema([("ts", "int64"), ("type", "string"), ("t", pa.timestamp(unit, zone))]), safe=False
    )
    offset = timezone(timedelta(hours=5, minutes=30))
    local = moment.astimezone(offset if zone == "+05:30" else ZoneInfo(zone)) if zone else moment
    assert [returned(f"{part}(a.t)", events) for part in PARTS] == parts_of(local)


def test_dates() -> None:
    events = one(date(2023, 12, 31))
    assert [returned(f"{part}(a.t)", events) for part in PARTS] == [2023, 4, 12, 31, 0, 0, 0, 7]
    assert returned("date_trunc('month', a.t)", events) == date(2023, 12, 1)
    assert returned("date_trunc('week', a.t)", events) == date(2023, 12, 25)
    assert returned("date_trunc('hour', a.t)", events) == date(2023, 12, 31)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("second", datetime(2024, 2, 29, 23, 45, 59)),
        ("minute", datetime(2024, 2, 29, 23, 45)),
        ("hour", datetime(2024, 2, 29, 23)),
        ("DAY", datetime(2024, 2, 29)),
        ("week", datetime(2024, 2, 26)),
        ("month", datetime(2024, 2, 1)),
        ("quarter", datetime(2024, 1, 1)),
        ("year", datetime(2024, 1, 1)),
    ],
)
def test_date_trunc(unit: str, expected: datetime) -> None:
    assert returned(f"date_trunc('{unit}', a.t)", one(MOMENT)) == expected
    for zone in ("Europe/Berlin", "Asia/Kathmandu"):
        local = MOMENT.replace(tzinfo=ZoneInfo(zone))
        result = returned("date_trunc($u, a.t)", one(local, pa.timestamp("us", zone)), params={"u": unit})
        assert result == expected.replace(tzinfo=ZoneInfo(zone))


def test_clocks_that_are_changed() -> None:
    berlin = pa.timestamp("s", "Europe/Berlin")
    # 2:30 comes twice on this day: an hour later it is 2:30 again
    first = int(datetime(2024, 10, 27, 0, 30, tzinfo=UTC).timestamp())
    assert [returned("hour(a.t)", one(first + k * 3_600, berlin)) for k in range(3)] == [2, 2, 3]
    began = returned("date_trunc('hour', a.t)", one(first + 3_600, berlin))
    assert began.timestamp() == datetime(2024, 10, 27, 1, tzinfo=UTC).timestamp()
    # where midnight is skipped the day begins at one
    moment = int(datetime(2018, 11, 4, 15, tzinfo=UTC).timestamp())
    began = returned("date_trunc('day', a.t)", one(moment, pa.timestamp("s", "America/Sao_Paulo")))
    assert began == datetime(2018, 11, 4, 3, tzinfo=UTC)


def test_an_integer_time_column_counts_from_1970() -> None:
    seconds = int(MOMENT.replace(tzinfo=UTC).timestamp())
    events = pa.table({"ts": [seconds], "type": ["A"], "x": [1]})
    assert [returned(f"{part}(a.ts)", events, time_unit="s") for part in PARTS] == parts_of(MOMENT)
    assert returned("hour(start(a)) + hour(end(a))", events, time_unit="s") == 46
    assert returned("date_trunc('hour', a.ts)", events, time_unit="s") == seconds - seconds % 3_600


@pytest.mark.parametrize("moment", [-(2**63), 2**63 - 1, -62_135_596_800 - 1, 253_402_300_800])
def test_beyond_the_years_1_to_9999_there_is_no_value(moment: int) -> None:
    events = one(moment, pa.timestamp("s"))
    assert returned("year(a.t)", events) is None
    assert returned("date_trunc('year', a.t)", events) is None


def test_times_of_day_have_a_clock_and_no_calendar() -> None:
    events = one(23 * 3_600_000 + 45 * 60_000 + 59_999, pa.time32("ms"))
    assert [returned(f"{part}(a.t)", events) for part in ("hour", "minute", "second")] == [23, 45, 59]
    with pytest.raises(oz.QueryError, match="day takes a time; got time of day"):
        returned("day(a.t)", events)


def test_null_and_a_beginning_that_cannot_be_counted() -> None:
    assert returned("hour(a.t)", one(None, pa.timestamp("s"))) is None
    assert returned("hour(NULL)", one(MOMENT)) is None
    assert returned("date_trunc('year', a.t) IS NULL", one(-(2**63) + 5, pa.timestamp("ns"))) is True
    assert returned("year(a.t)", one(-(2**63) + 5, pa.timestamp("ns"))) == 1677


def events_by_hour(zone: str | None) -> pa.Table:
    times = [datetime(2024, 3, 30, 20, 30, tzinfo=UTC) + timedelta(hours=k) for k in range(12)]
    others = [None if k % 5 == 4 else moment - timedelta(days=k) for k, moment in enumerate(times)]
    columns = {
        "ts": pa.array(times, pa.timestamp("ms", "UTC")),
        "other": pa.array(others, pa.timestamp("us", "UTC")),
    }
    kinds = pa.schema([("ts", pa.timestamp("ms", zone)), ("other", pa.timestamp("us", zone))])
    return pa.table(columns).cast(kinds).append_column("type", [list("ABABABABABAB")])


QUERIES = {
    "scan": """PATTERN SEQ(A a, B b) WHERE hour(a.ts) >= 22 AND date_trunc('day', a.ts) != date_trunc('day', b.ts)
        AND minute(a.other) = 30 AND month(start(b)) = day(b.other) - 20 OR weekday(a.ts) = 7 AND hour(b.ts) < 4
        WITHIN 9 hours RETURN a.ts, hour(a.ts) AS h, date_trunc('week', b.other) AS w""",
    "automaton": """PATTERN SEQ(A+ a[], B b)
        WHERE skip_till_next_match { hour(a[i].ts) > hour(a[i-1].ts) AND day(a[1].other) > 0 AND hour(b.ts) > 1 }
        WITHIN 9 hours RETURN a[].ts, hour(a[1].ts) + hour(b.ts) AS h, date_trunc('hour', end(a)) AS e""",
}


@pytest.mark.parametrize("engine", QUERIES)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_on_every_engine(engine: str, zone: str | None) -> None:
    assert everywhere(QUERIES[engine], events_by_hour(zone), runs_on=engine)


def test_compiled() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE hour(a.ts) >= 22 AND day(b.ts) > 0 RETURN hour(a.ts) AS h"
    assert everywhere(query, events_by_hour("Europe/Berlin"), compiled="scan")


def test_of_what_is_computed() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE hour(b.ts + 30 min) = 0 WITHIN 2 hours RETURN hour(a.ts + 1 hour) AS h"
    assert everywhere(query, events_by_hour(None)) == [{"h": 23}]


def test_words_that_are_units_too() -> None:
    events = [{"ts": 3_600_000, "type": "A", "eid": "a", "day": 3, "year": 4, "hour": 1, "second": 2}]
    assert found("PATTERN A a WHERE a.day = 3 AND a.year = 4 AND hour(a.ts) = a.hour", events) == ["a"]
    assert found("PATTERN A WHERE day = 3 AND hour (ts) = 1 AND second = 2", events) == ["a"]
    assert found("PATTERN A a WHERE a.ts >= 1 hour AND a.ts < 2 hours AND 24 - hour(a.ts) = 23", events) == ["a"]
    assert found("PATTERN A day WHERE day.day = 3 AND hour(day.ts) = 1 WITHIN 5 day", events) == ["a"]


UNITS = "one of second, minute, hour, day, week, month, quarter, year"
WRONG = {
    "hour(a.s)": ("hour takes a time; got string", "cast the column to timestamp, with its zone if it has one"),
    "hour(a.x)": ("hour takes a time; got integer", "only the time column may count in integers"),
    "hour(a.ts + 1)": ("hour takes a time; got integer", "only the time column may count in integers"),
    "hour()": ("hour takes 1 argument; got 0", None),
    "hour(a.t, a.t)": ("hour takes 1 argument; got 2", None),
    "hour(5 minutes)": ("hour takes a time; got duration", None),
    "date_trunc(a.t)": ("date_trunc takes 2 arguments; got 1", "write date_trunc('hour', a.ts)"),
    "date_trunc('hours', a.t)": (UNITS, "did you mean 'hour'?"),
    "date_trunc(a.s, a.t)": (UNITS, None),
    "date_trunc('hour', a.s)": ("date_trunc takes a time; got string", "cast the column to timestamp"),
}


@pytest.mark.parametrize("expression", WRONG)
def test_what_is_wrong_is_said(expression: str) -> None:
    events = one(MOMENT).append_column("s", [["x"]]).append_column("x", [[1]])
    required, hint = WRONG[expression]
    with pytest.raises(oz.QueryError) as error:
        oz.match(events, f"PATTERN A a RETURN {expression}")
    assert error.value.required == required
    assert (error.value.hint or "").startswith(hint or "")


def test_without_data() -> None:
    query = oz.query("PATTERN A a WHERE hour(a.t) > 5 AND date_trunc('day', a.t) = date_trunc($u, a.t)")
    assert "hour(a.t) > 5" in query.explain()
    with pytest.raises(oz.QueryError, match="unit"):
        oz.query("PATTERN A a WHERE date_trunc('days', a.t) = a.t")
