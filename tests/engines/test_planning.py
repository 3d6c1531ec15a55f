"""Choosing an engine is not generating its source, and a query is compiled once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

import ouzel as oz
from engines.splits import ingested
from ouzel.compile import compile_query
from ouzel.logical.schema import open_schema
from ouzel.optimizer import choose_engine
from ouzel.physical import ENGINES
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.compiled.writer import Writer
from ouzel.physical.contract import Offer
from ouzel.physical.scan import ScanPlan
from ouzel.testing.strategies import RandomQuery, queries
from valid_queries import QUERIES

SCHEMA = pa.schema({"ts": "int64", "type": "string", "k": "int64", "x": "int64", "y": "int64", "s": "string"})
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
SEVERAL = """
QUERY pairs PATTERN SEQ(A a, !(B b), C c) WHERE [k] AND a.x < c.x AND b.s != a.s WITHIN 5 RETURN a.x + c.x AS n
QUERY runs PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] AND a[i].x > avg(a[..i-1].x) } WITHIN 5
QUERY least PATTERN SEQ(A a, B+ b[], !(C c)) WHERE c.x > a.x WITHIN 5 RETURN min(b.y) AS y
"""


@pytest.fixture
def no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def line(_self: Writer, text: str) -> None:
        raise AssertionError(f"written: {text}")

    monkeypatch.setattr(Writer, "line", line)


@pytest.mark.usefixtures("no_source")
@pytest.mark.parametrize("text", [*QUERIES, SEVERAL], ids=range(len(QUERIES) + 1))
def test_nothing_is_written_to_choose_and_to_explain(text: str) -> None:
    for plan in compile_query(text, open_schema()).plans:
        assert all(engine.offer(plan.query, {}) for engine in ENGINES)
    assert oz.query(text).explain()


@pytest.mark.usefixtures("no_source")
def test_nothing_is_written_for_a_matcher_that_is_ready() -> None:
    assert oz.matcher(SEVERAL, SCHEMA).names == ("pairs", "runs", "least")


def written(plan: Any) -> int:
    """How long all source of a plan is."""
    sources = [plan.source, plan.filters.source, *(one.source for one in plan.refutations)]
    sources.append(plan.expand_source if isinstance(plan, AutomatonPlan) else plan.scan_source)
    return sum(map(len, sources))


def check_written(text: str, schema: Any) -> None:
    for plan in compile_query(text, schema).plans:
        for engine in ENGINES:
            offer = engine.offer(plan.query, {})
            if isinstance(offer, Offer) and isinstance(made := offer.make(), ScanPlan | AutomatonPlan):
                assert written(made)


@pytest.mark.parametrize("text", [*QUERIES, SEVERAL], ids=range(len(QUERIES) + 1))
def test_what_is_offered_can_be_written(text: str) -> None:
    check_written(text, open_schema())


@given(queries())
def test_what_is_offered_of_a_random_query_can_be_written(query: RandomQuery) -> None:
    check_written(
        query.text, ingested(SCHEMA.empty_table().append_column("eid", pa.array([], "string")), types=TYPES).schema
    )


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def choose(query: Any, *rest: Any) -> Any:
        names.append(query.name)
        return choose_engine(query, *rest)

    monkeypatch.setattr("ouzel.compile.choose_engine", choose)
    return names


def test_a_query_is_planned_once(planned: list[str]) -> None:
    query = oz.query(SEVERAL)
    assert planned == []
    oz.match(SCHEMA.empty_table(), query)
    assert planned == ["pairs", "runs", "least"]
    matcher = oz.matcher(query, SCHEMA)
    matcher.push(SCHEMA.empty_table())
    matcher.finish()
    assert planned == ["pairs", "runs", "least"] * 2
