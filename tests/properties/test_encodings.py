"""How values are stored changes no result: on every engine, at once and in batches, with snapshots in between."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.physical.compiled import kernel
from ouzel.testing.encodings import Rows, stored_streams
from ouzel.testing.strategies import RandomQuery, queries
from semantics.everywhere import pushed

TYPES = {name: ["eid", "k", "x", "y"] for name in "ABCD"}


def agree(query: str, rows: Rows, table: pa.Table, engine: str) -> None:
    expected = oz.match(rows, query, engine="reference", types=TYPES)
    try:
        found = oz.match(table, query, engine=engine, types=TYPES)
    except oz.OuzelError as error:
        if "cannot run this query" not in str(error):
            raise
        found = oz.match(table, query, types=TYPES)
    assert without_edges(found.to_pylist()) == without_edges(expected)


def without_edges(rows: Rows) -> Rows:
    """Rows without the edges of windows, which are of the type of the time column."""
    return [{name: value for name, value in row.items() if not name.startswith("window_")} for row in rows]


@pytest.mark.parametrize("engine", ["reference", "scan", "automaton", "auto"])
@settings(max_examples=100)
@given(query=queries(non_overlap=True, totals=True), events=stored_streams(max_events=10))
def test_engines(engine: str, query: RandomQuery, events: tuple[Rows, pa.Table]) -> None:
    agree(query.text, *events, engine)


@settings(max_examples=2)
@given(query=queries(), events=stored_streams(max_events=10))
def test_compiled(query: RandomQuery, events: tuple[Rows, pa.Table]) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        agree(query.text, *events, "auto")


@settings(max_examples=100)
@given(
    queries(non_overlap=True, totals=True),
    stored_streams(max_events=10, in_order=True),
    st.integers(1, 4),
    st.booleans(),
)
def test_batches(query: RandomQuery, events: tuple[Rows, pa.Table], size: int, restored: bool) -> None:
    rows, table = events
    expected = oz.match(rows, query.text, engine="reference", types=TYPES)
    found = pushed(query.text, table, size=size, restored=restored, types=TYPES)
    left = without_edges(expected)
    for row in without_edges(found):
        # by value: a key of 1 and one of 1.0 are the same
        assert row in left
        left.remove(row)
    assert left == []
