"""Fields of structs: a.address.city, in conditions, equivalence tests, aggregates and results."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere
from semantics.harness import found, rows

PAIR = "PATTERN SEQ(A a, B b)"


def event(ts: int, kind: str, city: str | None, x: int | None) -> dict[str, Any]:
    return {"ts": ts, "type": kind, "eid": f"{kind.lower()}{ts}", "at": {"city": city, "pos": {"x": x, "y": 1.5}}}


ROWS = [event(1, "A", "Rome", 1), event(2, "A", "Oslo", 2), {**event(3, "A", None, 3), "at": None}]
ROWS += [event(4, "B", "Rome", 4), event(5, "B", "Oslo", None), event(6, "B", None, 6)]
EVENTS = pa.Table.from_pylist(ROWS)


def test_in_conditions() -> None:
    assert found("PATTERN A a WHERE a.at.city = 'Rome'", ROWS) == ["a1"]
    assert found("PATTERN A a WHERE a.at.pos.x >= 2", ROWS) == ["a2"]
    assert found("PATTERN A a WHERE a.at.city IS NULL", ROWS) == ["a3"]
    assert found(f"{PAIR} WHERE a.at.pos.x < b.at.pos.x AND a.at.city LIKE 'R%'", ROWS) == ["a1 b4", "a1 b6"]


@pytest.mark.parametrize(
    ("query", "engine"),
    [
        (f"{PAIR} WHERE [at.city] WITHIN 9 RETURN a.at.city, a.ts", "scan"),
        (f"{PAIR} WHERE a.at.city = b.at.city WITHIN 9 RETURN a.at.city, b.at.pos.x", "scan"),
        (f"{PAIR} WHERE a.at.pos.x * 2 <= b.at.pos.x WITHIN 9 RETURN a.at.pos.x AS x, a.at", "scan"),
        ("PATTERN SEQ(A+ a[], B b) WHERE a[i].at.pos.x > a[1].at.pos.x AND avg(a[].at.pos.x) < b.at.pos.x "
         "WITHIN 9 RETURN a[].at.city, sum(a[].at.pos.x) AS s, a[1].at.pos.y", "automaton"),
        ("PATTERN SEQ(A+ a[], B b) WHERE [at.city = 'Oslo'] WITHIN 9 RETURN a[1].at.city, b.at.pos", "automaton"),
    ],
)  # fmt: skip
def test_on_every_engine(query: str, engine: str) -> None:
    assert everywhere(query, EVENTS, runs_on=engine)


def test_compiled() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE [at.city] AND a[i].at.pos.x > a[i-1].at.pos.x RETURN sum(a[].at.pos.x)"
    assert everywhere(query, EVENTS, compiled="automaton") == [{"sum(a[].at.pos.x)": 1}, {"sum(a[].at.pos.x)": 2}]


def test_names_of_columns() -> None:
    assert oz.match(EVENTS, f"{PAIR} RETURN a.at.city, b.at.pos.x").column_names == ["city", "x"]
    assert oz.match(EVENTS, f"{PAIR} RETURN a.at.city, b.at.city").column_names == ["a_at_city", "b_at_city"]
    assert oz.match(EVENTS, f"{PAIR} RETURN a.at.city AS c").column_names == ["c"]
    assert oz.match(EVENTS, "PATTERN SEQ(A+ a[], B b) RETURN a[].at.city").column_names == ["city"]
    assert oz.match(EVENTS, f"{PAIR} RETURN a.at.city").schema.field("city").type == pa.string()


def test_partitions_and_aggregates_over_matches() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE [at.city] RETURN count(*) AS n, max(b.at.pos.x) AS x OUTPUT AGGREGATE"
    assert rows(query, ROWS) == [{"at.city": "Oslo", "n": 1.0, "x": None}, {"at.city": "Rome", "n": 1.0, "x": 4}]


def test_of_composite_events() -> None:
    query = f"""QUERY p {PAIR} WHERE [at.city] RETURN a.at AS place, b.at.pos.x AS x INTO P
        QUERY q PATTERN P p WHERE p.place.pos.x < 2 RETURN p.place.city, p.x"""
    assert rows(query, ROWS, of="q") == [{"city": "Rome", "x": 4}]


def test_one_table_per_type_with_structs_that_differ() -> None:
    a = pa.table({"ts": [1, 2], "at": [{"city": "Rome"}, {"city": "Oslo"}]})
    b = pa.table({"ts": [3], "at": [{"zip": 1, "city": "Oslo"}]})
    for condition in ("[at.city]", "a.at.city = b.at.city"):
        for engine in ("auto", "reference"):
            result = oz.match({"A": a, "B": b}, f"{PAIR} WHERE {condition} RETURN a.ts, b.at.zip", engine=engine)
            assert result.to_pylist() == [{"ts": 2, "zip": 1}]


def test_a_column_whose_own_name_has_dots_comes_first() -> None:
    events = [{"ts": 1, "type": "A", "at.city": "x", "at": {"city": "y", "a.b": {"c": 3}}}]
    assert oz.match(events, "PATTERN A a RETURN a.at.city") == [{"city": "x"}]
    assert oz.match(events, "PATTERN A a RETURN a.`at.city`") == [{"at.city": "x"}]
    assert oz.match(events, "PATTERN A a RETURN a.at.`a.b`.c") == [{"c": 3}]


def test_without_data() -> None:
    query = oz.query(f"{PAIR} WHERE [at.city] AND a.at.pos.x = 1 RETURN a.at.city")
    assert "[at.city]" in query.explain()
    assert "[at.city]" in query.explain(EVENTS)


UNKNOWN = {
    "a.at.town": ("unknown field 'town' of 'at'", "one of city, pos", None),
    "a.at.citi": ("unknown field 'citi' of 'at'", "one of city, pos", "did you mean 'city'?"),
    "a.at.pos.z": ("unknown field 'z' of 'at.pos'", "one of x, y", None),
    "a.ts.x": ("'ts' is integer and has no fields", "an attribute that is a struct", None),
    "a.ta.city": ("unknown attribute 'ta' of A", "one of at, eid, many, pairs, ts, type", None),
    "a.many.x": (
        "'many' is a list and has no fields",
        "an attribute that is a struct",
        "elements of lists and maps",
    ),
    "a.pairs.x": (
        "'pairs' is a map and has no fields",
        "an attribute that is a struct",
        "elements of lists and maps",
    ),
}


@pytest.mark.parametrize("reference", UNKNOWN)
def test_unknown_fields(reference: str) -> None:
    pairs = pa.array([[("x", 1)]] * 6, pa.map_(pa.string(), pa.int64()))
    events = EVENTS.append_column("many", [[[1]] * 6]).append_column("pairs", pairs)
    message, required, hint = UNKNOWN[reference]
    with pytest.raises(oz.QueryError) as error:
        oz.match(events, f"PATTERN A a WHERE {reference} = 1")
    assert (error.value.message, error.value.required) == (message, required)
    assert (error.value.hint or "").startswith(hint or "")


def test_in_an_equivalence_test() -> None:
    with pytest.raises(oz.QueryError, match=r"unknown field 'town' of 'at'"):
        oz.match(EVENTS, f"{PAIR} WHERE [at.town]")
    with pytest.raises(oz.QueryError, match=r"name a field of it: \[at\.city\]"):
        oz.match(EVENTS, f"{PAIR} WHERE [at]")
    with pytest.raises(oz.QueryError, match=r"an equivalence test names the attribute alone: \[eid\]"):
        oz.query(f"{PAIR} WHERE [a.eid]")
