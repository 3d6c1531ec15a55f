"""A scan that is given a stream in batches finds what it finds in the whole, and keeps only what it may need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ouzel.compile import compile_query
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled import kernel
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.matching import Found
from ouzel.physical.scan import ScanPlan, matching
from ouzel.physical.scan.shape import EQUIVALENCES
from ouzel.runtimes.ingest import Reading, ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.results import result_table
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
SEQUENCES = queries(strategies=("skip_till_any_match",), closures=False, alternatives=False, non_overlap=True)
EVERY_PUSH = -(10**9)


def ingested(events: Any, **options: Any) -> EventTable:
    return ingest(events, Reading(**options), Report())[0]


def plan_of(text: str, table: EventTable, equivalence: str = "combined") -> ScanPlan:
    (plan,) = compile_query(text, table.schema, {}).plans
    return ScanPlan.of(plan.query, equivalence)


def rows_of(query: BoundQuery, found: Found) -> list[tuple[Any, ...]]:
    compute = compute_by_row(found.matches, found.events)
    table = result_table(query, found.matches, found.events.table, compute)
    times = zip(found.matches.start_times.tolist(), found.matches.end_times.tolist(), strict=True)
    return [(*time, *row.values()) for time, row in zip(times, table.to_pylist(), strict=True)]


def batches(table: EventTable, cuts: list[int]) -> Iterator[tuple[EventTable, int | None]]:
    """The stream cut before some moments, with the time before which no event follows."""
    order = np.argsort(table.ends, kind="stable")
    ends = table.ends[order]
    moments = np.unique(ends)
    edges = sorted({int(np.searchsorted(ends, moments[cut % len(moments)])) for cut in cuts} | {0, len(ends)})
    for low, high in pairwise(edges):
        now = int(table.end_times[order[high]]) if high < len(ends) else None
        yield table.taken(order[low:high]), now


def whole(plan: ScanPlan, table: EventTable) -> Counter[Any]:
    return Counter(rows_of(plan.query, plan.begin(Limits(), once=True).push(table, None)))


def in_batches(plan: ScanPlan, table: EventTable, cuts: list[int], *, resumed: bool) -> Counter[Any]:
    at_work = plan.begin(Limits())
    found: Counter[Any] = Counter()
    for batch, now in batches(table, cuts):
        found.update(rows_of(plan.query, at_work.push(batch, now)))
        if resumed:
            state = at_work.state()
            at_work = plan.begin(Limits())
            at_work.resume(state)
    return found


CUTS = st.lists(st.integers(0, 20), max_size=8)


@settings(max_examples=400)
@given(
    SEQUENCES,
    streams(max_events=14),
    CUTS,
    st.sampled_from(EQUIVALENCES),
    st.booleans(),
    st.sampled_from((EVERY_PUSH, 0, 4)),
)
def test_any_split_gives_the_same_matches(
    query: RandomQuery, events: Events, cuts: list[int], equivalence: str, resumed: bool, spare: int
) -> None:
    table = ingested(events, types=TYPES)
    plan = plan_of(query.text, table, equivalence)
    with patch.object(matching, "SPARE", spare):
        assert in_batches(plan, table, cuts, resumed=resumed) == whole(plan, table)


@settings(max_examples=8)
@given(SEQUENCES, streams(max_events=14), CUTS, st.sampled_from(EQUIVALENCES))
def test_any_split_gives_the_same_matches_compiled(
    query: RandomQuery, events: Events, cuts: list[int], equivalence: str
) -> None:
    table = ingested(events, types=TYPES)
    plan = plan_of(query.text, table, equivalence)
    with patch.object(matching, "SPARE", EVERY_PUSH), patch.object(kernel, "COMPILE_FROM", 0):
        assert in_batches(plan, table, cuts, resumed=True) == whole(plan, table)
