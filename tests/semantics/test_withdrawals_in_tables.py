"""Withdrawals where all events are there: `oz.match(…, op=…)` matches what is left, of any kind of table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ouzel as oz

QUERY = "PATTERN SEQ(A a, B b) RETURN a.ts AS a, b.ts AS b, a.x AS x"
NAMES = ("ts", "type", "x", "op")
ROWS = [(1, "A", 5, 1), (2, "B", None, 1), (3, "B", None, 1), (1, "A", 5, -1), (1, "A", 6, 1), (3, "B", None, -1)]
LEFT = [{"a": 1, "b": 2, "x": 6}]


def rows(*given: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [dict(zip(NAMES, one, strict=True)) for one in given]


def test_kinds_of_tables(tmp_path: Path) -> None:
    events = rows(*ROWS)
    table = pa.Table.from_pylist(events)
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, events)))
    for given in (table, tmp_path / "events.jsonl"):
        assert oz.match(given, QUERY, op="op").to_pylist() == LEFT
    assert oz.match(events, QUERY, op="op") == LEFT
    assert oz.match(pd.DataFrame(events), QUERY, op="op").to_dict("records") == LEFT
    assert oz.match(pl.from_arrow(table), QUERY, op="op").to_dicts() == LEFT
    assert oz.match([], QUERY, op="op") == []


def test_a_table_for_each_type() -> None:
    tables = {name: [{**row} for row in rows(*ROWS) if row["type"] == name] for name in "AB"}
    for row in (row for table in tables.values() for row in table):
        del row["type"]
    report = oz.Report()
    assert oz.match(tables, QUERY, op="op", report=report) == LEFT
    assert report.withdrawn == 2


def test_the_column_is_no_attribute() -> None:
    with pytest.raises(oz.QueryError, match="unknown attribute 'op'"):
        oz.match(rows(*ROWS), "PATTERN A a RETURN a.op", op="op")
    (whole,) = oz.match(rows(*ROWS), "PATTERN A a", op="op")
    assert whole["a"] == {"ts": 1, "type": "A", "x": 6}


def test_positions_count_what_is_left() -> None:
    assert (
        oz.match(rows(*ROWS), QUERY.replace("RETURN", "WITHIN 2 EVENTS RETURN"), op="op", order="arrival") == LEFT
    )


def test_identity() -> None:
    events = rows((1, "A", 5, 1), (2, "B", 7, 1), (2, "B", None, -1), (0, "B", 1, 1))
    with pytest.raises(oz.DataError, match="row 2, column 'op': it withdraws an event that is not there"):
        oz.match(events, QUERY, op="op")
    assert oz.match(events, QUERY, op="op", identity=["type"]) == []
    with pytest.raises(oz.SchemaError, match="identity: required columns of the schema; there is no 'typ'"):
        oz.match(events, QUERY, op="op", identity=["typ"])


def test_what_is_malformed_is_set_aside() -> None:
    events = rows(
        (1, "A", 5, 1), (2, "B", 7, 0), (2, "B", 7, None), (3, "B", 7, -1), (4, "B", 7, 1), (9, "A", 1, 1)
    )
    report = oz.Report()
    found = oz.match(events, QUERY, op="op", on_bad="quarantine", report=report)
    assert found == [{"a": 1, "b": 4, "x": 5}]
    assert [(row["row"], row["op"]) for row in report.quarantined] == [(1, 0), (2, None), (3, -1)]
    assert report.quarantined[2]["problem"] == "column 'op': it withdraws an event that is not there"
    with pytest.raises(oz.DataError, match="column 'op': required \\+1"):
        oz.match(events, QUERY, op="op")


def test_a_withdrawal_comes_after_its_event() -> None:
    events = rows((1, "A", 5, -1), (1, "A", 5, 1))
    with pytest.raises(oz.DataError, match="row 0, column 'op'"):
        oz.match(events, QUERY, op="op")


@pytest.mark.parametrize("speculation", ["inf", "1 minute", 5])
def test_speculation_is_for_streams(speculation: Any) -> None:
    with pytest.raises(oz.OuzelError, match=r"is not to be had where all events are there; it is for oz\.matcher"):
        oz.match(rows(*ROWS), QUERY, op="op", speculation=speculation)
    assert oz.match(rows(*ROWS), QUERY, op="op", speculation=0) == LEFT
