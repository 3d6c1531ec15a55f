"""Results, and their order, do not depend on the number of threads."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.pushes import Pushes, matched, pushed, pushes
from engines.sequences import SEQUENCES, TESTED, TYPES
from ouzel.physical.compiled import share
from ouzel.physical.scan import construction
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
THREADS = st.sampled_from((2, 3, 8))


def agree(query: str, events: Events, engine: str, threads: int) -> None:
    # however short windows are, threads scan stretches of time on their own
    with patch.object(share, "PARALLEL_FROM", 1), patch.object(construction, "MOST_AGAIN", 8):
        found = oz.match(events, query, engine=engine, types=TYPES, threads=threads)
    assert found == oz.match(events, query, engine="reference", types=TYPES)


@settings(max_examples=100)
@given(st.one_of(SEQUENCES, TESTED), streams(max_events=14), THREADS)
def test_scan(query: RandomQuery, events: Events, threads: int) -> None:
    agree(query.text, events, "scan", threads)


@settings(max_examples=100)
@given(st.one_of(SEQUENCES, queries(non_overlap=True)), streams(), pushes(), THREADS)
def test_pushes(query: RandomQuery, events: Events, cut: Pushes, threads: int) -> None:
    with patch.object(share, "PARALLEL_FROM", 1):
        found = pushed(query.text, events, cut, threads=threads)
    assert found == matched(query.text, events)


@settings(max_examples=100)
@given(queries(totals=True), streams(max_events=10), THREADS)
def test_whatever_engine(query: RandomQuery, events: Events, threads: int) -> None:
    agree(query.text, events, "auto", threads)


@pytest.mark.parametrize(
    ("limits", "message"),
    [(oz.Limits(max_matches=3), "more than 3 matches"), (oz.Limits(max_nodes=3), "more than 3 events bound")],
)
def test_limits_hold_for_all_threads_together(limits: oz.Limits, message: str) -> None:
    events = [{"ts": n, "type": "AB"[n % 2], "k": n // 2} for n in range(20)]
    query = "PATTERN SEQ(A a, B b) WHERE [k] RETURN a.ts AS p, b.ts AS q"
    with patch.object(share, "PARALLEL_FROM", 1), pytest.raises(oz.OuzelError, match=message):
        oz.match(events, query, threads=2, limits=limits)


@pytest.mark.parametrize("again", [0, 8], ids=["together", "in stretches"])
@settings(max_examples=50)
@given(st.one_of(SEQUENCES, TESTED), streams(min_events=4, max_events=14), THREADS)
def test_threads_push_the_nodes_that_one_would(
    again: int, query: RandomQuery, events: Events, threads: int
) -> None:
    reports = oz.Report(), oz.Report()
    with patch.object(share, "PARALLEL_FROM", 1), patch.object(construction, "MOST_AGAIN", again):
        for count, report in zip((1, threads), reports, strict=True):
            oz.match(events, query.text, engine="scan", types=TYPES, threads=count, report=report)
    assert reports[0].counters == reports[1].counters


@pytest.mark.parametrize("each", [0, 64], ids=["counted", "guessed"])
@settings(max_examples=60)
@given(SEQUENCES, streams(min_events=4, max_events=14), THREADS)
def test_however_many_sequences_are_expected(each: int, query: RandomQuery, events: Events, threads: int) -> None:
    # with hardly any room, guesses are wrong at times
    with patch.object(construction, "FEW_EACH", each), patch.object(construction, "_ROOM", 1):
        agree(query.text, events, "scan", threads)
