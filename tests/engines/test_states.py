"""The automaton as an object: what SASE+ constructs, what runs must remember, and that any graph runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.kernels import jit
from ouzel.logical.schema import open_schema
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.automaton import expand as expanding
from ouzel.physical.automaton.drivers import Driver, breadth_first, depth_first, kernel_source
from ouzel.physical.automaton.expand import expand, expand_source
from ouzel.physical.automaton.parameters import Opened, Stream
from ouzel.physical.automaton.register_words import register_words
from ouzel.physical.automaton.run_rows import allotted
from ouzel.physical.automaton.runs import RunBounds, drive
from ouzel.physical.automaton.shape import shape_of
from ouzel.physical.automaton.states import Automaton, Stay
from ouzel.physical.automaton.store import UNION, Store
from ouzel.physical.compiled.cost import Cost
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.match_table import Many


def compiled(query: str) -> AutomatonPlan:
    plan = compile_query(query, open_schema(), {}, "automaton").plans[0].physical
    assert isinstance(plan, AutomatonPlan)
    return plan


def automaton(query: str) -> Automaton:
    return compiled(query).automaton


def live(query: str) -> dict[str, set[str]]:
    built = automaton(query)
    return {
        state.name: {register_words(one) for one in registers}
        for state, registers in zip(built.states, built.live, strict=True)
    }


def test_begin_and_take_are_moves_and_proceed_is_composed_into_them() -> None:
    built = automaton("PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [k] AND sum(a[].x) > 3 } WITHIN 5")
    (start,) = built.starts
    closure, last = built.states
    begin, take = closure.moves
    assert [(move.action, move.target) for move in (start, begin, take)] == [
        ("begin", 0),
        ("begin", 1),
        ("take", 0),
    ]
    assert [condition.conjunct.text for condition in begin.guard.conditions] == ["sum(a[].x) > 3"]
    assert closure.stay == Stay((take.guard,))
    assert closure.accepts is None
    assert (last.moves, last.accepts) == ((), ())
    assert built.window is not None
    assert [test.attribute for test in built.partition] == ["k"]


def test_an_automaton_is_a_value() -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE b[i].x > a.x"
    assert automaton(query).states == automaton(query).states
    assert automaton(query).registers == automaton(query).registers


def test_a_register_is_live_from_its_assignment_to_its_last_reader() -> None:
    found = live("PATTERN SEQ(A a, B b, C+ c[], D d) WHERE a.x < b.x AND b.x < c[1].x AND sum(c[].x) > d.x")
    assert found == {"a": {"a.x"}, "b": {"b.x"}, "c": {"running sum of c[].x"}, "d": set()}


def test_what_every_move_replaces_is_not_live_before_it() -> None:
    found = live("PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match { b[i].x > b[i-1].x }")
    assert found == {"a": set(), "b": {"b[b.LEN].x"}}


# ---- any graph -------------------------------------------------------------------------------------------


def endless(strategy: Stay) -> Automaton:
    """A, B, A, B, …: a cycle over two states, each of which a run may start in; after every B it accepts."""
    built = automaton("PATTERN SEQ(A a, B b)")
    (begin_a,) = built.starts
    (begin_b,) = built.states[0].moves
    a = replace(built.states[0], moves=(begin_b,), stay=strategy)
    b = replace(built.states[1], moves=(begin_a,), stay=strategy)
    return replace(built, starts=(begin_a, begin_b), states=(a, b))


def driven(built: Automaton, types: str, driver: Driver, *, merge: bool) -> tuple[Any, Store]:
    """The ends of accepted runs and the store of what they bound; each event is a moment of its own."""
    slots, operands = allotted(built), Operands()
    source = kernel_source(slots, operands, driver)
    count, store = len(types), Store()
    bits = {"A": 1, "B": 2, "C": 0}
    times = np.arange(count, dtype=np.int64)
    masks = np.array([bits[one] for one in types], np.int64)
    stream = Stream(0, masks, np.zeros(count, np.int64), np.array([0, count]), times, times, times, times, 0)
    none = np.zeros(1, np.int64)
    integers, floats = slots.widths
    opened = Opened(none, none, np.empty((0, integers), np.int64), np.empty((0, floats)))
    limits = oz.Limits()
    bounds = RunBounds.of(limits, limits.memory(), slots.widths, written=False)
    kernel = jit.interpreted(source)

    def run(*arguments: Any) -> Any:
        return kernel(np.zeros(2, np.int64), *arguments)

    arguments = [np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64)]
    return drive(run, opened, store, stream, bounds, arguments, merge=merge).found, store


def found_paths(built: Automaton, types: str, driver: Driver, *, merge: bool) -> list[str]:
    """The events of every accepted run, by their numbers."""
    found, store = driven(built, types, driver, merge=merge)

    def paths(node: int) -> list[str]:
        if node < 0:
            return [""]
        if store.component[node] == UNION:
            return paths(store.before[node]) + paths(store.event[node])
        return [f"{path}{store.event[node]}" for path in paths(store.before[node])]

    return sorted(
        path + (str(event) if event >= 0 else "") for node, event, _kind in found for path in paths(node)
    )


def written_out(built: Automaton, types: str, driver: Driver, *, merge: bool) -> list[tuple[list[int], list[int]]]:
    """The same as rows: what a and b are bound to in each match."""
    found, store = driven(built, types, driver, merge=merge)
    times, limits = np.arange(len(types)), oz.Limits()
    shape, room = shape_of(compiled("PATTERN SEQ(A+ a[], B+ b[])").query), limits.memory()
    source = expand_source(shape)
    expanded = expand(shape, source, found, store, times, times, 0, limits, room, Cost(0, 0), in_pieces=True)
    rows: list[list[list[int]]] = []
    for many in expanded.bound.values():
        assert isinstance(many, Many)
        rows.append([many.rows[slice(*many.offsets[k : k + 2])].tolist() for k in range(len(many))])
    return sorted(zip(*rows, strict=True))


def expected(types: str, *, contiguous: bool) -> list[str]:
    """The same by trying all subsequences of events: they alternate, and end with a B."""
    found = []
    for chosen in range(1, 2 ** len(types)):
        events = [number for number in range(len(types)) if chosen >> number & 1]
        word = "".join(types[number] for number in events)
        alternates = "C" not in word and "AA" not in word and "BB" not in word
        gapless = events[-1] - events[0] == len(events) - 1 or not contiguous
        if alternates and gapless and word.endswith("B"):
            found.append("".join(map(str, events)))
    return sorted(found)


DRIVERS = [(breadth_first, True), (breadth_first, False), (depth_first, False)]
STREAMS = ["AB", "BAB", "ABAB", "AABBA", "ABCAB", "BABABAB", "AABABBCA"]


@pytest.mark.parametrize("types", STREAMS)
@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_a_cycle_over_several_states_runs(types: str, driver: Driver, *, merge: bool, contiguous: bool) -> None:
    built = endless(Stay(None if contiguous else ()))
    assert found_paths(built, types, driver, merge=merge) == expected(types, contiguous=contiguous)


@pytest.mark.parametrize("types", STREAMS)
@pytest.mark.parametrize("long", [0, 10**9])  # in pieces, or event by event
@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_what_a_cycle_binds_is_written_out(types: str, driver: Driver, *, merge: bool, long: int) -> None:
    built = endless(Stay(()))
    paths = [[int(event) for event in path] for path in expected(types, contiguous=False)]
    wanted = [tuple([event for event in path if types[event] == name] for name in "AB") for path in paths]
    with patch.object(expanding, "MANY", 0), patch.object(expanding, "LONG", long):
        assert written_out(built, types, driver, merge=merge) == sorted(wanted)


@pytest.mark.parametrize("types", STREAMS)
@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_runs_that_bind_nothing_need_no_path_and_know_their_end(
    types: str, driver: Driver, *, merge: bool
) -> None:
    built = endless(Stay(()))
    states = tuple(
        replace(state, moves=tuple(replace(move, binds=None) for move in state.moves)) for state in built.states
    )
    built = replace(built, starts=tuple(replace(move, binds=None) for move in built.starts), states=states)
    found, store = driven(built, types, driver, merge=merge)
    assert store.nodes == 0
    assert set(found[:, 0].tolist()) | set(found[:, 2].tolist()) == {-1}
    ends = [int(path[-1]) for path in expected(types, contiguous=False)]
    # equal runs that are merged have one end
    assert set(found[:, 1].tolist()) == set(ends)
    assert merge or sorted(found[:, 1].tolist()) == sorted(ends)
