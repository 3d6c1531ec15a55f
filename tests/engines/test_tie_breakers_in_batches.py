"""Columns that break ties order events in a matcher as in `match`, wherever it is cut and restored."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.pushes import Events, Pushes, matched, pushed, pushes
from ouzel.testing.strategies import RandomQuery, queries, streams

SCHEMA = pa.schema({"ts": "int64", "seq": "int64", "type": "string"})
ENGINES = ("scan", "automaton", "reference")
ORDER = ["ts", "seq"]


@st.composite
def ordered_streams(draw: st.DrawFn) -> Events:
    """Events of few times, so that tie-breakers matter, some of them equal in those too."""
    events = draw(streams())
    return [{**event, "ts": event["ts"] // 2, "seq": draw(st.integers(0, 3))} for event in events]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([(10, 0, "A")], [(10, 1, "B")], [(10, 10)]),
        ([(10, 1, "A")], [(10, 0, "B")], []),
        ([(10, 0, "A"), (12, 0, "A")], [(20, 1, "B")], []),
        ([(10, 0, "A"), (12, 7, "A")], [(13, 1, "B")], [(10, 13), (12, 13)]),
        ([(10, 3, "B"), (10, 2, "A")], [(11, 0, "D")], [(10, 10)]),
    ],
)
def test_held_events_keep_their_times_and_order(
    engine: str, before: list[Any], after: list[Any], expected: list[Any]
) -> None:
    query = "PATTERN SEQ(A a, B b) WITHIN 5 RETURN a.ts AS a, b.ts AS b"
    matcher = oz.matcher(query, SCHEMA, order=ORDER, engine=engine)
    found: list[Any] = []
    for rows in (before, after):
        table = pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)
        found += matcher.push(table).to_pylist()
        matcher = oz.restore(matcher.snapshot())
    found += matcher.finish().to_pylist()
    assert sorted((one["a"], one["b"]) for one in found) == expected


@pytest.mark.parametrize("engine", ["auto", "reference"])
@settings(max_examples=100)
@given(query=queries(non_overlap=True, totals=True), events=ordered_streams(), cut=pushes())
def test_any_split_gives_what_match_finds(engine: str, query: RandomQuery, events: Events, cut: Pushes) -> None:
    found = pushed(query.text, events, cut, order=ORDER, engine=engine)
    assert found == matched(query.text, events, order=ORDER)


@pytest.mark.parametrize("engine", ["scan", "automaton"])
@settings(max_examples=100)
@given(
    query=queries(strategies=("skip_till_any_match",), closures=False, alternatives=False, non_overlap=True),
    events=ordered_streams(),
    cut=pushes(),
)
def test_any_split_of_sequences(engine: str, query: RandomQuery, events: Events, cut: Pushes) -> None:
    found = pushed(query.text, events, cut, order=ORDER, engine=engine)
    assert found == matched(query.text, events, order=ORDER)
