"""The contract of engines: what they offer, what their plans say of themselves, and how one is chosen."""

from __future__ import annotations

import pytest

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import open_schema
from ouzel.optimizer import choose_engine
from ouzel.physical import ENGINES
from ouzel.physical.contract import AddsUp, Engine, KeepsGraph, Offer, Refusal, Takes
from valid_queries import QUERIES

EVENTS = [{"ts": n, "type": "AB"[n % 2], "x": n} for n in range(8)]
SEQUENCE = "PATTERN SEQ(A a, B b) WITHIN 3"


def bound(text: str) -> BoundQuery:
    return compile_query(text, open_schema()).plans[0].query


@pytest.mark.parametrize("text", QUERIES)
def test_engines_offer_what_they_can_run_and_say_why_not_the_rest(text: str) -> None:
    *others, last = ENGINES
    for plan in compile_query(text, open_schema()).plans:
        assert isinstance(last.offer(plan.query, {}), Offer)
        for engine in others:
            offer = engine.offer(plan.query, {})
            assert offer.why if isinstance(offer, Refusal) else offer.make().queries == (plan.query,)


def test_the_cheapest_offer_is_taken() -> None:
    def offers(cost: float) -> Engine:
        plan = choose_engine(bound(SEQUENCE), ENGINES).physical
        return Engine(f"at {cost}", "", 1.0, lambda _query: Offer(cost, lambda: plan, f"it costs {cost}"))

    plan = choose_engine(bound(SEQUENCE), (offers(3.0), offers(1.0), offers(2.0)))
    assert plan.engine == "at 1.0"
    assert plan.passed_over == (("at 3.0", "it costs 3.0"),)


def test_plans_say_what_they_take_and_what_else_they_have() -> None:
    plans = {one.name: choose_engine(bound(SEQUENCE), ENGINES, one.name).physical for one in ENGINES}
    assert list(plans) == ["scan", "automaton", "tree", "shared", "reference"]
    assert {name for name, plan in plans.items() if plan.takes is Takes.ALL_AT_ONCE} == {"reference"}
    assert {name for name, plan in plans.items() if isinstance(plan, KeepsGraph)} == {"automaton"}
    assert {name for name, plan in plans.items() if isinstance(plan, AddsUp)} == {"automaton"}


def test_runs_one_after_the_other_need_all_events_at_once() -> None:
    tuning = {"evaluation": "backtracking"}
    assert choose_engine(bound(SEQUENCE), ENGINES, "automaton", tuning).physical.takes is Takes.ALL_AT_ONCE


def test_a_graph_is_asked_of_an_engine_that_has_one() -> None:
    assert oz.match(EVENTS, SEQUENCE, mode="compressed").count == len(oz.match(EVENTS, SEQUENCE))
    why = "the engine reference cannot run this query: it writes every match out"
    with pytest.raises(oz.OuzelError, match=why):
        oz.match(EVENTS, SEQUENCE, mode="compressed", engine="reference")
    with pytest.raises(oz.OuzelError, match=r"no engine can run this query, not scan: .*; not automaton: .*&"):
        oz.match(EVENTS, "PATTERN A a & B b WITHIN 3", mode="compressed")
