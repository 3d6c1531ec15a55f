"""match_number(): from 1 in each partition, in the order of results."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import found, rows

PAIR = "PATTERN SEQ(A a, B b)"
EVENTS = "a1:k=x a2:k=y b3:k=y b4:k=x b5:k=y"


def test_without_partitions_all_matches_are_counted() -> None:
    assert rows(f"{PAIR} RETURN match_number() AS n, b.ts", EVENTS) == [
        {"n": n, "ts": ts} for n, ts in enumerate((3, 3, 4, 4, 5, 5), 1)
    ]


@pytest.mark.parametrize("condition", ["[k]", "a.k = b.k", "[k, type2]", "[type2, k]"])
@pytest.mark.parametrize("engine", ["auto", "scan", "automaton", "reference"])
def test_in_each_partition(condition: str, engine: str) -> None:
    events = pa.table(
        {"ts": [1, 2, 3, 4, 5], "type": list("AABBB"), "k": list("xyyxy"), "type2": [0.0, 0.0, -0.0, 0.0, 0.0]}
    )
    query = f"{PAIR} WHERE {condition} RETURN a.k, b.ts, Match_Number()"
    assert oz.match(events, query, engine=engine).to_pylist() == [
        {"k": "y", "ts": 3, "Match_Number()": 1},
        {"k": "x", "ts": 4, "Match_Number()": 1},
        {"k": "y", "ts": 5, "Match_Number()": 2},
    ]


def test_a_constant_key_and_a_type_without_the_key() -> None:
    assert rows(f"{PAIR} WHERE [k = 'y'] RETURN match_number() AS n", EVENTS) == [{"n": 1}, {"n": 2}]
    tables = {"A": [{"ts": 1, "k": 1}, {"ts": 2, "k": 2}], "B": [{"ts": 3}]}
    assert rows(f"{PAIR} WHERE [k] RETURN match_number() AS n, a.k", tables) == [
        {"n": 1, "k": 1},
        {"n": 1, "k": 2},
    ]


def test_of_matches_that_are_kept_apart() -> None:
    query = f"{PAIR} WHERE [k] RETURN match_number() AS n, b.ts OUTPUT NON_OVERLAP"
    assert rows(query, "a1:k=1 b2:k=1 b3:k=1 a4:k=1 b5:k=1 a6:k=2 b7:k=2") == [
        {"n": 1, "ts": 2},
        {"n": 2, "ts": 5},
        {"n": 1, "ts": 7},
    ]


def test_closures_and_groups() -> None:
    query = "PATTERN SEQ(A+ a[], B b) RETURN match_number() AS n, a[].ts AS a"
    assert [row["n"] for row in rows(query, "a1 a2 b3")] == [1, 2, 3]
    assert rows("PATTERN A+; B b RETURN match_number() AS n, count(A[]) AS c", "a1 a2 b3") == [{"n": 1, "c": 2}]


def test_into() -> None:
    query = f"QUERY p {PAIR} WHERE [k] RETURN match_number() AS n, a.k INTO P  QUERY q PATTERN P p WHERE p.n = 2"
    assert found(query, EVENTS, of="q") == ["(2 y)"]


def test_no_matches() -> None:
    events = pa.table({"ts": [1], "type": ["A"], "k": [1]})
    result = oz.match(events, "PATTERN SEQ(A a, A b) WHERE [k] RETURN match_number() AS n")
    assert result.schema == pa.schema({"n": "int64"})
    assert result.num_rows == 0


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"{PAIR} WHERE match_number() = 1", "match_number() in WHERE"),
        (f"{PAIR} RETURN match_number() + 1", "match_number() inside an expression"),
        (f"{PAIR} RETURN match_number(a)", "match_number() takes no arguments"),
        (f"{PAIR} RETURN match_number() OUTPUT AGGREGATE", "'match_number()' is no aggregate over matches"),
    ],
)
def test_what_is_wrong_is_said(query: str, message: str) -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.query(query)
    assert error.value.message == message


def test_a_matcher_and_a_graph_refuse() -> None:
    schema = pa.schema({"ts": "int64", "type": "string"})
    with pytest.raises(oz.OuzelError, match=r"match_number\(\): required all events at once"):
        oz.matcher(f"{PAIR} RETURN match_number() AS n", schema)
    events = [{"ts": 1, "type": "A"}, {"ts": 2, "type": "B"}]
    with pytest.raises(oz.OuzelError, match=r"match_number\(\) counts all matches"):
        oz.match(events, "PATTERN SEQ(A+ a[], B b) RETURN match_number() AS n", mode="compressed")
