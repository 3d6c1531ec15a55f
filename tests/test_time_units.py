"""Integer times whose unit was not said."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from test_cli import Cli, cli

__all__ = ["cli"]

QUERY = "PATTERN SEQ(A a, B b) WITHIN 5 minutes RETURN a.ts"
NOW = 1_700_000_000
SECONDS, MICROSECONDS, NANOSECONDS = NOW, NOW * 10**6, NOW * 10**9


def events(first: int, step: int = 1, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"ts": pa.array([first, first + step], kind or pa.int64()), "type": ["A", "B"]})


@pytest.mark.parametrize(
    ("first", "unit", "where"),
    [
        (SECONDS, "s", "within months of 1970; they look like seconds"),
        (10**8, "s", "within months of 1970; they look like seconds"),
        (MICROSECONDS, "us", "past the year 9999; they look like microseconds"),
        (NANOSECONDS, "ns", "past the year 9999; they look like nanoseconds"),
    ],
)
def test_times_that_do_not_look_like_milliseconds(first: int, unit: str, where: str) -> None:
    with pytest.warns(oz.OuzelWarning) as caught:
        oz.match(events(first), QUERY)
    (warning,) = caught
    assert warning.filename == __file__
    assert str(warning.message) == (
        f"the times in 'ts' are taken for milliseconds, and all are {where}\n"
        f"  hint: say time_unit='{unit}', or time_unit='ms' if they are milliseconds"
    )


@pytest.mark.parametrize("first", [0, 1, -5, 10**8 - 2, NOW * 1000, -NOW, 253_402_300_799_000])
def test_times_that_may_well_be_milliseconds(first: int) -> None:
    oz.match(events(first), QUERY)


def test_one_time_that_is_another_says_nothing() -> None:
    oz.match(events(1, SECONDS), QUERY)
    oz.match(events(NOW * 1000, NANOSECONDS), QUERY)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_unit_that_was_said(unit: str) -> None:
    oz.match(events(SECONDS), QUERY, time_unit=unit)


@pytest.mark.parametrize("kind", [pa.timestamp("ms"), pa.timestamp("s"), pa.date32()])
def test_times_that_are_no_integers(kind: pa.DataType) -> None:
    oz.match(events(10**8, kind=kind) if kind != pa.date32() else events(1, kind=kind), QUERY)


def test_a_matcher_says_it_once() -> None:
    schema = events(0).schema
    matcher = oz.matcher(QUERY, schema)
    matcher.push(events(0).slice(0, 0))
    with pytest.warns(oz.OuzelWarning, match="they look like seconds") as caught:
        matcher.push(events(SECONDS))
    assert caught[0].filename == __file__
    matcher.push(events(SECONDS + 5))
    oz.restore(matcher.snapshot()).push(events(SECONDS + 9))
    oz.matcher(QUERY, schema, time_unit="s").push(events(SECONDS))
    toy = oz.matcher(QUERY, schema)
    toy.push(events(1))
    toy.push(events(SECONDS))


def test_on_the_command_line(cli: Cli) -> None:
    Path("seconds.csv").write_text(f"ts,type\n{NOW},A\n{NOW + 1},B\n")
    result: Any = cli("run", QUERY, "--events", "seconds.csv")
    assert "hint: say --time-unit s, or --time-unit ms if they are milliseconds" in result.err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "warning" not in cli("run", QUERY, "--events", "seconds.csv", "--time-unit", "s").err
    assert "required one of s, ms, us, ns" in cli("run", QUERY, "--events", "seconds.csv", "--time-unit", "h").err
