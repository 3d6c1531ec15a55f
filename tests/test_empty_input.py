"""No events in, no matches out, in a table that has the columns and types it would have with matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ouzel as oz

EVENTS = pa.table(
    {
        "ts": pa.array([0, 1, 2, 3], pa.timestamp("ms", "UTC")),
        "type": ["A", "B", "B", "C"],
        "id": pa.array([1, 1, 1, 1], pa.int32()),
        "price": [1.5, 2.5, 3.5, 4.5],
        "name": ["a", None, "c", "d"],
        "day": pa.array([0, 1, 2, 3], pa.date32()),
        "parts": [[1], [2, 3], [], None],
        "kind": pa.array(["x", "y", "x", "y"]).dictionary_encode(),
    }
)


def by_type(table: pa.Table) -> dict[str, pa.Table]:
    return {name: table.filter(pc.equal(table["type"], name)).drop_columns(["type"]) for name in "ABC"}


def to_pandas(table: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = table.drop_columns(["parts"]).to_pandas()
    return frame


KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "pandas": to_pandas,
    "Polars": pl.from_arrow,
    "one table per type": by_type,
    "pandas, one table per type": lambda table: {name: to_pandas(one) for name, one in by_type(table).items()},
}
QUERIES = (
    "PATTERN SEQ(A a, B+ b[], C? c)",
    "PATTERN SEQ(A a, !(C n), B b) WHERE [id] WITHIN 1 hour",
    "PATTERN A & B WITHIN 5",
    "PATTERN A; B*; C",
    "PATTERN SEQ(A a, B+ b[]) RETURN a, b, a.ts, b[].price, b.name AS names, a.kind, b[1].day, a.id",
    "PATTERN SEQ(A a, B+ b[]) RETURN count(b[]), sum(b[].id), avg(b[].price), max(b[].name), b.LEN, last(b[].day)",
    "PATTERN SEQ(A a, B b) RETURN a.id + 1, a.price * 2, a.id / 2, a.id = 1, lower(a.name), start(a), end(b)",
    "PATTERN SEQ(A a, B b) RETURN b.ts - a.ts AS took, a.ts + 1 hour AS later, coalesce(a.name, 'x'), 1, TRUE",
    "PATTERN SEQ(A a, B b) OUTPUT NON_OVERLAP",
)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_events(kind: str, query: str) -> None:
    some = oz.match(KINDS[kind](EVENTS), query)
    none = oz.match(KINDS[kind](EVENTS.slice(0, 0)), query)
    assert len(some) > 0
    assert len(none) == 0
    assert type(none) is type(some)
    if isinstance(some, pd.DataFrame):
        assert dict(none.dtypes) == dict(some.dtypes)
    else:
        assert none.schema == some.schema


@pytest.mark.parametrize("query", QUERIES)
def test_events_but_no_matches(query: str) -> None:
    lone = EVENTS.slice(3, 1)
    with pytest.warns(oz.OuzelWarning, match="no event has the type"):
        none = oz.match(lone, query)
    assert none.num_rows == 0
    assert none.schema == oz.match(EVENTS, query).schema


def test_a_record_batch() -> None:
    batch = EVENTS.to_batches()[0]
    some, none = oz.match(batch, QUERIES[0]), oz.match(batch.slice(0, 0), QUERIES[0])
    assert (some.num_rows > 0, none.num_rows) == (True, 0)
    assert none.schema == some.schema


def test_an_empty_list() -> None:
    assert oz.match([], "PATTERN SEQ(A a, B b)") == []
    assert oz.match([], "QUERY p PATTERN A QUERY q PATTERN B") == {"p": [], "q": []}


def test_an_empty_list_and_a_query_that_is_wrong() -> None:
    with pytest.raises(oz.QueryError):
        oz.match([], "PATTERN SEQ(A a, B a)")


def test_columns_without_types() -> None:
    query = "PATTERN SEQ(A a, B b) RETURN a.ts, b.x"
    for events in (
        pa.table({"ts": pa.nulls(0), "type": pa.nulls(0), "x": pa.nulls(0)}),
        pd.DataFrame(columns=["ts", "type", "x"]),
        pl.DataFrame({"ts": [], "type": [], "x": []}),
    ):
        found = oz.match(events, query)
        assert len(found) == 0
        assert type(found) is type(events)


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "Polars"])
def test_several_queries(kind: str) -> None:
    text = "QUERY p PATTERN SEQ(A a, B b) RETURN a.id AS id INTO T QUERY q PATTERN SEQ(T t, C c) RETURN t, c.price"
    some = oz.match(KINDS[kind](EVENTS), text)
    none = oz.match(KINDS[kind](EVENTS.slice(0, 0)), text)
    assert list(none) == list(some) == ["p", "q"]
    assert all(len(table) == 0 for table in none.values())
    if kind == "pyarrow":
        assert [table.schema for table in none.values()] == [table.schema for table in some.values()]


def test_a_window_too_short_for_any_match() -> None:
    found = oz.match(EVENTS, "PATTERN SEQ(A a, C c) WITHIN 1")
    assert found.num_rows == 0
    assert found.schema == oz.match(EVENTS, "PATTERN SEQ(A a, C c)").schema
