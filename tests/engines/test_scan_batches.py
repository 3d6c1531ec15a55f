"""A scan that is given a stream in batches finds what it finds in the whole stream."""

from __future__ import annotations

from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.sequences import SEQUENCES, TESTED, TYPES
from engines.splits import EVERY_PUSH, batches, in_batches, ingested, long_stream, rows_of, whole
from ouzel.compile import compile_query
from ouzel.physical.compiled import kernel
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.scan import ScanPlan
from ouzel.physical.scan import memory as scan_memory
from ouzel.physical.scan.shape import EQUIVALENCES
from ouzel.testing.strategies import RandomQuery, streams

Events = list[dict[str, Any]]
FIELDS = ("schema", "types", "starts", "ends", "start_times", "end_times")
CUTS = st.lists(st.integers(0, 20), max_size=8)


def plan_of(text: str, table: EventTable, equivalence: str = "combined") -> ScanPlan:
    (plan,) = compile_query(text, table.schema, {}).plans
    return ScanPlan.of(plan.query, equivalence)


@settings(max_examples=150)
@given(SEQUENCES, streams(max_events=14), CUTS, st.booleans(), st.booleans(), st.sampled_from((EVERY_PUSH, 0, 4)))
def test_any_split_gives_the_same_matches(
    query: RandomQuery, events: Events, cuts: list[int], tie_breaker: bool, resumed: bool, spare: int
) -> None:
    table = ingested(events, types=TYPES, order=("ts", "eid") if tie_breaker else ())
    plan = plan_of(query.text, table)
    with patch.object(scan_memory, "SPARE", spare):
        assert in_batches(plan, table, cuts, resumed=resumed) == whole(plan, table)


@settings(max_examples=150)
@given(TESTED, streams(max_events=14), CUTS, st.sampled_from(EQUIVALENCES), st.booleans())
def test_any_split_gives_the_same_matches_however_equivalence_tests_are_evaluated(
    query: RandomQuery, events: Events, cuts: list[int], equivalence: str, resumed: bool
) -> None:
    table = ingested(events, types=TYPES)
    expected = whole(plan_of(query.text, table), table)
    with patch.object(scan_memory, "SPARE", EVERY_PUSH):
        assert in_batches(plan_of(query.text, table, equivalence), table, cuts, resumed=resumed) == expected


@settings(max_examples=8)
@given(st.one_of(SEQUENCES, TESTED), streams(max_events=14), CUTS, st.sampled_from(EQUIVALENCES))
def test_any_split_gives_the_same_matches_compiled(
    query: RandomQuery, events: Events, cuts: list[int], equivalence: str
) -> None:
    table = ingested(events, types=TYPES)
    plan = plan_of(query.text, table, equivalence)
    with patch.object(scan_memory, "SPARE", EVERY_PUSH), patch.object(kernel, "COMPILE_FROM", 0):
        assert in_batches(plan, table, cuts, resumed=True) == whole(plan, table)


@given(SEQUENCES, streams(max_events=14), CUTS, st.integers(0, 8), st.sampled_from(("combined", "multi")))
def test_a_state_stays_as_it_was_when_its_matching_goes_on(
    query: RandomQuery, events: Events, cuts: list[int], place: int, equivalence: str
) -> None:
    table = ingested(events, types=TYPES)
    plan = plan_of(query.text, table, equivalence)
    first, second = plan.begin(Limits()), plan.begin(Limits())
    parts = list(batches(table, cuts))
    place %= len(parts) + 1
    with patch.object(scan_memory, "SPARE", EVERY_PUSH):
        for batch, now in parts[:place]:
            first.push(batch, now)
        state = first.state()
        expected = [rows_of(*first.push(batch, now)) for batch, now in parts[place:]]
        second.resume(state)
        assert [rows_of(*second.push(batch, now)) for batch, now in parts[place:]] == expected


# ---- long streams, of which most is forgotten ------------------------------------------------------------

LONG = (
    "PATTERN SEQ(A a, B b, C c) WHERE [k] WITHIN 9",
    "PATTERN SEQ(A a, B b, C c) WHERE [k, x] WITHIN 20",
    "PATTERN SEQ(A a, B b, C c) WHERE [k, x] AND a.s != c.s WITHIN 20 OUTPUT NON_OVERLAP",
    "PATTERN SEQ(A a, B b) WHERE a.s = b.s WITHIN 9 RETURN a.eid AS a, b.eid AS b",
    "PATTERN SEQ(A a, B b) WHERE a.s = b.s OR lower(a.s) = 'S1' OR b.x > a.x + 2 WITHIN 9",
    "PATTERN SEQ(A a, !(D d), B b, C c) WHERE [k] AND d.x >= a.x WITHIN 12",
    "PATTERN SEQ(A a, !(D d), B b, !(A e), C c) WHERE [k, x] AND e.s != a.s WITHIN 25",
    "PATTERN SEQ(!(D d), A a, B b) WHERE [k] AND d.x != b.x WITHIN 9",
    "PATTERN SEQ(A a, B b, !(D d)) WHERE [k, x] AND d.s != a.s WITHIN 12",
    "PATTERN SEQ(A a, B b, !(D d)) WHERE [k] WITHIN 12 OUTPUT NON_OVERLAP",
    "PATTERN SEQ(A a, !(D d), B b, !(C c)) WHERE [k] WITHIN 8 EVENTS",
    "PATTERN SEQ(A a, B b, C c) WHERE [k, x] WITHIN 4 EVENTS OUTPUT NON_OVERLAP",
    "PATTERN SEQ(A a, B b) WHERE a.s != b.s WITHIN 5 EVENTS",
)


def test_columns_that_only_kernels_keep() -> None:
    """Here no column is left to keep as it is: times, keys and what conditions compare say everything."""
    text = (
        "PATTERN SEQ(A a, B b) WHERE [k] AND (a.x > b.x OR b.y > a.y) WITHIN 9 RETURN a.x AS p, b.y AS q, a.k AS k"
    )
    for seed in range(3):
        events = [{**one, "y": None if n % 5 == 0 else n / 4} for n, one in enumerate(long_stream(seed))]
        table = ingested(events).select({"ts", "type", "k", "x", "y"})
        table = EventTable(table.table.drop_columns(["type"]), *(getattr(table, one) for one in FIELDS))
        plan = plan_of(text, table)
        expected = whole(plan, table)
        assert len(expected) > 10
        with patch.object(scan_memory, "SPARE", EVERY_PUSH):
            assert in_batches(plan, table, list(range(0, 120, 7)), resumed=False) == expected
            assert in_batches(plan, table, list(range(0, 120, 7)), resumed=True) == expected


# of one equivalence test, all but the last way are one and the same
FEW = ("combined", "selection")
WAYS = [(query, way) for query in LONG for way in (EQUIVALENCES if "[k, x]" in query else FEW)]


@pytest.mark.parametrize(("query", "equivalence"), WAYS)
def test_long_streams_in_batches(query: str, equivalence: str) -> None:
    for seed in range(3):
        table = ingested(long_stream(seed))
        expected = whole(plan_of(query, table), table)
        assert len(expected) >= 5
        plan = plan_of(query, table, equivalence)
        random = np.random.default_rng(seed)
        cuts = random.choice(120, int(random.integers(10, 100)), replace=False).tolist()
        with patch.object(scan_memory, "SPARE", EVERY_PUSH):
            assert in_batches(plan, table, cuts, resumed=seed == 1) == expected


# ---- particular streams ----------------------------------------------------------------------------------


def pushed(text: str, *parts: Events, limits: Limits | None = None, end: bool = True) -> list[list[Any]]:
    """What each batch gives; the end of the stream is a batch without events."""
    table = ingested([event for part in parts for event in part])
    plan = plan_of(text, table)
    at_work = plan.begin(limits or Limits())
    found = []
    for part in parts:
        batch = ingested(part)
        found.append(rows_of(*at_work.push(batch, int(batch.end_times.max()) + 1)))
    return [*found, rows_of(*at_work.push(table.taken(np.zeros(0, np.int64)), None))] if end else found


def event(ts: int, kind: str, **values: Any) -> dict[str, Any]:
    return {"ts": ts, "type": kind, **values}


def test_a_match_that_may_be_refuted_waits_for_its_window_to_pass() -> None:
    query = "PATTERN SEQ(A a, !(B b)) WHERE [k] WITHIN 5 RETURN a.ts AS t"
    first = [event(1, "A", k=1), event(1, "A", k=2)]
    assert pushed(query, first, [event(3, "B", k=1)], [event(4, "C", k=1)], [event(7, "B", k=2)]) == [
        [],
        [],
        [],
        [(1, 1, 1)],
        [],
    ]
    assert pushed(query, first) == [[], [(1, 1, 1), (1, 1, 1)]]


def test_a_window_of_events_passes_with_the_events_of_the_partition() -> None:
    query = "PATTERN SEQ(A a, !(B b)) WHERE [k] WITHIN 2 EVENTS RETURN a.k AS k"
    first = [event(1, "A", k=1), event(1, "A", k=2)]
    assert pushed(query, first, [event(2, "C", k=1)], end=False) == [[], [(1, 1, 1)]]


@pytest.mark.parametrize("equivalence", EQUIVALENCES)
def test_what_lies_behind_a_dropped_event_in_the_stack_of_another_key_is_found(equivalence: str) -> None:
    first = [event(0, "A", k=1, x=0), event(5, "A", k=2, x=0), event(6, "B", k=2, x=0), event(7, "B", k=1, x=0)]
    table = ingested([*first, event(11, "D", k=3, x=0), event(12, "C", k=2, x=0)])
    plan = plan_of("PATTERN SEQ(A a, B b, C c) WHERE [k, x] WITHIN 10 RETURN a.ts AS t", table, equivalence)
    with patch.object(scan_memory, "SPARE", EVERY_PUSH):
        assert in_batches(plan, table, [4, 5], resumed=False) == Counter(["(5, 12, 5)"])


def test_a_condition_that_never_holds_keeps_nothing() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE 1 = 2 WITHIN 5 RETURN a.ts AS t"
    assert pushed(query, [event(1, "A")], [event(2, "B")]) == [[], [], []]


def test_texts_that_are_compared_keep_their_numbers() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE a.s = b.s OR b.s = 'any' RETURN a.s AS s, b.s AS r"
    parts = [[event(n, "A", s=f"text {n}")] for n in range(5)]
    with patch.object(scan_memory, "SPARE", EVERY_PUSH):
        found = pushed(query, *parts, [event(5, "B", s="text 3")], [event(6, "B", s="any")])
    assert found[5] == [(3, 5, "text 3", "text 3")]
    assert [row[2] for row in found[6]] == [f"text {n}" for n in range(5)]


KEYS: dict[str, list[Any]] = {
    "integers": [1, 2, 3],
    "texts": ["a", "b", "c"],
    "floats": [0.5, 1.5, float("nan")],
    "flags": [True, False, None],
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_kind_are_known_again(kind: str) -> None:
    values = KEYS[kind]
    parts = [[event(10 * n + k, "AB"[n % 2], k=value) for k, value in enumerate(values)] for n in range(4)]
    with patch.object(scan_memory, "SPARE", EVERY_PUSH):
        found = pushed("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 15 RETURN a.k AS x, b.k AS y", *parts)
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124 - not so for NaN
    assert [[row[2:] for row in rows] for rows in found] == [[], *[[(v, v) for v in known], []] * 2]


def test_too_many_matches_end_in_an_error_or_are_shed() -> None:
    query = "PATTERN SEQ(A a, B b) RETURN a.ts AS t, b.ts AS u"
    parts = [event(n, "A") for n in range(5)], [event(9, "B")]
    with pytest.raises(oz.OuzelError, match="more than 4 matches"):
        pushed(query, *parts, limits=Limits(max_matches=4))
    limits = Limits(max_matches=4, on_limit="shed")
    assert [len(rows) for rows in pushed(query, *parts, limits=limits)] == [0, 4, 0]
    table = ingested([*parts[0], *parts[1]])
    at_work = plan_of(query, table).begin(limits, once=True)
    assert len(at_work.push(table, None)[0].matches) == 4
    assert at_work.counters.shed_matches == 1
    assert at_work.counters.made == 5


def test_more_matches_than_there_is_room_for_at_first() -> None:
    table = ingested([event(n // 40, "AB"[n // 40]) for n in range(80)])
    plan = plan_of("PATTERN SEQ(A a, B b) RETURN a.ts AS t, b.ts AS u", table)
    assert in_batches(plan, table, [1], resumed=False) == whole(plan, table) == Counter({"(0, 1, 0, 1)": 1600})
