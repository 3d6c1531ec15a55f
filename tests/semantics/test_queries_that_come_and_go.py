"""Queries that are added to a running matcher and removed from it, without touching the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz

EVENTS = pa.Table.from_pylist([{"ts": n, "type": "AB"[n % 2], "x": n} for n in range(8)])
A, B = oz.stream("A"), oz.stream("B")
NEXT = A.select("x").rename(a="x").next(B.select("x").rename(b="x"), where="b > $d + a")
SET = oz.queries(NEXT, pa.table({"id": [1, 2], "d": [0, 2]}))


def rows(found: pa.Table, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in found.to_pylist()]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_rows_of_a_set(kept: bool) -> None:
    matcher = oz.matcher(SET, EVENTS.schema)
    assert rows(matcher.push(EVENTS.slice(0, 4)), "id", "a", "b") == [(1, 0, 1)]
    matcher.add(3, {"d": -100})  # time is 3
    matcher.remove(1)
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    assert rows(matcher.push(EVENTS.slice(4)), "id", "a", "b") == [(2, 0, 3), (2, 2, 5), (3, 4, 5)]
    matcher.remove(3)
    matcher.add(1, {"d": 0})
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    assert rows(matcher.finish(), "id", "a", "b") == [(2, 4, 7)]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_queries_of_a_list(kept: bool) -> None:
    matcher = oz.matcher(["PATTERN A; B WITHIN 2 RETURN A.x INTO T"], EVENTS.schema)
    matcher.push(EVENTS.slice(0, 2))
    matcher.add("after", "PATTERN T t; A a RETURN t.x, a.x AS y")
    matcher.add("pairs", A.next(B))
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    found = matcher.push(EVENTS.slice(2))
    assert list(found) == ["query1", "after", "pairs"]
    assert rows(found["after"], "x", "y") == [(0, 2), (0, 4), (2, 4), (0, 6), (2, 6), (4, 6)]
    assert rows(found["pairs"], "start", "end") == [(2, 3), (4, 5)]
    matcher.remove("after")
    matcher.remove("query1")
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    found = matcher.finish()
    assert list(found) == ["pairs"]
    assert rows(found["pairs"], "start", "end") == [(6, 7)]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_matches_that_waited_are_no_events_for_who_came_after_them(kept: bool) -> None:
    matcher = oz.matcher(["PATTERN A a; !(C c) WITHIN 5 RETURN a.x INTO T"], EVENTS.schema)
    matcher.push(EVENTS.slice(0, 4))
    matcher.add("after", "PATTERN T t RETURN t.x")  # time is 3: the matches that end at 0 and 2 still wait
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    assert rows(matcher.push(EVENTS.slice(4))["after"], "x") == []
    assert rows(matcher.finish()["after"], "x") == [(4,), (6,)]


def test_values_go_with_the_queries_that_mention_them() -> None:
    matcher = oz.matcher(["PATTERN A"], EVENTS.schema)
    matcher.add("set", SET)
    matcher.add("value", oz.query("PATTERN A WHERE A.x = $v", {"v": 1}))
    matcher.remove("set")
    matcher.remove("value")
    assert list(oz.restore(matcher.snapshot()).push(EVENTS)) == ["query1"]


def test_names_stay_when_others_go() -> None:
    matcher = oz.matcher(["PATTERN A RETURN A.x", "PATTERN B RETURN B.x"], EVENTS.schema)
    matcher.remove("query1")
    matcher = oz.restore(matcher.snapshot())
    assert list(matcher.push(EVENTS)) == ["query2"]


def test_what_waits_goes_with_its_query() -> None:
    matcher = oz.matcher(["PATTERN A a; !(C c) WITHIN 5 RETURN a.x"], EVENTS.schema)
    matcher.push(EVENTS.slice(0, 3))
    matcher.remove("query1")
    assert matcher.push(EVENTS.slice(3)) == {}


def test_a_removed_id_comes_back_as_a_new_query() -> None:
    matcher = oz.matcher(["PATTERN A; B RETURN A.x AS a, B.x AS b"], EVENTS.schema)
    matcher.push(EVENTS.slice(0, 3))
    matcher.remove("query1")
    matcher.add("query1", "PATTERN A; B RETURN A.x AS a, B.x AS b")
    assert rows(matcher.push(EVENTS.slice(3))["query1"], "a", "b") == [(2, 3), (2, 5), (4, 5)]


def many(count: int) -> list[str]:
    """Queries that share a plan, as they are many."""
    return [f"QUERY q{n} PATTERN SEQ(A a, B b) WHERE a.x >= {n} WITHIN 9 RETURN a.x" for n in range(count)]


@pytest.mark.parametrize("kept", [False, True], ids=["running", "restored"])
def test_queries_of_a_list_that_share_a_plan(kept: bool) -> None:
    matcher = oz.matcher(many(66), EVENTS.schema)
    matcher.push(EVENTS.slice(0, 3))
    matcher.remove("q0")
    matcher.push(EVENTS.slice(3, 1))
    matcher = oz.restore(matcher.snapshot()) if kept else matcher
    found = {name: rows(one, "x") for name, one in matcher.push(EVENTS.slice(4)).items() if one.num_rows}
    assert found == {"q1": [(2,), (2,), (4,)], "q2": [(2,), (2,), (4,)], "q3": [(4,)], "q4": [(4,)]}


def test_a_column_that_only_a_removed_query_read() -> None:
    events = EVENTS.append_column("y", EVENTS["x"])
    matcher = oz.matcher([*many(65), "QUERY y PATTERN A a WHERE a.y = 1"], events.schema)
    matcher.remove("y")
    assert list(matcher.push(events)) == [f"q{n}" for n in range(65)]


def test_a_set_that_was_empty_is_restored_with_what_came() -> None:
    floats = pa.schema({"id": "int64", "p": "float64"})
    pairs = oz.queries(A.where("x < $p").select("x").next(B.rename(y="x")), floats.empty_table())
    matcher = oz.matcher(pairs, EVENTS.schema)
    matcher.add(2, {"p": float("inf")})
    matcher = oz.restore(matcher.snapshot())
    assert len(matcher.push(EVENTS)) == 3


def test_a_null_beside_a_duration() -> None:
    matcher = oz.matcher(oz.queries(A.next(B, where="duration() < $p"), [{"id": 1, "p": 3}]), EVENTS.schema)
    matcher.add(2, {"p": None})
    with pytest.raises(oz.OuzelError, match="required int64"):
        matcher.add(3, {"p": 2.5})
    assert {row["id"] for row in matcher.push(EVENTS).to_pylist()} == {1}


def listed() -> oz.Matcher:
    return oz.matcher(["PATTERN A; B RETURN A.x INTO T", "PATTERN T"], EVENTS.schema)


def of_a_set() -> oz.Matcher:
    return oz.matcher(SET, EVENTS.schema)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "there already": (lambda: listed().add("query1", "PATTERN A"), "'query1' is there already"),
    "not there": (lambda: listed().remove("query7"), "there is no query 'query7'"),
    "read by others": (lambda: listed().remove("query1"), "which 'query2' reads"),
    "a list of queries": (lambda: listed().add("n", "PATTERN A PATTERN B"), "required one query; got 2"),
    "no query": (lambda: listed().add("n", 7), "required a text, an expression or an automaton"),
    "an unknown type": (lambda: listed().add("n", A.where("y > 1")), "unknown attribute 'y'"),
    "id there already": (lambda: of_a_set().add(1, {"d": 0}), "the query 1 is there already"),
    "id not there": (lambda: of_a_set().remove(7), "there is no query 7"),
    "no value": (lambda: of_a_set().add(3, {}), "the parameter 'd' of the query 3 has no value"),
    "another parameter": (lambda: of_a_set().add(3, {"d": 1, "e": 1}), "'e' is no parameter of the set"),
    "another type": (lambda: of_a_set().add(3, {"d": "x"}), "'d': required int64"),
    "no id": (lambda: of_a_set().add(2.5, {"d": 1}), "required an id of type int64; got 2.5"),
    "no id to remove": (lambda: of_a_set().remove(True), "required an id of type int64; got True"),
    "no name to remove": (lambda: listed().remove([1]), r"there is no query \[1\]"),
    "no dict": (lambda: of_a_set().add(3, "PATTERN A"), "required a dict of parameters"),
    "one query": (lambda: oz.matcher("PATTERN A", EVENTS.schema).add("n", "PATTERN B"), "a matcher of a list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    act, message = WRONG[case]
    with pytest.raises(oz.OuzelError, match=message):
        act()


def test_a_matcher_goes_on_after_what_was_refused() -> None:
    matcher = of_a_set()
    with pytest.raises(oz.OuzelError):
        matcher.add(3, {"d": "x"})
    assert rows(matcher.push(EVENTS), "id", "a", "b")[:1] == [(1, 0, 1)]


@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_explain_counts_those_that_are_there(engine: str) -> None:
    schema = pa.schema({"ts": "int64", "type": "string", "x": "int64"})
    template = "PATTERN A a; B b WHERE a.x = $v AND b.x > $w RETURN b.x AS x"
    rows = [{"id": number, "v": number, "w": 1} for number in range(4)]
    matcher = oz.matcher(oz.queries(template, rows), schema, engine=engine)
    matcher.push(pa.table({"ts": [1], "type": ["A"], "x": [1]}))
    for number in range(4, 8):
        matcher.add(number, {"v": 1, "w": 2})
    matcher.remove(0)
    text = matcher.explain()
    assert "7 queries by 'id'" in text
    if engine == "auto":
        assert "7 queries, whose 14 states are 8 after merging" in text
        assert "8 edges" in text


def test_explain_of_a_list_counts_those_that_share_a_plan() -> None:
    texts = [f"PATTERN A a; B b WHERE a.x = {number} RETURN b.x AS x" for number in range(70)]
    matcher = oz.matcher(texts, pa.schema({"ts": "int64", "type": "string", "x": "int64"}))
    matcher.push(pa.table({"ts": [1], "type": ["A"], "x": [1]}))
    assert "shared plan of 70 of 70 queries" in matcher.explain()
    matcher.remove("query1")
    matcher.add("more", texts[0])
    text = matcher.explain()
    assert "shared plan of 69 of 70 queries" in text
    assert "69 queries, whose 138 states are 138 after merging" in text
    assert "query more" in text
