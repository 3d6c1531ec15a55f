"""Events that come in with a start and an end: every engine, and every split of the stream, as the reference."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

import ouzel as oz
from engines.pushes import TYPES
from ouzel.testing.combinations import combinations
from ouzel.testing.strategies import STRATEGIES, RandomQuery, queries, streams
from semantics.everywhere import check_refusal

TIME = ("start", "ts")
FEW = oz.Limits(max_matches=150, max_runs=1_500)
Events = list[dict[str, Any]]


@st.composite
def lasting(draw: st.DrawFn) -> pa.Table:
    rows = draw(streams(14, min_events=6))
    lengths = st.sampled_from((0, 0, 1, 2, 5))
    table = pa.Table.from_pylist([{**row, "start": row["ts"] - draw(lengths)} for row in rows])
    return table.sort_by("ts")


def found(query: str, table: pa.Table, engine: str) -> list[str]:
    try:
        result = oz.match(table, query, types=TYPES, time=TIME, engine=engine, limits=FEW)
    except oz.OuzelError as error:
        assume("more than" not in str(error) and not isinstance(error, oz.QueryError))
        check_refusal(error, engine)
        assume(False)
    return sorted(map(repr, result.to_pylist()))


def in_batches(query: str, table: pa.Table, size: int) -> list[str]:
    matcher = oz.matcher(query, table.schema, types=TYPES, time=TIME, limits=FEW)
    rows: Events = []
    for row in range(0, table.num_rows, size):
        rows += matcher.push(table.slice(row, size)).to_pylist()
        matcher = oz.restore(matcher.snapshot())
    return sorted(map(repr, rows + matcher.finish().to_pylist()))


def check(engine: str, query: RandomQuery, table: pa.Table) -> None:
    expected = found(query.text, table, "reference")
    assert found(query.text, table, engine) == expected


@given(queries(strategies=STRATEGIES[-1:], closures=False, alternatives=False), lasting())
def test_the_scan(query: RandomQuery, table: pa.Table) -> None:
    check("scan", query, table)


@given(queries(non_overlap=True), lasting())
def test_the_automaton(query: RandomQuery, table: pa.Table) -> None:
    check("automaton", query, table)


@given(combinations(), lasting())
def test_the_tree(query: RandomQuery, table: pa.Table) -> None:
    check("tree", query, table)


@given(queries(), lasting(), st.integers(1, 4))
def test_in_batches(query: RandomQuery, table: pa.Table, size: int) -> None:
    expected = found(query.text, table, "reference")
    try:
        assert in_batches(query.text, table, size) == expected
    except oz.OuzelError as error:
        assume("more than" not in str(error))
        raise
