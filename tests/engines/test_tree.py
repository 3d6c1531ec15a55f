"""Trees find what the reference matcher finds: in every order of joins, in batches, while orders change."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.splits import EVERY_PUSH, in_batches, ingested, whole
from ouzel.compile import compile_query
from ouzel.physical.compiled import kernel
from ouzel.physical.tree import TreePlan, matching, memory
from ouzel.physical.tree.order_checks import choices
from ouzel.testing.combinations import combinations, negated_sequences
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
FEW = oz.Limits(max_matches=10_000, max_runs=50_000)
SEQUENCES = queries(strategies=("skip_till_any_match",), non_overlap=True)
QUERIES = st.one_of(combinations(), combinations(), SEQUENCES, negated_sequences())
ORDERS = ("left-deep", "right-deep", "bushy")


def expected(query: str, events: Events, types: dict[str, Any] = TYPES) -> Events:
    """What the reference matcher finds, where the query means something and there are not too many matches."""
    try:
        found: Events = oz.match(events, query, engine="reference", types=types, limits=FEW)
    except oz.OuzelError:
        assume(False)
        raise
    return found


def agree(query: str, events: Events, **options: Any) -> None:
    wanted = expected(query, events)
    assert oz.match(events, query, engine="tree", types=TYPES, **options) == wanted


@settings(max_examples=200)
@given(QUERIES, streams(max_events=9))
def test_random_combinations(query: RandomQuery, events: Events) -> None:
    agree(query.text, events)


@settings(max_examples=5)
@given(QUERIES, streams(max_events=9))
def test_random_combinations_compiled(query: RandomQuery, events: Events) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        agree(query.text, events)


@settings(max_examples=150)
@given(QUERIES, streams(max_events=9), st.sampled_from(ORDERS))
def test_every_order_of_joins(query: RandomQuery, events: Events, order: str) -> None:
    found = expected(query.text, events)
    plan = plan_of(query.text, events)
    assume(any(variant.root and choices(variant.root) > 2 for variant in plan.variants))
    assert oz.match(events, query.text, engine="tree", types=TYPES, tuning={"plan": order}) == found


@settings(max_examples=150)
@given(QUERIES, streams(max_events=9), st.lists(st.integers(0, 9), max_size=5), st.booleans())
def test_batches_make_no_difference(query: RandomQuery, events: Events, cuts: list[int], resumed: bool) -> None:
    expected(query.text, events)
    plan, table = plan_of(query.text, events), ingested(events, types=TYPES)
    with patch.object(memory, "SPARE", EVERY_PUSH):
        found = in_batches(plan, table, cuts, resumed=resumed)
    assert found == in_batches(plan, table, [], resumed=False)


def test_events_of_earlier_batches_refute_what_is_open_on_both_sides() -> None:
    query = "PATTERN (A a; A b) & (A* c; !A) WITHIN 1 INCLUSIVE RETURN a.eid AS a, c[].eid AS c"
    events = [{"eid": f"e{n}", "ts": ts, "type": "A", "k": 1, "x": 0, "y": 0} for n, ts in enumerate((0, 0, 1))]
    plan, table = plan_of(query, events), ingested(events, types=TYPES)
    assert in_batches(plan, table, [1], resumed=False) == whole(plan, table)


@settings(max_examples=100)
@given(QUERIES, streams(max_events=9), st.integers(1, 3))
def test_rounds_make_no_difference(query: RandomQuery, events: Events, size: int) -> None:
    with patch.object(matching, "ROUND", size), patch.object(memory, "SPARE", EVERY_PUSH):
        agree(query.text, events)


@settings(max_examples=100)
@given(negated_sequences(), streams(max_events=12), st.sampled_from(("pushed", "top")))
def test_negation_pushed_down_or_on_top(query: RandomQuery, events: Events, where: str) -> None:
    agree(query.text, events, tuning={"negation": where})


def plan_of(query: str, events: Events) -> TreePlan:
    schema = ingested(events, types=TYPES).schema
    plan = compile_query(query, schema, {}, "tree").plans[0].physical
    assert isinstance(plan, TreePlan)
    return plan
