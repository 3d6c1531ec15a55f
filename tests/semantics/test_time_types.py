from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import Row, found, rows

PAIR = "PATTERN SEQ(A a, B b)"
NOON = datetime(2026, 3, 1, 12)
EVENTS: list[Row] = [
    {"ts": NOON, "type": "A", "eid": "a1"},
    {"ts": NOON + timedelta(minutes=5), "type": "B", "eid": "b2"},
    {"ts": NOON + timedelta(hours=2), "type": "B", "eid": "b3"},
]


def table(unit: str, zone: str | None = None) -> pa.Table:
    types = {"ts": pa.timestamp(unit, zone), "type": pa.string(), "eid": pa.string()}
    aware = [row | {"ts": row["ts"].replace(tzinfo=UTC if zone else None)} for row in EVENTS]
    return pa.Table.from_pylist(aware, pa.schema(types))


UNITS = ("s", "ms", "us", "ns")
WITHOUT_ZONE = [table(unit) for unit in UNITS]
TABLES = WITHOUT_ZONE + [table(unit, zone) for unit in UNITS for zone in ("UTC", "Europe/Berlin")]


@pytest.mark.parametrize("events", [EVENTS, *TABLES])
def test_windows_on_timestamps(events: Any) -> None:
    assert found(f"{PAIR} WITHIN 5 min", events) == []
    assert found(f"{PAIR} WITHIN 5 min INCLUSIVE", events) == ["a1 b2"]
    assert found(f"{PAIR} WITHIN 1 hour", events) == ["a1 b2"]
    assert found(f"{PAIR} WITHIN 1 day", events) == ["a1 b2", "a1 b3"]


@pytest.mark.parametrize("events", [EVENTS, *TABLES])
def test_differences_and_durations(events: Any) -> None:
    assert found(f"{PAIR} WHERE b.ts - a.ts < 6 min", events) == ["a1 b2"]
    assert found(f"{PAIR} WHERE b.ts - a.ts = 5 minutes", events) == ["a1 b2"]
    assert found(f"{PAIR} WHERE b.ts > a.ts + 1 hour", events) == ["a1 b3"]
    assert found(f"{PAIR} WHERE b.ts - 2 hours = a.ts", events) == ["a1 b3"]
    assert found(f"{PAIR} WHERE end(b) - start(a) > 119.5 min", events) == ["a1 b3"]


@pytest.mark.parametrize("events", [EVENTS, *WITHOUT_ZONE])
def test_times_without_a_zone_beside_text(events: Any) -> None:
    assert found("PATTERN B b WHERE b.ts = '2026-03-01 12:05:00'", events) == ["b2"]
    assert found("PATTERN B b WHERE b.ts >= '2026-03-01T14:00'", events) == ["b3"]
    assert found("PATTERN B b WHERE b.ts > '2026-03-01'", events) == ["b2", "b3"]
    assert found("PATTERN B b WHERE b.ts BETWEEN '2026-03-01 13:00' AND '2026-03-02'", events) == ["b3"]
    assert found("PATTERN B b WHERE b.ts IN ('2026-03-01 12:05', '2026-03-01 12:06')", events) == ["b2"]


def test_text_beside_times_with_a_zone_is_in_their_zone() -> None:
    # noon in UTC is 13:00 in Berlin
    assert found("PATTERN A a WHERE a.ts = '2026-03-01 13:00'", table("ms", "Europe/Berlin")) == ["a1"]
    assert found("PATTERN A a WHERE a.ts = '2026-03-01 12:00'", table("ms", "UTC")) == ["a1"]
    assert found("PATTERN A a WHERE a.ts = '2026-03-01 12:00'", table("ms", "Europe/Berlin")) == []


@pytest.mark.parametrize("moment", ["2026-03-01 12:00+00:00", "2026-03-01T12:00:00Z", "2026-03-01 07:00-05:00"])
def test_text_may_name_its_own_zone(moment: str) -> None:
    assert found(f"PATTERN A a WHERE a.ts = '{moment}'", table("ms", "Europe/Berlin")) == ["a1"]
    with pytest.raises(oz.QueryError, match="a time without a zone"):
        oz.match(EVENTS, f"PATTERN A a WHERE a.ts = '{moment}'")


def test_a_fraction_of_a_second_in_text() -> None:
    assert found("PATTERN A a WHERE a.ts < '2026-03-01 12:00:00.5'", table("s")) == ["a1"]
    assert found("PATTERN A a WHERE a.ts > '2026-03-01 11:59:59.999999'", table("s")) == ["a1"]


def test_zones_do_not_change_the_order() -> None:
    moments = [
        datetime(2026, 3, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(2026, 3, 1, 11, 30, tzinfo=UTC),
        datetime(2026, 3, 1, 7, tzinfo=timezone(timedelta(hours=-5))),
    ]
    events = [{"ts": moment, "type": kind, "eid": kind} for moment, kind in zip(moments, "ABC", strict=True)]
    assert found("PATTERN SEQ(A a, B b, C c)", events) == ["A B C"]


def test_windows_on_dates() -> None:
    days = [("A", date(2026, 1, 31)), ("B", date(2026, 2, 1)), ("B", date(2026, 2, 2))]
    events = [{"ts": day, "type": kind, "eid": f"{kind}{day.day}"} for kind, day in days]
    assert found(f"{PAIR} WITHIN 2 days", events) == ["A31 B1"]
    assert found(f"{PAIR} WITHIN 2", events) == ["A31 B1"]
    assert found(f"{PAIR} WITHIN 36 hours", events) == ["A31 B1"]
    assert found(f"{PAIR} WITHIN 48 hours INCLUSIVE", events) == ["A31 B1", "A31 B2"]
    assert found(f"{PAIR} WHERE b.ts = '2026-02-02'", events) == ["A31 B2"]
    assert found(f"{PAIR} WHERE b.ts - a.ts >= 2 days", events) == ["A31 B2"]


def test_times_as_attributes() -> None:
    events = [
        {"ts": 1, "type": "A", "eid": "a1", "due": NOON, "pause": timedelta(minutes=10)},
        {"ts": 2, "type": "B", "eid": "b2", "due": NOON + timedelta(minutes=5), "pause": timedelta(minutes=1)},
    ]
    assert found(f"{PAIR} WHERE b.due - a.due < a.pause", events) == ["a1 b2"]
    assert found(f"{PAIR} WHERE b.due - a.due < b.pause", events) == []
    assert found(f"{PAIR} WHERE a.due + a.pause > b.due", events) == ["a1 b2"]
    assert found(f"{PAIR} WHERE b.pause = 60 s", events) == ["a1 b2"]
    assert rows(f"{PAIR} RETURN b.due - a.due AS late, a.due + b.pause AS due", events) == [
        {"late": timedelta(minutes=5), "due": NOON + timedelta(minutes=1)}
    ]


def test_lengths_of_time_beside_an_integer_clock_are_in_its_unit() -> None:
    assert found(f"{PAIR} WHERE b.ts - a.ts < 2 s", "a0 b1999 b2000") == ["a0 b1999"]
    assert found(f"{PAIR} WHERE b.ts - a.ts < 1 min", "a0 b59 b60", time_unit="s") == ["a0 b59"]
    assert found(f"{PAIR} WHERE b.ts - a.ts < 60 units", "a0 b59 b60", time_unit="s") == ["a0 b59"]


def test_starts_and_ends_have_the_type_of_the_clock() -> None:
    result = oz.match(table("us", "Europe/Berlin"), f"{PAIR} RETURN start(a) AS s, end(b) - start(a) AS d")
    assert result.schema.field("s").type == pa.timestamp("us", "Europe/Berlin")
    assert result.schema.field("d").type == pa.duration("us")
    assert result["d"].to_pylist() == [timedelta(minutes=5), timedelta(hours=2)]


def test_lengths_of_time_may_be_negative_and_divide() -> None:
    events = [{"ts": 0, "type": "A"}, {"ts": 60_000, "type": "B"}]
    query = "PATTERN A a; B b WHERE a.ts - b.ts > -90 s RETURN (b.ts - a.ts) / 1 min AS minutes"
    assert oz.match(events, query) == [{"minutes": 1.0}]
