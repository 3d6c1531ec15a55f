from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import Row, stream, tables

QUERY = (
    "PATTERN SEQ(A a, B b) WHERE [id] WITHIN 10 RETURN a.eid AS first, b.eid AS last, b.x - a.x AS rise, b.note"
)
EVENTS = stream("a1:id=1,x=1,note=u a2:id=2,x=2,note=v b3:id=1,x=5,note=null b4:id=2,x=1,note=w")
EXPECTED = [
    {"first": "a1", "last": "b3", "rise": 4, "note": None},
    {"first": "a2", "last": "b4", "rise": -1, "note": "w"},
]

Kind = tuple[Callable[[list[Row]], Any], type, Callable[[Any], list[Row]]]
KINDS: dict[str, Kind] = {
    "pyarrow": (pa.Table.from_pylist, pa.Table, lambda table: table.to_pylist()),
    "record batch": (pa.RecordBatch.from_pylist, pa.Table, lambda table: table.to_pylist()),
    "pandas": (
        lambda rows: pd.DataFrame(rows, index=range(100, 100 + len(rows))),
        pd.DataFrame,
        lambda frame: frame.astype(object).where(frame.notna(), None).to_dict("records"),
    ),
    "polars": (pl.DataFrame, pl.DataFrame, lambda frame: frame.to_dicts()),
    "list of dicts": (lambda rows: rows, list, lambda rows: rows),
}
each_kind = pytest.mark.parametrize("kind", list(KINDS))


@each_kind
def test_one_table(kind: str) -> None:
    make, result_type, read = KINDS[kind]
    result = oz.match(make(EVENTS), QUERY)
    assert isinstance(result, result_type)
    assert read(result) == EXPECTED


@each_kind
def test_a_table_per_type(kind: str) -> None:
    make, result_type, read = KINDS[kind]
    events = {"A": EVENTS[:2], "B": EVENTS[2:]}
    result = oz.match({name: make(rows) for name, rows in events.items()}, QUERY)
    assert isinstance(result, result_type)
    assert read(result) == EXPECTED


@each_kind
def test_several_queries(kind: str) -> None:
    make, result_type, read = KINDS[kind]
    result = oz.match(make(EVENTS), f"QUERY pairs {QUERY} QUERY singles PATTERN A a RETURN a.eid")
    assert list(result) == ["pairs", "singles"]
    assert all(isinstance(table, result_type) for table in result.values())
    assert read(result["pairs"]) == EXPECTED
    assert read(result["singles"]) == [{"eid": "a1"}, {"eid": "a2"}]


@each_kind
def test_no_matches(kind: str) -> None:
    make, result_type, read = KINDS[kind]
    result = oz.match(make(EVENTS), QUERY.replace("WITHIN 10", "WITHIN 1"))
    assert isinstance(result, result_type)
    assert read(result) == []


@each_kind
def test_columns_of_other_names(kind: str) -> None:
    make, _result_type, read = KINDS[kind]
    renamed = [{"when": row["ts"], "what": row["type"], "eid": row["eid"]} for row in EVENTS]
    result = oz.match(make(renamed), "PATTERN SEQ(A a, A b) RETURN b.eid", time="when", type="what")
    assert read(result) == [{"eid": "a2"}]


@each_kind
def test_whole_events(kind: str) -> None:
    make, _result_type, read = KINDS[kind]
    (match,) = read(oz.match(make(EVENTS[:1]), "PATTERN SEQ(A+ a[]) RETURN a[1].x, a"))
    assert match["x"] == 1
    assert [dict(event) for event in match["a"]] == EVENTS[:1]


def test_tables_per_type_have_attributes_of_their_own() -> None:
    events = tables("a1:x=1 b2:y=2")
    assert oz.match(events, "PATTERN SEQ(A a, B b) RETURN a.x, b.y") == [{"x": 1, "y": 2}]
    (match,) = oz.match(events, "PATTERN SEQ(A a, B b)")
    assert match["a"] == {"eid": "a1", "ts": 1, "x": 1}
    assert match["b"] == {"eid": "b2", "ts": 2, "y": 2}


def test_tables_per_type_may_have_types_that_differ_under_one_name() -> None:
    events = {"A": [{"ts": 1, "v": 7}], "B": [{"ts": 2, "v": "seven"}]}
    assert oz.match(events, "PATTERN SEQ(A a, B b) WHERE a.v > 5 AND b.v LIKE 's%' RETURN a.v AS x, b.v AS y") == [
        {"x": 7, "y": "seven"}
    ]


def test_tables_per_type_may_be_of_several_kinds() -> None:
    events = {"A": pa.Table.from_pylist(EVENTS[:2]), "B": pl.DataFrame(EVENTS[2:])}
    assert oz.match(events, QUERY).to_pylist() == EXPECTED


def test_no_events() -> None:
    assert oz.match([], QUERY) == []
    empty = pa.Table.from_pylist(EVENTS).slice(0, 0)
    assert oz.match(empty, QUERY).num_rows == 0
    assert oz.match(empty, QUERY).schema.names == ["first", "last", "rise", "note"]
