"""Very many queries in one file: each is planned with few calls, and no more is kept than its plan."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import ouzel as oz
from ouzel.bench.planning import QUERIES
from ouzel.language import parse
from ouzel.language.uncollected import LARGE
from ouzel.logical import BoundQuery
from ouzel.optimizer import choose_engine
from ouzel.testing.papers import sase_stream

SCHEMA = sase_stream(1, 1).schema
MANY = 120
# How many functions are called to plan a query: somewhat more than there were when this was measured.
CALLS = {"sequences": 450, "with conditions": 1_150, "closures": 900, "negation": 750}


def several(kind: str, count: int = MANY) -> str:
    return "\n".join(f"QUERY q{n} {QUERIES[kind].format(n=n + 1)}" for n in range(count))


def planned(text: str) -> oz.Matcher:
    return oz.matcher(oz.query(text), SCHEMA)


def calls_in(run: Callable[[], Any]) -> int:
    """How many calls of functions written in Python there are."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("kind", QUERIES)
def test_planning_takes_few_calls(kind: str) -> None:
    few, many = several(kind, 10), several(kind, 60)
    for text in (few, many):
        planned(text)  # which imports and parses
    calls_of_few, calls_of_many = (calls_in(partial(planned, text)) for text in (few, many))
    assert (calls_of_many - calls_of_few) / 50 <= CALLS[kind]


@pytest.fixture
def counted_garbage() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.usefixtures("counted_garbage")
def test_what_is_planned_refers_to_nothing_in_circles(kind: str) -> None:
    text = several(kind)
    planned(text)
    gc.collect()
    parse.__wrapped__(text)
    matcher = planned(text)
    assert gc.collect() == 0
    del matcher
    assert gc.collect() == 0


def test_a_query_without_data_keeps_nothing_that_was_bound() -> None:
    before = sum(isinstance(one, BoundQuery) for one in gc.get_objects())
    query = oz.query(several("sequences"))
    assert len(query.names) == MANY
    assert sum(isinstance(one, BoundQuery) for one in gc.get_objects()) == before


def test_the_collector_waits_only_while_many_queries_are_read_and_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    enabled: list[bool] = []

    def noted(*arguments: Any) -> Any:
        enabled.append(gc.isenabled())
        return choose_engine(*arguments)

    monkeypatch.setattr("ouzel.compile.choose_engine", noted)
    text = several("negation")
    assert len(text) >= LARGE
    oz.matcher(text, SCHEMA)
    assert enabled == [False] * MANY
    oz.matcher(several("negation", 1), SCHEMA)
    assert enabled[-1]
    with pytest.raises(oz.QueryError, match="unknown attribute"):
        oz.matcher(text + "\nQUERY wrong PATTERN SEQ(E1 a, E2 b) WHERE a.nothing > 1 WITHIN 5", SCHEMA)
    assert gc.isenabled()
