"""Runs that are kept by event: how much room they take."""

from __future__ import annotations

import pyarrow as pa
import pytest

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


def test_late_events_of_several_partitions_come_in_one_batch() -> None:
    arcs = [
        {"source": "q0", "target": "q1", "set": {"sum": "e.v"}},
        {"source": "q1", "target": "q1", "set": {"sum": "sum + e.v"}},
    ]
    spec = {"start": "q0", "final": ["q1"], "register": {"sum": 0}, "window": 4, "arcs": arcs, "partition": ["k"]}
    schema = pa.schema({"ts": pa.int64(), "k": pa.int64(), "v": pa.int64()})
    rows = [{"ts": time, "k": time * key % 3, "v": 2**time + key} for time in range(20) for key in (1, 2)]
    late = [row for place, row in enumerate(rows) if place % 3]
    matcher = oz.matcher(oz.automaton(spec), schema, type=None, time_unit="ms", speculation="inf", watermark=100)
    there: dict[int, dict[str, int]] = {}
    for batch in (rows[::3], late):
        for told in matcher.push(pa.Table.from_pylist(batch, schema)).to_pylist():
            if told["op"] > 0:
                there[told["match_id"]] = told
            else:
                del there[told["match_id"]]
    whole = oz.match(pa.Table.from_pylist(rows, schema), oz.automaton(spec), type=None, time_unit="ms")
    found = sorted((one["sum"], one["valid_from"], one["valid_to"]) for one in there.values())
    assert found == sorted((one["sum"], one["valid_from"], one["valid_to"]) for one in whole.to_pylist())


def chain(count: int) -> tuple[pa.Table, oz.Automaton]:
    """Events, each of which begins a run that goes on for as long as there are others."""
    longer = oz.automaton(start="q0", final=["q2"], register={"n": 0}).arc("q0", "q1")
    longer = longer.arc("q1", "q1", None, {"n": "n + 2"})
    table = pa.table({"ts": range(count), "op": pa.array([1] * count, pa.int8())})
    return table, longer.arc("q1", "q2", "n = 1", id="never")


@pytest.mark.parametrize("what", ["change", "withdrawals"])
def test_what_is_judged_anew_goes_from_the_last_on(what: str) -> None:
    table, automaton = chain(100)
    limits = oz.Limits(max_runs=5_200)
    matcher = oz.matcher(
        automaton, table.schema, op="op", speculation="inf", time_unit="ms", type=None, limits=limits
    )
    matcher.push(table)
    made = matcher.report.counters.made
    assert matcher.open_runs == made == 5_050
    if what == "change":
        matcher.change(remove=["never"], at=10)
        assert matcher.open_runs == 5_050
        assert matcher.report.counters.made <= 2 * made
    else:
        matcher.push(pa.table({"ts": range(10, 100), "op": pa.array([-1] * 90, pa.int8())}))
        assert (matcher.open_runs, matcher.report.counters.made) == (55, made)
