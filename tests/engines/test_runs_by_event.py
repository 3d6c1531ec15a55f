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


def test_texts_are_in_order_where_a_restored_matcher_hears_of_no_new_event() -> None:
    arcs = [
        {"id": "any", "source": "q", "target": "q"},
        {"id": "later", "source": "q", "target": "q", "when": "first < e.name"},
    ]
    spec = {"start": "q", "final": ["q"], "register": {"first": "m"}, "window": 3, "arcs": arcs}
    schema = pa.schema({"ts": pa.int64(), "name": pa.string(), "op": pa.int8()})
    there = [
        {"ts": time, "name": name, "op": 1} for time, name in ((0, "a"), (0, "z"), (1, "b"), (2, "c"), (2, "x"))
    ]
    matcher = oz.matcher(oz.automaton(spec), schema, type=None, speculation="inf", op="op")
    matcher.push(pa.Table.from_pylist(there, schema))
    restored = oz.restore(matcher.snapshot())
    withdrawal = pa.Table.from_pylist([{**there[2], "op": -1}], schema)
    assert restored.push(withdrawal).to_pylist() == matcher.push(withdrawal).to_pylist()
