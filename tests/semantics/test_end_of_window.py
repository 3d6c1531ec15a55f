"""Arcs at the end of the window: runs wait for it, compiled as in the reference (AFA, Appendix E)."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from ouzel.physical.compiled import kernel

SCHEMA = pa.schema({"ts": pa.int64(), "s": pa.string(), "k": pa.int64()})
ENGINES = ("automaton", "reference")
END = {"id": "end", "source": "q1", "target": "q2", "end_of_window": True}
# an A, and no B before the window is over
ALONE = oz.automaton(
    {
        "start": "q0",
        "final": ["q2"],
        "register": {"n": 0},
        "window": 10,
        "arcs": [
            {"id": "a", "source": "q0", "target": "q1", "when": "e.s = 'A'", "set": {"n": "e.ts"}},
            {"id": "stay", "source": "q1", "target": "q1", "when": "e.s != 'B'"},
            END,
        ],
    }
)
BY_KEY = oz.automaton({**ALONE.spec, "partition": ["k"]})
Event = tuple[int, str] | tuple[int, str, int]


def table(*events: Event) -> pa.Table:
    rows = [{"ts": one[0], "s": one[1], "k": one[2] if len(one) > 2 else 1} for one in events]
    return pa.Table.from_pylist(rows, SCHEMA)


def matcher(automaton: oz.Automaton = ALONE, engine: str = "automaton", **options: Any) -> oz.Matcher:
    return oz.matcher(automaton, SCHEMA, engine=engine, time_unit="ms", **options)


def numbers(found: pa.Table) -> list[int]:
    return [row["n"] for row in found.to_pylist()]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_is_reported_when_time_reaches_the_end(engine: str) -> None:
    one = matcher(BY_KEY, engine)
    assert numbers(one.push(table((0, "A", 1), (2, "A", 2), (5, "C", 1), (6, "B", 2)))) == []
    assert numbers(one.advance(9)) == []
    one = oz.restore(one.snapshot())
    assert one.open_runs > 0
    found = one.advance(10)  # no event of its partition comes then
    assert found.to_pylist() == [{"n": 0, "valid_from": 10, "valid_to": 10}]
    assert numbers(one.finish()) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_at_the_end_is_after_it(engine: str) -> None:
    assert numbers(oz.match(table((0, "A"), (10, "B")), ALONE, engine=engine, time_unit="ms")) == [0]
    assert numbers(oz.match(table((0, "A"), (9, "B")), ALONE, engine=engine, time_unit="ms")) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_arcs_behind_it_are_judged_at_the_last_event(engine: str) -> None:
    spec = ALONE.spec
    arcs = [
        *spec["arcs"],
        {"source": "q2", "target": "q3", "when": "e.s = 'C'", "set": {"n": "-n"}, "epsilon": True},
    ]
    automaton = oz.automaton({**spec, "final": ["q3"], "arcs": arcs})
    assert numbers(oz.match(table((1, "A"), (2, "C"), (20, "A")), automaton, engine=engine, time_unit="ms")) == [
        -1
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_ranks_order_events_but_time_ends_windows(engine: str) -> None:
    events = table((0, "A"), (0, "C"), (3, "A"), (3, "C"))
    for order in ("arrival", ["ts", "s"]):
        found = oz.match(events, ALONE, engine=engine, order=order)
        assert [(row["n"], row["valid_to"]) for row in found.to_pylist()] == [(0, 10), (3, 13)]


@pytest.mark.parametrize("engine", ENGINES)
def test_lives_are_by_the_end(engine: str) -> None:
    def found(*lives: list[int | None]) -> list[int]:
        arcs = [*ALONE.spec["arcs"][:2], {**END, "lives": list(lives)}]
        events = table((0, "A"), (20, "A"), (40, "A"))
        return numbers(oz.match(events, oz.automaton({**ALONE.spec, "arcs": arcs}), engine=engine, time_unit="ms"))

    assert found([10, 30]) == [0]
    assert found([11, 31]) == [20]
    assert found([None, 10], [50, None]) == [40]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_change_at_the_punctuation_comes_after_windows_that_end_there(engine: str) -> None:
    one = matcher(engine=engine)
    one.push(table((0, "A"), (1, "C")))
    assert numbers(one.advance(10)) == [0]
    one.change(remove=["end"], at=10)  # what was reported stays
    one.push(table((10, "A")))
    assert numbers(one.advance(20)) == []
    one.change(add=[END], at=20)
    assert numbers(one.push(table((20, "A")))) == []
    assert numbers(one.advance(30)) == [20]


# an arc that no event takes makes q2 final
FINAL = {"id": "final", "source": "q1", "target": "q2", "when": "e.s = 'Z'", "final": True}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_is_final_for_windows_that_end_at_its_time_or_later(engine: str) -> None:
    def found(*lives: list[int | None]) -> list[int]:
        arcs = [*ALONE.spec["arcs"], {**FINAL, "lives": list(lives)}]
        automaton = oz.automaton({**ALONE.spec, "final": [], "arcs": arcs})
        return numbers(oz.match(table((0, "A"), (20, "A")), automaton, engine=engine, time_unit="ms"))

    assert found([10, None]) == [0, 20]
    assert found([11, None]) == [20]
    assert found([10, 11]) == [0, 20]  # for good
    assert found([10, 10]) == [20]  # a life for no time is after the windows that end then
    assert found([10, 10], [10, None]) == found([10, None], [10, 10]) == [20]
    assert found([30, None], [10, 11]) == [0, 20]


@pytest.mark.parametrize("speculation", [None, "inf"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_state_becomes_final_after_windows_that_end_at_the_punctuation(engine: str, speculation: Any) -> None:
    bare = oz.automaton({**ALONE.spec, "final": []})
    for at, expected in ((10, [5]), (15, [5]), (16, [])):
        one = matcher(bare, engine, speculation=speculation)
        found = [one.push(table((0, "A"), (5, "A"))), one.advance(10), one.change(add=[FINAL], at=at)]
        one = oz.restore(one.snapshot())
        found += [one.advance(20), one.finish()]
        assert [number for told in found for number in numbers(told)] == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_a_change_reaches_back_to_windows_that_ended_since(engine: str) -> None:
    one = matcher(engine=engine, speculation="inf")
    assert numbers(one.push(table((0, "A"), (9, "C")))) == [0]  # all that came is before 10
    found = one.change(remove=["end"])
    assert [(row["n"], row["op"]) for row in found.to_pylist()] == [(0, -1)]
    found = one.change(add=[END], at=10)
    assert [(row["n"], row["op"]) for row in found.to_pylist()] == [(0, 1)]


def test_a_run_knows_at_its_last_event_what_it_waits_for() -> None:
    new = {**END, "id": "new", "set": {"n": "-1"}}
    one = matcher()
    one.push(table((0, "A")))
    with pytest.raises(oz.OuzelError, match="the arc 'new' is new and waits for the end of the window"):
        one.change(add=[new])
    one = matcher(engine="reference")
    one.push(table((0, "A")))
    one.change(add=[new])
    assert sorted(numbers(one.finish())) == [-1, 0]


def test_runs_wait_on_while_other_arcs_and_states_come() -> None:
    one = matcher(BY_KEY)
    one.push(table((0, "A", 1), (1, "A", 2), (2, "A", 3)))
    new = {"id": "x", "source": "q1", "target": "q9", "when": "e.s = 'X'", "set": {"n": "-1"}, "final": True}
    one.change(add=[new])
    one = oz.restore(one.snapshot())
    found = [one.push(table((4, "X", 1), (5, "B", 2))), one.finish()]
    assert sorted(n for part in found for n in numbers(part)) == [-1, 0, 2]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("arrow", "time"), [(pa.int8(), 120), (pa.uint16(), 2**16 - 1), (pa.int32(), 2**31 - 5)])
def test_a_window_may_end_after_all_times_of_its_column(engine: str, arrow: pa.DataType, time: int) -> None:
    events = pa.table({"ts": pa.array([time], arrow), "s": ["A"], "k": [1]})
    automaton = oz.automaton(
        {**ALONE.spec, "register": {"n": 0}, "arcs": [{**ALONE.spec["arcs"][0], "set": {}}, END]}
    )
    (row,) = oz.match(events, automaton, engine=engine, time_unit="ms").to_pylist()
    assert row == {"n": 0, "valid_from": None, "valid_to": None}


def test_what_waits_leaves_nothing_behind() -> None:
    one, sizes = matcher(BY_KEY), []
    for begin in range(0, 40_000, 1_000):
        found = one.push(table(*((ts, "A", ts) for ts in range(begin, begin + 1_000))))
        sizes.append(one.open_runs)
    assert found.num_rows == 1_000
    assert max(sizes) < 5_000


@pytest.mark.parametrize("evaluation", ["basic", "backtracking"])
def test_compiled(evaluation: str) -> None:
    events = table(*((ts, "ACB"[ts * ts % 7 % 3], ts % 3) for ts in range(0, 300, 4)))
    expected = oz.match(events, BY_KEY, engine="reference", time_unit="ms").to_pylist()
    assert len(expected) > 10
    with patch.object(kernel, "COMPILE_FROM", 0):
        found = oz.match(
            events, BY_KEY, engine="automaton", tuning={"evaluation": evaluation}, time_unit="ms"
        ).to_pylist()
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
