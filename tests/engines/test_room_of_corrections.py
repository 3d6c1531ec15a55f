"""Events that may still be corrected, and what was told of them: how much room and time they take."""

from __future__ import annotations

import pyarrow as pa

import ouzel as oz
from ouzel.runtimes.by_event import ByEvent
from ouzel.runtimes.reported import Reported
from ouzel.runtimes.revising import Revising


def test_events_that_are_forgotten_take_no_memory() -> None:
    schema = pa.schema({"ts": pa.int64(), "k": pa.int64()})
    alone = oz.automaton(start="q0", final=["q1"]).arc("q0", "q1", "e.k = 1")
    matcher = oz.matcher(alone, schema, type=None, time_unit="s", speculation="inf")
    assert isinstance(matcher, Revising)
    count = 10_000
    matcher.push(pa.table({"ts": list(range(count)), "k": [0] * count}, schema=schema))
    for time in (100, 6_000, count - 1):
        matcher.advance(time)
        left = matcher._tail.between(time, None)
        assert len(left) == count - time
        assert left.table.get_total_buffer_size() <= 3 * max(left.table.nbytes, 1)


def test_events_behind_one_that_stays_take_no_room() -> None:
    schema = pa.schema({"ts": pa.int64(), "k": pa.int64()})
    pairs = oz.automaton(start="q0", final=["q2"], register={"k": 0}, window=10).arc(
        "q0", "q1", None, {"k": "e.k"}
    )
    pairs = pairs.arc("q1", "q2", "e.k = k")
    one = oz.matcher(pairs, schema, type=None, time_unit="s", speculation="inf")
    one.push(pa.table({"ts": [10**9], "k": [0]}, schema=schema))
    found = 0
    for begin in range(0, 20_000, 500):
        rows = {"ts": list(range(begin, begin + 500)), "k": [number // 2 for number in range(500)]}
        found += one.push(pa.table(rows, schema=schema), begin + 500).num_rows
        if begin % 2_000 == 0:
            one = oz.restore(one.snapshot())
            assert isinstance(one, Revising)
            assert isinstance(one._way, ByEvent)
            assert one._way._numbers.count < 5_000
    assert found == 10_000
    assert one.push(pa.table({"ts": [20_001, 10**9 + 1], "k": [9, 0]}, schema=schema), 10**9).num_rows == 1


def test_a_push_looks_at_no_more_of_what_was_reported_than_it_changes() -> None:
    class Row:
        asked = 0

        def __init__(self, time: int) -> None:
            self.time = time

        @property
        def since(self) -> int:
            Row.asked += 1
            return self.time

    reported = Reported()
    reported.kept = [Row(time) for time in range(10_000)]  # type: ignore[misc]
    assert [one.since for one in reported.since(9_998)] == [9_998, 9_999]
    reported.forget(3)
    assert (len(reported.kept), reported.kept[0].since) == (9_995, 3)
    assert Row.asked < 100
