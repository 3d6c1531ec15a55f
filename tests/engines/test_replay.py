"""Where no engine keeps state, a matcher reports what `match` finds, when that is certain and never before."""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.pushes import SCHEMA, TYPES, Events, Pushes, matched, pushed, pushes
from ouzel.physical import limits

APART = "OUTPUT NON_OVERLAP"
BLANK = {"seq": 0, "k": 1, "x": 1, "y": None}


def rows(*events: tuple[int, str]) -> Events:
    return [{"eid": f"{kind}{ts}", "ts": ts, "type": kind, **BLANK} for ts, kind in events]


def one_by_one(query: str, events: Events) -> list[list[Any]]:
    """What each event makes a matcher report, and at last what the end does."""
    matcher = oz.matcher(query, SCHEMA, types=TYPES)
    steps = [matcher.push(pa.Table.from_pylist([event], SCHEMA)) for event in events]
    return [step.to_pylist() for step in (*steps, matcher.finish())]


STREAM = rows((1, "A"), (4, "A"), (5, "B"), (11, "D"), (12, "C"), (13, "D"))
PAIRS = "PATTERN A a & B b; !(C c) WITHIN 10 RETURN a.ts AS a, b.ts AS b"


def test_a_match_that_falls_does_not_stand_in_the_way_of_another() -> None:
    assert one_by_one(f"{PAIRS} {APART}", STREAM) == [[], [], [], [], [], [{"a": 1, "b": 5}], []]


def test_a_match_waits_for_those_that_may_come_before_it() -> None:
    # until 14, A4 B5 may fall; while it may stand, neither A1 B5 nor A1 B7 is certain
    events = rows((1, "A"), (4, "A"), (5, "B"), (7, "B"), (13, "D"), (14, "D"), (15, "D"))
    assert one_by_one(f"{PAIRS} {APART}", events) == [[], [], [], [], [], [{"a": 4, "b": 5}], [], []]


@pytest.mark.parametrize(
    ("negation", "steps"), [("", [0, 0, 1, 0, 0, 1, 0, 0]), ("; !(C c)", [0, 0, 1, 0, 0, 0, 1, 0])]
)
def test_matches_that_are_certain_are_reported_at_once(negation: str, steps: list[int]) -> None:
    query = f"PATTERN A a & B b{negation} WITHIN 3 RETURN a.ts AS a, b.ts AS b {APART}"
    found = one_by_one(query, rows((1, "A"), (2, "B"), (4, "D"), (5, "B"), (6, "A"), (7, "D"), (8, "D")))
    assert [len(step) for step in found] == steps


def test_composite_events_of_matches_kept_apart() -> None:
    query = f"""
        QUERY pairs PATTERN A a & B b; !(C c) WITHIN 10 RETURN a.ts AS a, b.ts AS b INTO Pair {APART}
        QUERY then  PATTERN SEQ(Pair p, D d) WITHIN 20 RETURN p.a AS a, p.b AS b, d.ts AS d
    """
    found = pushed(query, STREAM, Pushes([1, 2, 3, 4, 5], [False] * 6, [False] * 6))
    assert found == matched(query, STREAM)
    assert list(map(json.loads, found["then"])) == [{"a": 1, "b": 5, "d": 11}, {"a": 1, "b": 5, "d": 13}]


# ---- any query, any split --------------------------------------------------------------------------------

ONE: tuple[str, ...] = (
    "A a & B b; !(C c)",
    "A a & B b & !C c",
    "!(C c); A a & B b",
    "A a; !(C c); B b & D d",
    "A a; B+ b; !(C c)",
)
ONE += ("A a; B* b; D d; !(C c)", "A a; B^2 b", "(A a | B b) & D d; !(C c)")
WINDOWS = ("WITHIN 3", "WITHIN 4 INCLUSIVE", "WITHIN 3 EVENTS", "WITHIN 6")
WHERE = ("", "WHERE [k]", "WHERE [k] AND a.x <= 2", "WHERE a.x != 1")


@st.composite
def busy_streams(draw: st.DrawFn) -> Events:
    """Many events that can be matched, close together, and fewer that refute."""
    kinds = draw(st.lists(st.sampled_from("AAABBCCD"), min_size=8, max_size=10))
    gaps = draw(st.lists(st.sampled_from((1, 1, 1, 2, 0)), min_size=len(kinds), max_size=len(kinds)))
    times = accumulate(gaps)
    key, value = st.sampled_from((1, 1, 1, 2)), st.integers(0, 3)
    return [
        {**event, "eid": f"e{number}", "seq": draw(value), "k": draw(key), "x": draw(value)}
        for number, event in enumerate(rows(*zip(times, kinds, strict=True)))
    ]


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A query that no compiled engine keeps state for: conjunctions, groups, negation at every place."""
    clauses = [draw(st.sampled_from(texts)) for texts in (ONE, WHERE, WINDOWS, ("", APART))]
    return "PATTERN {} {} {} RETURN a.eid AS a {}".format(*clauses)


@pytest.mark.parametrize("order", [None, ["ts", "seq"]])
@settings(max_examples=80)
@given(query=queries(), events=busy_streams(), cut=pushes())
def test_any_split_gives_what_match_finds(
    order: list[str] | None, query: str, events: Events, cut: Pushes
) -> None:
    assert pushed(query, events, cut, order=order) == matched(query, events, order=order)


@settings(max_examples=80)
@given(pattern=st.sampled_from(ONE[:2]), events=busy_streams(), restored=st.booleans())
def test_matches_that_wait_are_kept_apart(pattern: str, events: Events, restored: bool) -> None:
    query = f"PATTERN {pattern} WITHIN 6 RETURN a.eid AS a, b.eid AS b {APART}"
    each = Pushes([*range(1, len(events))], [True] * len(events), [restored] * len(events))
    assert pushed(query, events, each) == matched(query, events)


MADE = ("SEQ(A a, B b)", "SEQ(A a, B b, !(C c))", "A a & B b; !(C c)", "A a & B b & !C c")
OF_MADE = ("SEQ(P p, B a)", "SEQ(P a, !(P q))", "SEQ(D d, !(P p), A a)", "P p & B a; !(C c)", "SEQ(P p, P a)")
AT_LAST = ("SEQ(Q q, A a)", "SEQ(A a, !(Q q))", "Q q & A a; !(P p)")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Queries that feed each other, each of them perhaps kept apart or refuted by what follows."""
    window, output = st.sampled_from(WINDOWS), st.sampled_from(("", APART))
    test = draw(st.sampled_from(("", "WHERE [k]")))
    parts = (("one", MADE, test, "INTO P"), ("two", OF_MADE, "", "INTO Q"), ("three", AT_LAST, "", ""))
    queries = [
        f"QUERY {name} PATTERN {draw(st.sampled_from(patterns))} {where} {draw(window)} "
        f"RETURN a.eid AS eid, a.k AS k {into} {draw(output)}"
        for name, patterns, where, into in parts
    ]
    return "\n".join(queries[: draw(st.integers(2, 3))])


@settings(max_examples=120)
@given(query=programs(), events=busy_streams(), cut=pushes())
def test_queries_that_feed_each_other(query: str, events: Events, cut: Pushes) -> None:
    assert pushed(query, events, cut) == matched(query, events)


def test_the_system_is_asked_for_its_memory_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def available() -> int:
        asked.append(1)
        return 2**40

    monkeypatch.setattr(limits, "available_memory", available)
    one_by_one(PAIRS, STREAM)
    assert len(asked) == 1
