"""A match graph yields exactly the rows, and knows how many there are without writing them out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings

import ouzel as oz
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
TICKS = [{"ts": n, "type": "A" if n % 50 else "B"} for n in range(1, 201)]
CLOSURE = "PATTERN SEQ(A+ a[], B b) WITHIN 12 RETURN a[].ts AS a, b.ts AS b"


@settings(max_examples=100)
@given(queries(negation=False), streams(max_events=10))
def test_a_graph_yields_the_rows(query: RandomQuery, events: Events) -> None:
    try:
        graph = oz.match(events, query.text, types=TYPES, mode="compressed")
    except oz.OuzelError as error:
        # where nothing is shared, there is no graph, and the error says so
        assume("run this query" not in str(error) and "alternatives empty" not in str(error))
        raise
    rows = oz.match(events, query.text, types=TYPES, engine="reference")
    assert graph.expand() == rows
    assert graph.count == len(rows)
    one_by_one = [row for end in range(len(graph)) for row in graph.expand([end])]
    assert sorted(map(str, one_by_one)) == sorted(map(str, rows))


def test_partitions_under_strict_contiguity_are_counted_together() -> None:
    events = [{"ts": 0, "type": "A", "k": 1}, {"ts": 0, "type": "B", "k": 2}, {"ts": 0, "type": "B", "k": 1}]
    query = "PATTERN SEQ(B b, A* a[]) WHERE strict_contiguity { [k] } RETURN b.k AS k"
    graph = oz.match(events, query, mode="compressed")
    assert graph.expand() == [{"k": 1}, {"k": 2}]
    assert graph.count == 2


def test_partitions_to_come_are_counted_too() -> None:
    """The first partition ends a match before any event of the second has led to one."""
    events = [{"ts": 0, "type": kind, "k": k} for kind, k in ("C2", "A1", "A1")]
    events.append({"ts": 1, "type": "C", "k": "1"})
    query = "PATTERN SEQ(A* a[], C c) WHERE partition_contiguity { [k] } RETURN count(a[]) AS n, c.k AS k"
    graph = oz.match(events, query, mode="compressed")
    assert len(graph.expand()) == graph.count == 4
    totals = query.replace("RETURN count(a[]) AS n, c.k AS k", "RETURN count(*) AS n OUTPUT AGGREGATE")
    assert oz.match(events, totals) == [{"k": "1", "n": 3.0}, {"k": "2", "n": 1.0}]


def test_more_matches_than_could_be_written_out() -> None:
    events = [{"ts": n, "type": "A"} for n in range(500)] + [{"ts": 500, "type": "B"}]
    graph = oz.match(events, "PATTERN SEQ(A+ a[], B b)", mode="compressed")
    assert graph.count == 2.0**500 - 1
    assert len(graph) == 1
    assert graph.nodes.num_rows < 4 * len(events)
    with pytest.raises(oz.OuzelError, match="more than 1,000 matches"):
        oz.match(
            events, "PATTERN SEQ(A+ a[], B b)", mode="compressed", limits=oz.Limits(max_matches=1000)
        ).expand()


def test_the_graph_as_tables() -> None:
    events = [{"ts": 1, "type": "A"}, {"ts": 2, "type": "A"}, {"ts": 3, "type": "B"}]
    graph = oz.match(events, "PATTERN SEQ(A+ a[], B b) RETURN a[].ts AS a, b.ts AS b", mode="compressed")
    assert graph.expand() == [{"a": [1, 2], "b": 3}, {"a": [1], "b": 3}, {"a": [2], "b": 3}]
    assert graph.ends.to_pylist() == [{"node": graph.nodes.num_rows - 1, "event": 2, "variable": "b"}]
    bound = [node for node in graph.nodes.to_pylist() if node["variable"] is not None]
    unions = [node for node in graph.nodes.to_pylist() if node["variable"] is None]
    assert [node["event"] for node in bound] == [0, 1, 1]
    assert all(node["other"] is not None for node in unions)
    assert repr(graph).startswith("MatchGraph(3 matches, ")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("PATTERN SEQ(A a, !B b, A c)", "negation and NON_OVERLAP filter whole matches"),
        (f"{CLOSURE} OUTPUT NON_OVERLAP", "negation and NON_OVERLAP filter whole matches"),
        ("PATTERN SEQ(A a, B b) RETURN count(*) AS n OUTPUT AGGREGATE", "use up the matches"),
    ],
)
def test_what_has_no_graph(query: str, why: str) -> None:
    with pytest.raises(oz.OuzelError, match=why):
        oz.match(TICKS, query, mode="compressed")


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(oz.OuzelError, match="mode: required one of verbose, compressed; got 'short'"):
        oz.match(TICKS, CLOSURE, mode="short")
