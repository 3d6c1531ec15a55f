"""Malformed events: refused with their row and column, or set aside, counted and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz

Rows = list[dict[str, Any]]
HINT = "\n  hint: mend the data, or set such events aside with on_bad='quarantine'"
NO_TIME = "column 'ts': the event has no time"
QUERY = "PATTERN SEQ(A a, B b) RETURN a.ts AS first, b.ts AS last"
USING_ALL = f"{QUERY}, a.seq, b.x"
COLUMNS = pa.schema({"ts": pa.int64(), "type": pa.string(), "seq": pa.int64(), "x": pa.string()})
POLARS = (pl.Int64, pl.String, pl.Int64, pl.String)

KINDS: dict[str, Callable[[Rows], Any]] = {
    "pyarrow": lambda rows: pa.Table.from_pylist(rows, COLUMNS),
    "pandas": lambda rows: pd.DataFrame(rows, columns=COLUMNS.names).convert_dtypes(),
    "Polars": lambda rows: pl.DataFrame(
        rows, {"ts": pl.Int64, "type": pl.String, "seq": pl.Int64, "x": pl.String}
    ),
    "rows": lambda rows: rows,
}
EVENTS: Rows = [
    {"ts": 1, "type": "A", "seq": 1, "x": "1"},
    {"ts": 2, "type": "A", "seq": 2, "x": "2"},
    {"ts": 3, "type": "B", "seq": 3, "x": "3"},
    {"ts": 4, "type": "B", "seq": 4, "x": "4"},
]
TYPES = {"A": {"x": "int64"}, "B": {"x": pa.int64()}}
kinds = pytest.mark.parametrize("kind", KINDS)


def records(table: Any) -> Rows:
    """Any kind of table as rows, with None for what is missing."""
    if isinstance(table, pa.Table):
        return table.to_pylist()  # type: ignore[no-any-return]
    if isinstance(table, pl.DataFrame):
        return table.to_dicts()
    if isinstance(table, pd.DataFrame):
        return pa.Table.from_pandas(table, preserve_index=False).to_pylist()  # type: ignore[no-any-return]
    assert isinstance(table, list)
    return table


def spoilt(row: int, **values: Any) -> Rows:
    return [event | values if number == row else event for number, event in enumerate(EVENTS)]


def refusal(events: Any, query: str = QUERY, **options: Any) -> str:
    with pytest.raises(oz.DataError) as error:
        oz.match(events, query, **options)
    return str(error.value)


# ---- refused ---------------------------------------------------------------------------------------------


@kinds
def test_an_event_without_a_time(kind: str) -> None:
    assert refusal(KINDS[kind](spoilt(1, ts=None))) == "row 1, column 'ts': the event has no time" + HINT


@kinds
def test_an_event_without_a_type(kind: str) -> None:
    assert refusal(KINDS[kind](spoilt(2, type=None))) == "row 2, column 'type': the event has no type" + HINT


@kinds
def test_an_event_of_an_unknown_type(kind: str) -> None:
    message = refusal(KINDS[kind](spoilt(3, type="BB")), types={"A": ["x"], "B": ["x"]})
    assert (
        message == "row 3, column 'type': unknown event type 'BB'; required one of A, B; did you mean 'B'?" + HINT
    )


@kinds
def test_an_event_without_a_tie_breaker(kind: str) -> None:
    message = refusal(KINDS[kind](spoilt(0, seq=None)), order=["ts", "seq"])
    assert message == "row 0, column 'seq': the event has no value to order by" + HINT


@kinds
def test_a_value_of_another_type_than_declared(kind: str) -> None:
    message = refusal(KINDS[kind](spoilt(1, x="two")), types=TYPES)
    assert message == "row 1, column 'x': required int64; got 'two'" + HINT


@kinds
def test_several_malformed_events(kind: str) -> None:
    rows = [event | {"ts": None} if number in (1, 3) else event for number, event in enumerate(EVENTS)]
    expected = "row 1, column 'ts': the event has no time (2 malformed events in all)" + HINT
    assert refusal(KINDS[kind](rows)) == expected


@pytest.mark.parametrize(
    ("column", "value", "required"),
    [
        ("seq", "two", "int64; got 'two'"),
        ("seq", [2], "int64; got [2]"),
        ("seq", {"n": 2}, "int64; got {'n': 2}"),
        ("x", 2, "string; got 2"),
        ("x", 2.5, "string; got 2.5"),
        ("x", True, "string; got True"),
        ("ts", "now", "int64; got 'now'"),
        ("type", 3, "string; got 3"),
    ],
)
def test_a_value_that_clashes_with_those_before(column: str, value: Any, required: str) -> None:
    message = refusal(spoilt(2, **{column: value}), USING_ALL)
    assert message == f"row 2, column '{column}': required {required}" + HINT


def test_a_row_that_lacks_the_column() -> None:
    rows = [*EVENTS, {"type": "B"}]
    assert refusal(rows) == "row 4, column 'ts': the event has no time" + HINT


@kinds
def test_one_table_per_type(kind: str) -> None:
    events = {"A": KINDS[kind](EVENTS[:2]), "B": KINDS[kind](spoilt(3, ts=None)[2:])}
    assert refusal(events) == "row 1 of 'B', column 'ts': the event has no time" + HINT


# ---- set aside -------------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize(
    ("row", "values", "problem"),
    [
        (1, {"ts": None}, NO_TIME),
        (2, {"type": None}, "column 'type': the event has no type"),
        (3, {"type": "C"}, "column 'type': unknown event type 'C'; required one of A, B"),
        (0, {"seq": None}, "column 'seq': the event has no value to order by"),
        (
            0,
            {"ts": None, "type": None},
            "column 'ts': the event has no time; column 'type': the event has no type",
        ),
    ],
    ids=["no time", "no type", "unknown type", "no tie-breaker", "neither time nor type"],
)
def test_set_aside(kind: str, row: int, values: dict[str, Any], problem: str) -> None:
    rows, report = spoilt(row, **values), oz.Report()
    options: dict[str, Any] = {"types": {"A": ["x"], "B": ["x"]}, "order": ["ts", "seq"]}
    found = oz.match(KINDS[kind](rows), QUERY, on_bad="quarantine", report=report, **options)
    assert type(report.quarantined) is type(KINDS[kind](rows))
    assert records(report.quarantined) == [rows[row] | {"row": row, "problem": problem}]
    assert (report.events, report.quarantined_count) == (4, 1)
    rest = [event for number, event in enumerate(EVENTS) if number != row]
    assert records(found) == records(oz.match(KINDS[kind](rest), QUERY, **options))
    assert type(found) is type(KINDS[kind](rows))
    assert report.matches == len(records(found))


def test_rows_keep_the_values_that_do_not_fit() -> None:
    rows, report = spoilt(1, seq="two"), oz.Report()
    found = oz.match(rows, USING_ALL, on_bad="quarantine", report=report)
    problem = "column 'seq': required int64; got 'two'"
    assert report.quarantined == [rows[1] | {"row": 1, "problem": problem}]
    assert [(row["first"], row["last"]) for row in found] == [(1, 3), (1, 4)]


@kinds
def test_set_aside_of_one_table_per_type(kind: str) -> None:
    rows, report = spoilt(3, ts=None), oz.Report()
    events = {"A": KINDS[kind](rows[:2]), "B": KINDS[kind](rows[2:])}
    found = oz.match(events, QUERY, on_bad="quarantine", report=report)
    assert {name: records(table) for name, table in report.quarantined.items()} == {
        "A": [],
        "B": [rows[3] | {"row": 1, "problem": NO_TIME}],
    }
    assert (report.events, report.quarantined_count) == (4, 1)
    assert records(found) == [{"first": 1, "last": 3}, {"first": 2, "last": 3}]


@kinds
def test_nothing_to_set_aside(kind: str) -> None:
    report = oz.Report()
    oz.match(KINDS[kind](EVENTS), QUERY, on_bad="quarantine", report=report)
    assert type(report.quarantined) is type(KINDS[kind](EVENTS))
    assert records(report.quarantined) == []
    assert (report.events, report.matches, report.quarantined_count, report.problems) == (4, 4, 0, [])


@kinds
def test_everything_set_aside(kind: str) -> None:
    report = oz.Report()
    rows = [event | {"ts": None} for event in EVENTS]
    found = oz.match(KINDS[kind](rows), QUERY, on_bad="quarantine", report=report)
    assert records(found) == []
    assert [row["row"] for row in records(report.quarantined)] == [0, 1, 2, 3]


SPOILT = st.fixed_dictionaries(
    {
        "ts": st.one_of(st.integers(0, 9), st.none()),
        "type": st.sampled_from(["A", "B", "C", None]),
        "seq": st.one_of(st.integers(0, 9), st.none()),
        "x": st.sampled_from(["1", "2", None]),
    }
)


@given(st.lists(SPOILT, max_size=8), st.sampled_from(sorted(KINDS)))
def test_nothing_is_lost(rows: Rows, kind: str) -> None:
    report = oz.Report()
    options: dict[str, Any] = {"types": {"A": ["x"], "B": ["x"]}, "order": ["ts", "seq"]}
    bad = [
        number
        for number, row in enumerate(rows)
        if row["ts"] is None or row["seq"] is None or row["type"] not in ("A", "B")
    ]
    rows = [*rows, EVENTS[0]]  # without a good value in a column, not every kind says what it holds
    found = oz.match(KINDS[kind](rows), QUERY, on_bad="quarantine", report=report, **options)
    kept = records(report.quarantined)
    assert [row.pop("row") for row in kept] == bad
    assert all(row.pop("problem") for row in kept)
    assert kept == [rows[number] for number in bad]
    used = [row for number, row in enumerate(rows) if number not in bad]
    assert len(kept) + len(used) == report.events == len(rows)
    again = oz.match(KINDS["pyarrow"](used), QUERY, **options)
    assert records(found) == records(again)
