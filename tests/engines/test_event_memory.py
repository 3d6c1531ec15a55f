"""What engines keep of a stream: when events start and end, and runs by partition."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ouzel.compile import compile_query
from ouzel.logical.columns import needed_columns
from ouzel.physical.automaton import AutomatonPlan, open_runs
from ouzel.physical.automaton import memory as automaton_memory
from ouzel.physical.automaton.matching import AutomatonMatching
from ouzel.physical.automaton.open_runs import OpenRuns
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.memory.intervals import COLUMNS
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared
from ouzel.physical.memory.retained import Retained
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading

BATCH = 200


# ---- when events start and end ---------------------------------------------------------------------------


def lasting(begin: int, lasts: int, ranked: bool) -> tuple[EventTable, Prepared]:
    """Three events, which last so long; if `ranked`, their moments are not their times."""
    ends = np.arange(begin, begin + 3)
    starts = ends - lasts if lasts else ends
    times = (10 * starts, 10 * ends) if ranked else (starts, ends)
    if ranked and not lasts:
        times = times[1], times[1]
    plain = ingest(pa.table({"ts": times[1], "type": ["A", "B", "A"]}), Reading(), Report())[0]
    table = EventTable(plain.table, plain.schema, plain.types, starts, ends, *times)
    rows = np.arange(3)
    intervals = table.intervals_of(rows)
    masks, parts = np.ones(3, np.int64), np.zeros(3, np.int64)
    codes = np.array([0, 1, 0], np.uint8)
    return table, Prepared(rows, masks, parts, *intervals, intervals[-1], codes)


@pytest.mark.parametrize("count", [100, 30_000])  # sorted, and by a kernel
@pytest.mark.parametrize("keys", [1, 2, 50, 10**9])
def test_events_of_a_partition_come_together_and_stay_in_order(count: int, keys: int) -> None:
    random = np.random.default_rng(count + keys)
    rows, parts = np.arange(count), random.integers(0, keys, count)
    masks, moments, codes = random.integers(0, 8, count), np.arange(count) // 3, np.zeros(count, np.uint8)
    prepared = Prepared(rows, masks, parts, *(moments,) * 4, rows, codes).by_partition()
    order = np.argsort(parts, kind="stable")
    assert prepared.rows.tolist() == order.tolist() == prepared.clocks.tolist()
    assert prepared.parts.tolist() == parts[order].tolist()
    assert prepared.masks.tolist() == masks[order].tolist()
    assert prepared.ends is prepared.starts
    assert prepared.ends.tolist() == moments[order].tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.booleans()), min_size=1, max_size=4))
def test_starts_and_ends_are_kept_whichever_batch_tells_them_apart(batches: list[tuple[int, bool, bool]]) -> None:
    first, _prepared = lasting(0, 0, ranked=False)
    (plan,) = compile_query("PATTERN SEQ(A a, B b) WITHIN 9", first.schema, {}).plans
    retained = Retained(plan.query, Partitions(plan.query, once=False), once=False)
    expected: list[tuple[int, ...]] = []
    for number, (lasts, ranked, prunes) in enumerate(batches):
        table, prepared = lasting(10 * number, lasts, ranked)
        retained.add(table, prepared)
        expected += zip(*(getattr(table, name).tolist() for name in COLUMNS), strict=True)
        retained.settle()
        if prunes:
            kept = np.arange(len(expected)) % 2 == 0
            retained.prune(kept)
            expected = expected[::2]
        other = Retained(plan.query, Partitions(plan.query, once=False), once=False)
        other.resume(retained.state())
        for one in (retained, other):
            events, rows = one.events(np.arange(len(expected)))
            found = zip(*(getattr(events, name)[rows].tolist() for name in COLUMNS), strict=True)
            assert list(found) == expected
            assert events.has_intervals or not any(lasts for lasts, _ranked, _prunes in batches[: number + 1])
    plain = not any(lasts or ranked for lasts, ranked, _prunes in batches)
    assert not plain or len(retained.intervals.columns()) == 1


# ---- runs ------------------------------------------------------------------------------------------------


@given(
    st.lists(st.dictionaries(st.integers(0, 5), st.integers(0, 3), max_size=4), max_size=8),
    st.sampled_from([-100, 0, 100]),
)
def test_runs_are_those_that_partitions_were_given(batches: list[dict[int, int]], spare: int) -> None:
    runs, expected, serial = OpenRuns((2, 1)), dict[int, list[int]](), 0
    for batch in batches:
        parts = np.array(sorted(batch), np.int64)
        begins, ends = runs.of(parts)
        pool = runs.pool[0]
        held = [pool[low:high, 0].tolist() for low, high in zip(begins, ends, strict=True)]
        assert held == [expected.get(part, []) for part in sorted(batch)]
        counts = [batch[part] for part in sorted(batch)]
        edges = np.cumsum([0, *counts])
        ri = np.arange(serial, serial + 2 * edges[-1], dtype=np.int64).reshape(-1, 2)
        serial += 2 * int(edges[-1])
        with patch.object(open_runs, "SPARE", spare):
            runs.replace(parts, edges, ri, ri[:, :1].astype(np.float64))
        expected |= {
            part: ri[low:high, 0].tolist()
            for part, low, high in zip(sorted(batch), edges, edges[1:], strict=False)
        }
        assert len(runs) == sum(map(len, expected.values()))
    resumed = OpenRuns((2, 1))
    resumed.resume(runs.state())
    runs.keep(lambda ri: ri[:, 0] % 4 == 0)
    kept = np.array([part for part in sorted(expected) if any(run % 4 == 0 for run in expected[part])], np.int64)
    runs.forget(kept)
    assert runs.ri[:, 0].tolist() == [run for part in sorted(expected) for run in expected[part] if run % 4 == 0]
    assert resumed.ri[:, 0].tolist() == [run for part in sorted(expected) for run in expected[part]]
    begins, ends = runs.of(np.arange(len(kept)))
    assert (ends - begins).tolist() == [sum(run % 4 == 0 for run in expected[part]) for part in kept.tolist()]


# ---- an automaton ----------------------------------------------------------------------------------------


def stream(begin: int) -> EventTable:
    """A batch of events, one a tick: every key occurs in a few of them that are near each other."""
    ticks = np.arange(begin, begin + BATCH)
    table = pa.table({"ts": ticks, "type": np.array(list("AABACB"))[ticks % 6], "k": ticks // 10, "x": ticks % 7})
    return ingest(table, Reading(), Report())[0]


def after_many_batches(text: str) -> tuple[AutomatonMatching, int]:
    """An automaton that went through a long stream, and the matches it found."""
    (plan,) = compile_query(text, stream(0).schema, {}).plans
    at_work, matches = AutomatonPlan.of(plan.query).begin(Limits()), 0
    with patch.object(automaton_memory, "SPARE", 64), patch.object(open_runs, "SPARE", 64):
        for begin in range(0, 60 * BATCH, BATCH):
            table = stream(begin).select(needed_columns([plan.query]))
            matches += len(at_work.push(table, begin + BATCH)[0].matches)
    return at_work, matches


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match { [k] } WITHIN 20",
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match { [x] } WITHIN 5 EVENTS",
        "PATTERN SEQ(A a, !(C c), B b) WHERE skip_till_next_match { [k] } WITHIN 20",
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match { [k] } WITHIN 20 OUTPUT NON_OVERLAP",
        "PATTERN SEQ(A a, B b, A c) WHERE partition_contiguity { [k] } WITHIN 20",
        # under strict contiguity the runs of all partitions go through the stream together
        "PATTERN SEQ(A a, B b, A c) WHERE strict_contiguity { [k] } WITHIN 20",
        "PATTERN SEQ(A a, B b, A c) WHERE strict_contiguity { [k] } WITHIN 20 EVENTS OUTPUT NON_OVERLAP",
    ],
)
def test_what_an_automaton_keeps_does_not_grow_with_the_stream(query: str) -> None:
    at_work, matches = after_many_batches(query)
    memory = at_work.memory
    assert matches > 100
    # twice as much as was live when it was last looked at, and a batch: its events and their nodes
    assert len(memory.retained) + memory.store.nodes + memory.partitions.count < 6 * BATCH
    assert len(memory.runs.pool[0]) < 4 * BATCH


def test_states_of_one_past_are_equal() -> None:
    (plan,) = compile_query("PATTERN SEQ(A a, B+ b[], C c) WITHIN 50", stream(0).schema, {}).plans
    states = []
    for left_over in (0, 77):
        at_work = AutomatonPlan.of(plan.query).begin(Limits())
        for column in at_work.memory.store.arrays:
            column[:] = left_over
        at_work.push(stream(0).slice(0, 60).select(needed_columns([plan.query])), 60)
        states.append(at_work.state())
    one, other = states
    assert len(one["store.event"]) > 100
    assert list(one) == list(other)
    for name, value in one.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, other[name]), name
