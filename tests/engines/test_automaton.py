"""The automaton finds what the reference matcher finds, compiled and uncompiled."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings

import ouzel as oz
from ouzel.physical.automaton import automaton
from ouzel.physical.compiled import prepare
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
CLOSURES = queries(non_overlap=True)


def agree(query: str, events: Events) -> None:
    try:
        found = oz.match(events, query, engine="automaton", types=TYPES)
    except oz.OuzelError as error:
        # a condition on every element of an earlier closure, or strict contiguity with partitions
        assume("cannot run this query" not in str(error))
        raise
    expected = oz.match(events, query, engine="reference", types=TYPES)
    assert found == expected


@settings(max_examples=500)
@given(CLOSURES, streams(max_events=10))
def test_random_closures(query: RandomQuery, events: Events) -> None:
    agree(query.text, events)


@settings(max_examples=5)
@given(CLOSURES, streams(max_events=10))
def test_random_closures_compiled(query: RandomQuery, events: Events) -> None:
    with patch.object(prepare, "COMPILE_FROM", 0):
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
    with patch.object(prepare, "COMPILE_FROM", least):
        found = oz.match(STOCKS, query, engine="automaton", type=None)
    expected = oz.match(STOCKS, query, engine="reference", type=None)
    assert found
    assert found == expected


def test_an_explosion_ends_in_an_error() -> None:
    events = [{"ts": n} for n in range(60)]
    query = "PATTERN SEQ(T+ a[], T b) WHERE b.ts > 1000"
    with patch.object(automaton, "MOST_RUNS", 1000), pytest.raises(oz.OuzelError, match="too many runs at once"):
        oz.match(events, query, engine="automaton", type=None)
