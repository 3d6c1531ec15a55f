"""Arcs that leave a run as it is: it is kept once for all moments at which it ends, and no row changes by that."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz

SCHEMA = pa.schema({"ts": "int64", "x": "int64", "k": "int64"})
OWN = SCHEMA.append(pa.field("op", pa.int8()))
SWITCHES = ("on", "off")
Row = tuple[int, ...]

FIRST = {"source": "q0", "target": "q1", "when": "e.x = 1", "set": {"n": "e.ts"}}
LOOP = {"source": "q1", "target": "q1", "when": "e.x = 0"}
END = {"source": "q1", "target": "q2", "when": "e.x = 2"}


def spec(*arcs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """1 begins, 2 ends, what is between is ignored by some arcs; `n` is the time of the first event."""
    named = [{"id": f"a{place}", **arc} for place, arc in enumerate((FIRST, *arcs, END))]
    return {"start": "q0", "final": ["q2"], "register": {"n": 0}, "arcs": named, **more}


@dataclass
class Stream:
    """Events that come and go in a matcher; after every push the reference agrees on what is left."""

    spec: dict[str, Any]
    switch: str = "on"
    options: dict[str, Any] = field(default_factory=dict)
    left: list[Row] = field(default_factory=list)
    matches: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.query = oz.automaton(self.spec)
        self.matcher = oz.matcher(
            self.query,
            OWN,
            op="op",
            speculation="inf",
            time_unit="ms",
            type=None,
            tuning={"ignorable": self.switch},
            **self.options,
        )
        assert "runs are kept by event" in " ".join(self.matcher.explain().split())

    def push(self, *rows: Row, op: int = 1) -> list[tuple[int, int]]:
        """Let events come, each a time, x, and k; what is told: the time of the last event, and op."""
        filled = [(*row, 1)[:3] for row in rows]
        for row in filled:
            self.left.append(row) if op == 1 else self.left.remove(row)
        events = [dict(zip(OWN.names, (*row, op), strict=True)) for row in filled]
        return self.apply(self.matcher.push(pa.Table.from_pylist(events, OWN)))

    def withdraw(self, *rows: Row) -> list[tuple[int, int]]:
        return self.push(*rows, op=-1)

    def apply(self, told: pa.Table, *, checked: bool = True) -> list[tuple[int, int]]:
        for row in told.to_pylist():
            op, number = row.pop("op"), row.pop("match_id")
            if op == 1:
                self.matches[number] = repr(row)
            else:
                assert self.matches.pop(number) == repr(row)
        if checked:
            events = [dict(zip(SCHEMA.names, row, strict=True)) for row in sorted(self.left)]
            table = pa.Table.from_pylist(events, SCHEMA)
            found = oz.match(table, self.query, type=None, time_unit="ms", engine="reference")
            assert Counter(self.matches.values()) == Counter(map(repr, found.to_pylist()))
        return [(row["valid_from"], row["op"]) for row in told.to_pylist()]

    def restore(self) -> None:
        self.matcher = oz.restore(self.matcher.snapshot())

    @property
    def made(self) -> int:
        return self.matcher.report.counters.made


ignored = [(ts, 0) for ts in range(10, 100, 10)]


@pytest.mark.parametrize(("switch", "runs"), [("on", 1), ("off", 10)])
def test_a_run_that_is_left_as_it_is_is_kept_once(switch: str, runs: int) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *ignored)
    assert (one.matcher.open_runs, one.made) == (runs, runs)
    assert one.push((100, 2)) == [(100, 1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_an_ignored_event_that_comes_late_tells_nothing(switch: str) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *ignored, (100, 2))
    made = one.made
    # between two, behind the last, before the first
    assert one.push((55, 0)) == one.push((95, 0)) == one.push((5, 0)) == []
    assert (one.made == made) == (switch == "on")


@pytest.mark.parametrize("switch", SWITCHES)
@pytest.mark.parametrize("at", [5, 15, 55, 95])
def test_an_event_that_comes_late_and_is_not_ignored_ends_it_there(switch: str, at: int) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *ignored, (100, 2))
    assert one.push((at, 3)) == [(100, -1)]
    assert one.push((101, 0), (102, 2)) == []
    assert one.push((at - 1, 2)) == [(at - 1, 1)]
    one.restore()
    assert one.withdraw((at, 3)) == []
    assert one.withdraw((at - 1, 2)) == [(at - 1, -1), (100, 1)]
    assert one.push((at + 1, 0), (103, 2)) == []


@pytest.mark.parametrize("switch", SWITCHES)
def test_withdrawals_at_each_place(switch: str) -> None:
    for gone in [(1, 1), *ignored, (100, 2)]:
        one = Stream(spec(LOOP), switch)
        one.push((1, 1), *ignored, (100, 2))
        is_edge = gone[1] != 0
        assert one.withdraw(gone) == ([(100, -1)] if is_edge else [])
        assert one.push((gone[0], 3)) == ([] if is_edge else [(100, -1)])
        one.withdraw((gone[0], 3))
        assert one.push(gone) == ([(100, 1)] if is_edge else [])


@pytest.mark.parametrize("switch", SWITCHES)
def test_all_that_is_ignored_goes_and_comes_again(switch: str) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *ignored)
    for gone in reversed(ignored):
        one.withdraw(gone)
    assert one.push((100, 2)) == [(100, 1)]
    for again in ignored:
        assert one.push(again) == []
    assert one.withdraw((100, 2)) == [(100, -1)]
    assert one.push((70, 2)) == [(70, 1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_simultaneous_events_are_computations_each(switch: str) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *((ts, x, 1) for ts, x in ignored), (100, 2))
    assert one.push((50, 0, 2)) == [(100, 1)]
    assert one.push((20, 0, 2)) == [(100, 1), (100, 1)]
    # what came first is withdrawn, which took the run on
    assert one.withdraw((50, 0, 1)) == [(100, -1), (100, -1)]
    assert one.push((50, 3, 3)) == []
    assert one.withdraw((50, 0, 2)) == [(100, -1), (100, -1)]
    assert one.push((50, 0, 4)) == [(100, 1), (100, 1)]
    assert one.withdraw((50, 3, 3)) == []
    one.restore()
    assert one.push((60, 0, 2), (100, 2, 2)) == [(100, 1)] * 6


@pytest.mark.parametrize("switch", SWITCHES)
def test_another_event_of_a_moment_ends_what_it_took_on(switch: str) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), (10, 0), (10, 3), (20, 0), (30, 2))
    assert one.withdraw((10, 0)) == [(30, -1)]
    assert one.push((10, 0)) == [(30, 1)]
    assert one.withdraw((10, 3)) == []
    assert one.push((10, 2)) == [(10, 1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_parallel_arcs_are_computations_each(switch: str) -> None:
    one = Stream(spec(LOOP, {**LOOP, "when": "e.x <= 0"}), switch)
    one.push((1, 1), (10, 0), (20, -1), (30, 2))
    assert len(one.matches) == 2
    assert one.push((15, 0)) == [(30, 1), (30, 1)]
    assert one.withdraw((10, 0)) == [(30, -1), (30, -1)]
    assert one.push((16, 3)) == [(30, -1), (30, -1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_final_state_accepts_each_time(switch: str) -> None:
    one = Stream(spec(LOOP, final=["q1", "q2"]), switch)
    one.push((1, 1), *ignored)
    assert len(one.matches) == 10
    assert one.push((55, 0)) == [(55, 1)]
    assert one.withdraw((30, 0)) == [(30, -1)]
    assert one.push((54, 3)) == [(ts, -1) for ts in (55, 60, 70, 80, 90)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_an_arc_behind_that_consumes_nothing_is_another_way(switch: str) -> None:
    silent = {"source": "q1", "target": "q2", "when": "n < 3", "epsilon": True}
    one = Stream(spec(LOOP, silent), switch)
    assert one.push((1, 1), (10, 0), (20, 0), (30, 0)) == [(1, 1), (10, 1), (20, 1), (30, 1)]
    assert one.push((15, 0)) == [(15, 1)]
    assert one.withdraw((20, 0)) == [(20, -1)]
    assert one.push((12, 3)) == [(15, -1), (30, -1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_an_arc_behind_that_counts_and_leads_back(switch: str) -> None:
    back = {"source": "q3", "target": "q1", "when": "n < 3", "set": {"n": "n + 1"}, "epsilon": True}
    through = {"source": "q1", "target": "q3", "when": "e.x = 0"}
    one = Stream(spec(LOOP, through, back), switch)
    assert one.push((1, 1), (10, 0), (20, 0), (30, 2)) == [(30, 1)] * 4
    assert one.push((15, 0)) == [(30, 1)] * 3
    assert one.withdraw((20, 0)) == [(30, -1)] * 3
    assert one.push((12, 3)) == [(30, -1)] * 4


@pytest.mark.parametrize("switch", SWITCHES)
def test_an_arc_that_sets_what_there_is_leaves_a_run_as_it_is(switch: str) -> None:
    one = Stream(spec({**LOOP, "set": {"n": "n"}}), switch)
    one.push((1, 1), *ignored, (100, 2))
    assert one.made == (2 if switch == "on" else 11)


@pytest.mark.parametrize("switch", SWITCHES)
def test_what_a_loop_asks_of_the_register(switch: str) -> None:
    one = Stream(spec({**LOOP, "when": "e.x = 0 AND n > 1"}), switch)
    one.push((1, 1), (2, 1), *ignored, (100, 2))
    assert len(one.matches) == 1
    assert one.withdraw((2, 1)) == [(100, -1)]
    assert one.push((3, 1)) == [(100, 1)]
    assert one.push((55, 1)) == [(100, -1), (100, 1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_time_passes_in_between(switch: str) -> None:
    with patch("ouzel.physical.automaton.event_lists.EventLists.is_large", True):
        one = Stream(spec(LOOP, partition=["k"]), switch)
        one.push((1, 1, 1), (1, 1, 2), *((ts, x, k) for ts, x in ignored for k in (1, 2)))
        one.apply(one.matcher.advance(45))
        assert one.matcher.open_runs == (2 if switch == "on" else 12)
        assert one.push((100, 2, 1), (47, 3, 2)) == [(100, 1)]
        one.restore()
        assert one.push((46, 0, 1)) == []
        assert one.push((45, 3, 1)) == [(100, -1)]
        assert one.push((46, 2, 2), (99, 2, 2)) == [(46, 1)]
        assert one.withdraw((47, 3, 2), (45, 3, 1)) == [(100, 1)]
        one.apply(one.matcher.advance(95))
        assert one.push((97, 3, 1)) == [(100, -1)]
        assert one.matcher.open_runs <= 4


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_window_that_ends_in_between(switch: str) -> None:
    one = Stream(spec(LOOP, window=50), switch)
    one.push((1, 1), *ignored)
    assert one.push((95, 2)) == []
    assert one.push((45, 2)) == [(45, 1)]
    assert one.withdraw((45, 2)) == [(45, -1)]
    assert one.push((50, 2)) == [(50, 1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_arcs_that_come_and_go(switch: str) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *ignored, (100, 2))
    # from 55 on nothing is ignored, but at 75 it is again, with -1, too
    assert one.apply(one.matcher.change(remove=["a1"], at=55), checked=False) == [(100, -1)]
    assert one.apply(one.matcher.change([{**LOOP, "id": "again", "when": "e.x <= 0"}], at=75), checked=False) == []
    lives: list[dict[str, Any]] = [
        {"lives": [[None, 55]]},
        {"id": "again", "when": "e.x <= 0", "lives": [[75, None]]},
    ]
    one.query = oz.automaton(spec(*({**LOOP, "id": "a1", **life} for life in lives)))
    assert one.push((78, 1)) == [(100, 1)]
    one.restore()
    assert one.withdraw((78, 1)) == [(100, -1)]
    assert one.withdraw(*((ts, 0) for ts in (60, 70))) == [(100, 1)]
    assert one.push((76, -1)) == []
    assert one.push((57, -1)) == [(100, -1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_a_state_that_becomes_final(switch: str) -> None:
    one = Stream(spec(LOOP), switch)
    one.push((1, 1), *ignored)
    final = {"id": "f", "source": "q0", "target": "q1", "when": "e.x = 7", "final": True}
    told = one.apply(one.matcher.change([final], at=55), checked=False)
    assert told == [(ts, 1) for ts in (60, 70, 80, 90)]
    one.query = oz.automaton(spec(LOOP, {**final, "lives": [[55, None]]}))
    assert one.push((35, 0)) == []
    assert one.push((65, 0)) == [(65, 1)]


@pytest.mark.parametrize("switch", SWITCHES)
def test_events_that_are_counted(switch: str) -> None:
    schema = pa.schema({"ts": "int64", "x": "int64", "seq": "int64"})
    matcher = oz.matcher(
        oz.automaton(spec(LOOP)), schema, type=None, sequence="seq", time_unit="ms", tuning={"ignorable": switch}
    )
    rows = [(1, 1, 1), (2, 0, 2), (3, 0, 3), (4, 0, 4), (5, 2, 5)]
    arriving = [
        pa.Table.from_pylist([dict(zip(schema.names, rows[k], strict=True))], schema) for k in (0, 1, 3, 4)
    ]
    assert all(matcher.push(one).num_rows == 0 for one in arriving)
    last = pa.Table.from_pylist([dict(zip(schema.names, rows[2], strict=True))], schema)
    assert [row["valid_from"] for row in matcher.push(last).to_pylist()] == [5]


def test_only_register_automata_have_ignorable_arcs() -> None:
    with pytest.raises(oz.OuzelError, match="only register automata have arcs that are ignorable"):
        oz.match([{"ts": 1, "type": "A"}], "PATTERN A a", tuning={"ignorable": "off"})
