"""Runs that are kept by event: how much room they take."""

from __future__ import annotations

import pyarrow as pa

import ouzel as oz
from ouzel.runtimes.by_event import ByEvent
from ouzel.runtimes.revising import Revising

SCHEMA = pa.schema({"ts": "int64"})


def test_many_matches_need_no_room_for_more_runs() -> None:
    arcs = [{"source": "q0", "target": "q0"} for _ in range(2)]
    automaton = oz.automaton({"start": "q0", "final": ["q0"], "arcs": arcs})
    matcher = oz.matcher(automaton, SCHEMA, speculation="inf", time_unit="ms", type=None)
    for ts in range(12):
        matcher.push(pa.table({"ts": [ts]}, SCHEMA))
    assert isinstance(matcher, Revising)
    assert isinstance(way := matcher._way, ByEvent)
    assert len(way.runs.ri) < 8 * way.open_runs
