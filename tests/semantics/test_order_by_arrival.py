"""`order="arrival"`: events of one time come one after the other, as their rows do."""

from __future__ import annotations

import random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz

SCHEMA = pa.schema({"ts": pa.int64(), "type": pa.string(), "seq": pa.int64(), "x": pa.int64()})
PAIRS = "PATTERN SEQ(A a, B b) RETURN a.x AS a, b.x AS b"
QUERIES = [
    PAIRS,
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity { } RETURN a.x AS a, b.x AS b",
    "PATTERN SEQ(A a, !(C c), B b) WITHIN 3 RETURN a.x AS a, b.x AS b",
    "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match { b[i].seq >= a.seq } WITHIN 2 RETURN a.x, b[].x AS b",
    "PATTERN SEQ(A a, B b) WITHIN 3 RETURN a.x AS a, b.x AS b OUTPUT NON_OVERLAP",
    "PATTERN A a & B b WITHIN 1 RETURN a.x AS a, b.x AS b",
    "QUERY p PATTERN SEQ(A a, B b) WITHIN 2 RETURN a.x AS a, b.x AS b INTO P "
    "QUERY q PATTERN SEQ(P p, C c) WITHIN 2 RETURN p.a, p.b, c.x AS c",
]
ORDERS: list[Any] = ["arrival", ["ts", "arrival"], ["ts", "seq", "arrival"]]


def table(rows: list[tuple[int, str, int]]) -> pa.Table:
    return pa.table([*map(list, zip(*rows, strict=True)), list(range(len(rows)))], schema=SCHEMA)


def random_events(seed: int, count: int = 24) -> pa.Table:
    chosen = random.Random(seed)
    return table([(chosen.randrange(6), chosen.choice("ABC"), chosen.randrange(2)) for _ in range(count)])


def numbered(events: pa.Table, order: Any) -> pa.Table:
    """The same events with ties broken by a column: the row, or `seq` and the row."""
    weight = 1_000 if "seq" in order else 0
    places = [weight * seq + row for row, seq in enumerate(events.column("seq").to_pylist())]
    return events.append_column("place", pa.array(places))


def rows(result: Any) -> Any:
    return (
        {name: one.to_pylist() for name, one in result.items()} if isinstance(result, dict) else result.to_pylist()
    )


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("query", QUERIES)
def test_rows_break_ties(query: str, order: Any) -> None:
    for seed in range(3):
        events = random_events(seed)
        expected = rows(oz.match(numbered(events, order), query, order=["ts", "place"]))
        for engine in ("auto", "reference"):
            assert rows(oz.match(events, query, order=order, engine=engine)) == expected


def test_events_of_one_time() -> None:
    events = table([(1, "B", 0), (1, "A", 0), (1, "B", 0)])
    assert rows(oz.match(events, PAIRS)) == []
    assert rows(oz.match(events, PAIRS, order="arrival")) == [{"a": 1, "b": 2}]
    assert oz.match(events.to_pylist(), PAIRS, order=["ts", "arrival"]) == [{"a": 1, "b": 2}]
    assert len(oz.match(events.to_pandas(), PAIRS, order="arrival")) == 1


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("query", QUERIES)
def test_a_matcher_in_any_batches_and_with_snapshots(query: str, order: Any) -> None:
    for seed in range(2):
        events, delay = random_events(seed), 10
        if seed:
            events, delay = table(sorted(map(_key, events.to_pylist()), key=lambda row: row[0])), 0
        expected = _sorted(rows(oz.match(events, query, order=order)))
        for size in (1, 5):
            for restores in (False, size > 1):
                found = _in_batches(events, query, order, size, delay, restores=restores)
                assert _sorted(found) == expected


def _key(row: dict[str, Any]) -> tuple[int, str, int]:
    return row["ts"], row["type"], row["seq"]


def _sorted(found: Any) -> Any:
    return {
        name: sorted(map(repr, one)) for name, one in (found if isinstance(found, dict) else {"": found}).items()
    }


def _in_batches(events: pa.Table, query: str, order: Any, size: int, delay: int, *, restores: bool) -> Any:
    matcher = oz.matcher(query, SCHEMA, order=order, watermark=delay)
    parts = []
    for start in range(0, events.num_rows, size):
        parts.append(matcher.push(events.slice(start, size)))
        if restores:
            matcher = oz.restore(matcher.snapshot())
    parts.append(matcher.finish())
    if isinstance(parts[0], dict):
        return {name: rows(pa.concat_tables([part[name] for part in parts])) for name in parts[0]}
    return rows(pa.concat_tables(parts))


def test_a_column_of_that_name() -> None:
    events = table([(1, "B", 0), (1, "A", 0), (1, "B", 0)]).append_column("arrival", pa.array([3, 2, 1]))
    assert rows(oz.match(events, PAIRS, order=["ts", "arrival"])) == [{"a": 1, "b": 0}]
    assert rows(oz.match(events, PAIRS, order="arrival")) == [{"a": 1, "b": 2}]


def test_malformed_rows_leave_the_others_in_order() -> None:
    events = pd.DataFrame({"ts": [1, None, 1, 1], "type": ["B", "B", "A", "B"], "x": [0, 1, 2, 3]})
    assert len(oz.match(events, PAIRS, order="arrival", on_bad="quarantine")) == 1


def test_one_table_per_type_has_no_order_of_rows() -> None:
    events = {"A": table([(1, "A", 0)]), "B": table([(1, "B", 0)])}
    for order in ("arrival", ["ts", "arrival"]):
        with pytest.raises(oz.SchemaError, match=r"^order: 'arrival' required one table"):
            oz.match(events, PAIRS, order=order)


def test_arrival_is_the_last_tie_breaker() -> None:
    with pytest.raises(oz.SchemaError, match=r"^order column 'arrival' is not among the columns"):
        oz.match(table([(1, "A", 0)]), "PATTERN A a", order=["ts", "arrival", "seq"])
