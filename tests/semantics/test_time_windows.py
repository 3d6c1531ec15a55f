from __future__ import annotations

import pyarrow as pa
import pytest

from semantics.harness import found, stream

PAIR = "PATTERN SEQ(A a, B b)"
SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def timestamps(events: str, unit: str) -> pa.Table:
    table = pa.Table.from_pylist(stream(events))
    return table.set_column(2, "ts", table["ts"].cast(pa.timestamp(unit)))


def test_windows_are_half_open() -> None:
    assert found(f"{PAIR} WITHIN 3", "a1 b2 b3 b4 b5") == ["a1 b2", "a1 b3"]


def test_inclusive_windows_are_closed() -> None:
    assert found(f"{PAIR} WITHIN 3 INCLUSIVE", "a1 b2 b3 b4 b5") == ["a1 b2", "a1 b3", "a1 b4"]


def test_without_a_window_there_is_no_limit() -> None:
    assert found(PAIR, "a1 b1000000000") == ["a1 b1000000000"]


def test_the_window_spans_the_whole_match() -> None:
    assert found("PATTERN SEQ(A a, B b, C c) WITHIN 3", "a1 b2 c3 c4") == ["a1 b2 c3"]


def test_every_match_has_a_window_of_its_own() -> None:
    assert found(f"{PAIR} WITHIN 2", "a1 a2 b3 b4 a5 b6") == ["a2 b3", "a5 b6"]


def test_a_bare_number_and_units_are_in_the_unit_of_the_time_column() -> None:
    for window in ("3", "3 units", "3 unit", "3.0 units"):
        assert found(f"{PAIR} WITHIN {window}", "a1 b3 b4") == ["a1 b3"]
        assert found(f"{PAIR} WITHIN {window}", timestamps("a1 b3 b4", "s")) == ["a1 b3"]
        assert found(f"{PAIR} WITHIN {window}", timestamps("a1 b3 b4", "us")) == ["a1 b3"]


@pytest.mark.parametrize(
    ("window", "limit"),
    [
        ("7 ms", 7),
        ("2 s", 2 * SECOND),
        ("2 sec", 2 * SECOND),
        ("2 secs", 2 * SECOND),
        ("1 second", SECOND),
        ("2 seconds", 2 * SECOND),
        ("2 min", 2 * MINUTE),
        ("2 minutes", 2 * MINUTE),
        ("1 hour", HOUR),
        ("12 hours", 12 * HOUR),
        ("2 days", 2 * DAY),
        ("2 weeks", 14 * DAY),
        ("2 HOURS", 2 * HOUR),
    ],
)
def test_units_of_time_on_integers_that_count_milliseconds(window: str, limit: int) -> None:
    assert found(f"{PAIR} WITHIN {window}", f"a0 b{limit - 1} b{limit}") == [f"a0 b{limit - 1}"]


@pytest.mark.parametrize(("unit", "limit"), [("s", 60), ("ms", MINUTE), ("us", MINUTE * 10**3)])
def test_units_of_time_on_other_clocks(unit: str, limit: int) -> None:
    events = f"a0 b{limit - 1} b{limit}"
    assert found(f"{PAIR} WITHIN 1 min", events, time_unit=unit) == [f"a0 b{limit - 1}"]
    assert found(f"{PAIR} WITHIN 1 min", timestamps(events, unit)) == [f"a0 b{limit - 1}"]


def test_a_fraction_of_a_second_on_milliseconds() -> None:
    assert found(f"{PAIR} WITHIN 1.5 s", "a0 b1499 b1500 b1501") == ["a0 b1499"]
    assert found(f"{PAIR} WITHIN 1.5 s INCLUSIVE", "a0 b1499 b1500 b1501") == ["a0 b1499", "a0 b1500"]


def test_a_window_that_ends_between_two_ticks_of_the_clock() -> None:
    for window in ("1.5 s", "1.5 s INCLUSIVE", "1500 ms", "1.001 s", "1999 ms INCLUSIVE", "1.5 units"):
        assert found(f"{PAIR} WITHIN {window}", timestamps("a0 b1 b2", "s")) == ["a0 b1"]
    assert found(f"{PAIR} WITHIN 2.5", "a1 b3 b4") == ["a1 b3"]


def test_a_window_shorter_than_a_tick_holds_simultaneous_events_only() -> None:
    assert found("PATTERN A & B WITHIN 0.5", "a1 b1 b2") == ["a1 b1"]
    assert found("PATTERN A & B WITHIN 0 INCLUSIVE", "a1 b1 b2") == ["a1 b1"]


def test_a_closure_takes_only_what_is_in_the_window() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WITHIN 3"
    assert found(query, "a1 a2 b3 b4") == ["[a1 a2] b3", "[a1] b3", "[a2] b3", "[a2] b4"]


def test_an_event_outside_the_window_is_no_next_match() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { } WITHIN 3"
    assert found(query, "a1 a3 a4 b5") == ["[a3 a4] b5", "[a4] b5"]
