"""Results, and their order, do not depend on the number of threads."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.sequences import SEQUENCES, TESTED, TYPES
from ouzel.physical.compiled import share
from ouzel.testing.strategies import RandomQuery, queries, streams

Events = list[dict[str, Any]]
THREADS = st.sampled_from((2, 3, 8))


def agree(query: str, events: Events, engine: str, threads: int) -> None:
    with patch.object(share, "PARALLEL_FROM", 1):
        found = oz.match(events, query, engine=engine, types=TYPES, threads=threads)
    assert found == oz.match(events, query, engine="reference", types=TYPES)


@settings(max_examples=200)
@given(st.one_of(SEQUENCES, TESTED), streams(max_events=14), THREADS)
def test_scan(query: RandomQuery, events: Events, threads: int) -> None:
    agree(query.text, events, "scan", threads)


@settings(max_examples=200)
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
