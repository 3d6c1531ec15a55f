from __future__ import annotations

import random
from itertools import permutations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import stream

# three partitions, ties within and across them, and every type that the patterns mention
EVENTS = stream(
    "a1:id=1,x=1 a1':id=2,x=3 b2:id=1,x=5 b2':id=1,x=2 n2:id=2,x=1 b3:id=2,x=4 c3:id=1,x=3 a4:id=1,x=2 "
    "n4:id=3,x=9 b5:id=1,x=7 b5':id=2,x=2 c6:id=1,x=8 c6':id=1,x=1 c7:id=2,x=6 b8:id=3,x=1 c9:id=3,x=2"
)
QUERIES = [
    "PATTERN SEQ(A a, B b, C c)",
    "PATTERN SEQ(A a, B b, C c) WHERE [id] AND b.x > a.x",
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity { }",
    "PATTERN SEQ(A a, B+ b[], C c) WHERE partition_contiguity { [id] }",
    "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match { b[i].x > b[i-1].x }",
    "PATTERN SEQ(A a, B* b[], C? c) WITHIN 5",
    "PATTERN SEQ(A a, !(N n), B b) WHERE [id]",
    "PATTERN SEQ(A a, B b, !(N n)) WITHIN 3",
    "PATTERN SEQ(A a, B b) WITHIN 4 EVENTS",
    "PATTERN A & B WHERE [id] WITHIN 3",
    "PATTERN A; B | C; N",
    "PATTERN A; B+; C",
    "PATTERN A; B^2; C WHERE [id]",
    "PATTERN SEQ(A a, B b) OUTPUT NON_OVERLAP",
    "PATTERN SEQ(A a, B b, C c) WHERE [id] OUTPUT NON_OVERLAP",
    "QUERY p PATTERN SEQ(A a, B b) RETURN a.eid AS a, b.eid AS b INTO P QUERY q PATTERN SEQ(P p, C c)",
]


@pytest.mark.parametrize("query", QUERIES)
def test_shuffled_events_give_the_same_result(query: str) -> None:
    expected = oz.match(EVENTS, query)
    assert expected, "a query that finds nothing shows nothing"
    for seed in range(10):
        shuffled = random.Random(seed).sample(EVENTS, len(EVENTS))
        assert oz.match(shuffled, query) == expected


def test_every_permutation_of_a_few_events() -> None:
    events = stream("a1 b2 b2' c3 a3")
    for query in ("PATTERN SEQ(A a, B+ b[], C c)", "PATTERN SEQ(A a, B b) OUTPUT NON_OVERLAP", "PATTERN A; B+; C"):
        results = [oz.match(list(arrived), query) for arrived in permutations(events)]
        assert all(result == results[0] for result in results)


def test_late_events_are_found() -> None:
    query = "PATTERN SEQ(A a, B b) RETURN a.eid AS a, b.eid AS b"
    assert oz.match(stream("b5 a1"), query) == [{"a": "a1", "b": "b5"}]


def test_late_events_refute() -> None:
    query = "PATTERN SEQ(A a, !(N n), B b) RETURN a.eid"
    assert oz.match(stream("a1 b5 n3"), query) == []


def test_the_order_of_the_tables_of_types_does_not_matter() -> None:
    tables = {name: [row for row in EVENTS if row["type"] == name] for name in "ABCN"}
    backwards = dict(reversed(tables.items()))
    for query in QUERIES:
        assert oz.match(tables, query) == oz.match(backwards, query)


def test_the_chunks_of_a_table_do_not_matter() -> None:
    whole = pa.Table.from_pylist(EVENTS)
    parts = pa.concat_tables([whole.slice(12), whole.slice(0, 5), whole.slice(5, 7)])
    for query in QUERIES[:-1]:
        assert oz.match(parts, query) == oz.match(whole, query)


def test_tie_breaking_columns_decide_not_the_order_of_arrival() -> None:
    events = stream("a1:seq=2 b1:seq=3 a1':seq=4 b1':seq=1")
    query = "PATTERN SEQ(A a, B b) RETURN a.eid AS a, b.eid AS b"
    for arrived in permutations(events):
        assert oz.match(list(arrived), query, order=["ts", "seq"]) == [{"a": "a1", "b": "b1"}]
