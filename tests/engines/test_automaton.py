"""The automaton finds what the reference matcher finds, compiled and uncompiled."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings

import ouzel as oz
from ouzel.physical.automaton import expand
from ouzel.physical.compiled import kernel
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABC"}
# those of type D are in every partition
TYPES["D"] = {"eid": "string", "x": "int64", "y": "int64"}
CLOSURES = queries(non_overlap=True, totals=True, lacking=True)


def agree(query: str, events: Events) -> None:
    found = oz.match(events, query, engine="automaton", types=TYPES)
    expected = oz.match(events, query, engine="reference", types=TYPES)
    assert found == expected


@settings(max_examples=200)
@given(CLOSURES, streams(max_events=10))
def test_random_closures(query: RandomQuery, events: Events) -> None:
    agree(query.text, events)


@settings(max_examples=100)
@given(CLOSURES, streams(max_events=10))
def test_random_closures_in_pieces(query: RandomQuery, events: Events) -> None:
    with patch.object(expand, "MANY", 0), patch.object(expand, "LONG", 0):
        agree(query.text, events)


@settings(max_examples=3)
@given(CLOSURES, streams(max_events=10))
def test_random_closures_compiled(query: RandomQuery, events: Events) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        agree(query.text, events)


STOCKS = [
    {"ts": n, "symbol": n % 2, "price": 100 + (n * 37) % 50 - (n % 7) * 5, "volume": (n * 53) % 200, "f": n / 3}
    for n in range(40)
]
PREDICATES = (
    "a[i].price > a[i-1].price",
    "a[i].price > min(a[i-1].price)",
    "a[i].price > max(a[..i-1].price) - 20",
    "a[i].price >= avg(a[..i-1].price)",
    "a[i].f > sum(a[..i-1].f) / 4 AND a.LEN > 1",
    "first(a[].volume) < last(a[].price) AND count(a[]) < 5",
    "b.volume < 80% * a[a.LEN].volume AND a[1].price > b.price",
)


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("strategy", ["skip_till_next_match", "partition_contiguity"])
def test_registers_keep_what_formulas_need(predicate: str, strategy: str) -> None:
    check_registers(predicate, strategy, 10**9)


@pytest.mark.parametrize("predicate", [PREDICATES[4], PREDICATES[6]])
def test_registers_keep_what_formulas_need_compiled(predicate: str) -> None:
    check_registers(predicate, "skip_till_next_match", 0)


def check_registers(predicate: str, strategy: str, least: int) -> None:
    query = f"""PATTERN SEQ(T+ a[], T b) WHERE {strategy} {{ [symbol] AND {predicate} AND b.volume < 150 }}
        WITHIN 12 EVENTS RETURN a[].ts AS a, b.ts AS b, avg(a[].price) AS mean, a.LEN AS length"""
    with patch.object(kernel, "COMPILE_FROM", least):
        found = oz.match(STOCKS, query, engine="automaton", type=None)
    expected = oz.match(STOCKS, query, engine="reference", type=None)
    assert found
    assert found == expected


EXPLODING = "PATTERN SEQ(T+ a[], T b) RETURN b.ts AS b"
TICKS = [{"ts": n} for n in range(60)]


def test_an_explosion_ends_in_an_error() -> None:
    with pytest.raises(oz.OuzelError, match="more than 1,000 matches\n  hint: a narrower window"):
        oz.match(TICKS, EXPLODING, engine="automaton", type=None, limits=oz.Limits(max_matches=1000))


def test_too_many_runs_are_an_error() -> None:
    query = "PATTERN SEQ(T+ a[], T b) WHERE a[i].ts > a[i-1].ts AND b.ts > 1000"
    with pytest.raises(oz.OuzelError, match="more than 20 open runs at once"):
        oz.match(TICKS, query, engine="automaton", type=None, limits=oz.Limits(max_runs=20))


def test_too_long_a_match_is_an_error() -> None:
    query = "PATTERN SEQ(T+ a[], T b) WHERE skip_till_next_match { b.ts > 50 }"
    with pytest.raises(oz.OuzelError, match="more than 20 events in one match"):
        oz.match(TICKS, query, engine="automaton", type=None, limits=oz.Limits(max_match_size=20))


def test_what_goes_beyond_is_shed_and_counted() -> None:
    report = oz.Report()
    limits = oz.Limits(max_matches=1000, on_limit="shed")
    found = oz.match(TICKS, EXPLODING, engine="automaton", type=None, limits=limits, report=report)
    assert len(found) == 1000
    assert report.counters.shed_matches > 0
    assert report.counters.shed_runs == 0
    query = "PATTERN SEQ(T a, T b, T c) WHERE a.ts < b.ts AND a.ts < c.ts RETURN a.ts AS a, b.ts AS b, c.ts AS c"
    limits = oz.Limits(max_runs=5, on_limit="shed")
    kept = oz.match(TICKS, query, engine="automaton", type=None, limits=limits, report=report)
    everything = oz.match(TICKS, query, engine="automaton", type=None)
    assert 0 < len(kept) < len(everything)
    assert all(match in everything for match in kept)
    assert report.counters.shed_runs > 0


EVALUATIONS = ("merging", "basic", "backtracking")


@settings(max_examples=100)
@given(CLOSURES, streams(max_events=10))
def test_evaluations_agree(query: RandomQuery, events: Events) -> None:
    compiled = []
    for evaluation in EVALUATIONS:
        try:
            found = oz.match(
                events, query.text, engine="automaton", types=TYPES, tuning={"evaluation": evaluation}
            )
        except oz.OuzelError as error:
            assume("cannot run this query" not in str(error))
            raise
        compiled.append(found)
    assert compiled[0] == compiled[1] == compiled[2]


def test_runs_of_one_future_are_merged() -> None:
    report = oz.Report()
    query = "PATTERN SEQ(T+ a[], T b) WHERE skip_till_next_match { b.ts > 50 } RETURN b.ts AS b"
    found = oz.match(TICKS, query, engine="automaton", type=None, report=report)
    # every event but the last starts a run, and all that are open take every event
    assert len(found) == sum(range(51, 60))
    assert report.counters.peak == 1
    assert report.counters.merged == report.counters.made - 1


def test_simultaneous_events_of_other_partitions_have_positions_of_their_own() -> None:
    query = """PATTERN SEQ(!(A n), A v0, A+ v1[], A? v2) WHERE strict_contiguity { [k] } WITHIN 1 EVENTS
        RETURN v0.eid AS v0, v1[].eid AS v1"""
    events = [
        {"eid": eid, "ts": ts, "type": "A", "k": k, "x": None, "y": None}
        for eid, ts, k in (("e0", 0, 1), ("e1", 0, 1), ("e2", 3, 2), ("e3", 3, 1))
    ]
    agree(query, events)


@pytest.mark.parametrize("evaluation", ["", "breadth"])
def test_an_unknown_evaluation_is_an_error(evaluation: str) -> None:
    message = f"evaluation: required one of merging, basic, backtracking; got '{evaluation}'"
    with pytest.raises(oz.OuzelError, match=message):
        oz.match(TICKS, EXPLODING, engine="automaton", type=None, tuning={"evaluation": evaluation})


def test_an_unknown_switch_is_an_error() -> None:
    switches = "equivalence, evaluation, ignorable, plan, negation, adapt, merging, index"
    with pytest.raises(oz.OuzelError, match=f"tuning: required some of {switches}; got 'speed'"):
        oz.match(TICKS, EXPLODING, type=None, tuning={"speed": "high"})
