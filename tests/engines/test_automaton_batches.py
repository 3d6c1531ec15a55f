"""An automaton that is given a stream in batches finds what it finds in the whole stream."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engines.splits import EVERY_PUSH, in_batches, ingested, long_stream, whole
from ouzel.compile import compile_query
from ouzel.physical.automaton import AutomatonPlan, open_runs
from ouzel.physical.automaton import memory as automaton_memory
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.event_table import EventTable
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}


def plan_of(text: str, table: EventTable) -> AutomatonPlan:
    (plan,) = compile_query(text, table.schema, {}).plans
    return AutomatonPlan.of(plan.query)


@settings(max_examples=150)
@given(queries(non_overlap=True), streams(max_events=10), st.lists(st.integers(0, 20), max_size=8), st.booleans())
def test_any_split_gives_the_same_matches(
    query: RandomQuery, events: Events, cuts: list[int], resumed: bool
) -> None:
    table = ingested(events, types=TYPES)
    try:
        plan = plan_of(query.text, table)
    except UnsuitableError:
        assume(False)
    with patch.object(automaton_memory, "SPARE", EVERY_PUSH), patch.object(open_runs, "SPARE", EVERY_PUSH):
        assert in_batches(plan, table, cuts, resumed=resumed) == whole(plan, table)


LONG = (
    "PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match { [k] } WITHIN 12",
    "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match { [k] } WITHIN 12 "
    "RETURN a.eid AS a, b[].eid AS b, c.eid",
    "PATTERN SEQ(A a, B+ b[], C c) WHERE [k, x] AND b[i].s != b[i-1].s WITHIN 15 "
    "RETURN a.eid AS a, b[].eid AS b, c.eid",
    "PATTERN SEQ(A a, !(D d), B b, C c) WHERE [k] AND d.x >= a.x WITHIN 12 OUTPUT NON_OVERLAP",
    "PATTERN SEQ(A a, B b, !(D d)) WHERE [k, x] AND d.s != a.s WITHIN 12",
    "PATTERN SEQ(A a, (B b | C c), !(D d)) WHERE skip_till_next_match { [k] } WITHIN 8 EVENTS",
    "PATTERN SEQ(A a, B b, A c) WHERE partition_contiguity { [k] } WITHIN 30",
    "PATTERN SEQ(A a, B b) WHERE strict_contiguity { a.s != b.s } WITHIN 5",
    "PATTERN SEQ(A a, B+ b[], C c) WHERE strict_contiguity { [k] } WITHIN 12",
)


@pytest.mark.parametrize("query", LONG)
def test_long_streams_in_batches(query: str) -> None:
    for seed in range(3):
        table = ingested(long_stream(seed))
        plan = plan_of(query, table)
        expected = whole(plan, table)
        assert len(expected) >= 5
        random = np.random.default_rng(seed)
        cuts = random.choice(120, int(random.integers(10, 100)), replace=False).tolist()
        with patch.object(automaton_memory, "SPARE", EVERY_PUSH), patch.object(open_runs, "SPARE", EVERY_PUSH):
            assert in_batches(plan, table, cuts, resumed=seed == 1) == expected
