"""Automata built by hand: whatever graph they are, they run, merged or not, and are written out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, pairwise
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
from ouzel.physical.automaton.run_rows import allotted
from ouzel.physical.automaton.runs import RunBounds, drive
from ouzel.physical.automaton.shape import shape_of
from ouzel.physical.automaton.states import Automaton, Move, State, Stay
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


def endless(strategy: Stay) -> Automaton:
    """A, B, A, B, …: a cycle over two states, each of which a run may start in; after every B it accepts."""
    built = automaton("PATTERN SEQ(A a, B b)")
    (begin_a,) = built.starts
    (begin_b,) = built.states[0].moves
    a = replace(built.states[0], moves=(begin_b,), stay=strategy)
    b = replace(built.states[1], moves=(begin_a,), stay=strategy)
    return replace(built, starts=(begin_a, begin_b), states=(a, b))


def driven(
    built: Automaton,
    types: str,
    driver: Driver,
    *,
    merge: bool,
    moments: Sequence[int] | None = None,
    cut: int = 0,
) -> tuple[Any, Store]:
    """The ends of accepted runs and the store of what they bound; the stream may be cut into two batches."""
    slots, operands = allotted(built), Operands()
    source = kernel_source(slots, operands, driver)
    store, limits, kernel = Store(), oz.Limits(), jit.interpreted(source)
    times = np.array(moments if moments is not None else range(len(types)), np.int64)
    masks = np.array([1 << "ABC".index(one) for one in types], np.int64)
    bounds = RunBounds.of(limits, limits.memory(), slots.widths, written=False)

    def run(*arguments: Any) -> Any:
        return kernel(np.zeros(2, np.int64), *arguments)

    arguments = [np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64)]
    integers, floats = (np.empty((0, width), kind) for width, kind in zip(slots.widths, ("i8", "f8"), strict=True))
    found = []
    for begin, end in pairwise(sorted({0, cut, len(types)})):
        own = times[begin:end]
        edges = np.array([0, end - begin])
        stream = Stream(begin, masks[begin:end], np.zeros_like(own), edges, own, own, own, own, 0)
        opened = Opened(np.zeros(1, np.int64), np.full(1, len(integers)), integers, floats)
        done = drive(run, opened, store, stream, bounds, arguments, merge=merge)
        integers, floats = done.ri, done.rf
        found.append(done.found)
    return np.concatenate(found), store


def found_paths(built: Automaton, types: str, driver: Driver, **options: Any) -> list[str]:
    """The events of every accepted run, by their numbers."""
    found, store = driven(built, types, driver, **options)

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


def subsequences(types: str, words: str) -> list[str]:
    """All subsequences of events whose types are such a word, a regular expression."""
    chosen = chain.from_iterable(combinations(range(len(types)), size + 1) for size in range(len(types)))
    return sorted(
        "".join(map(str, events))
        for events in chosen
        if re.fullmatch(words, "".join(types[one] for one in events))
    )


def expected(types: str, *, contiguous: bool) -> list[str]:
    """What an endless automaton accepts: As and Bs that alternate, and end with a B."""
    found = subsequences(types, "B?(AB)*(?<=B)")
    return [path for path in found if not contiguous or int(path[-1]) - int(path[0]) == len(path) - 1]


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


@pytest.mark.parametrize("types", STREAMS)
@pytest.mark.parametrize("merge", [True, False])
def test_runs_in_a_cycle_go_on_in_the_next_batch(types: str, *, merge: bool) -> None:
    for cut in range(len(types)):
        found = found_paths(endless(Stay(())), types, breadth_first, merge=merge, cut=cut)
        assert found == expected(types, contiguous=False)


# ---- what else a state may say ---------------------------------------------------------------------------


def parts() -> tuple[Automaton, tuple[Move, Move, Move], tuple[State, State, State]]:
    """What SEQ(A a, B b, C c) is made of: the moves that bind a, b and c, and the states they lead to."""
    built = automaton("PATTERN SEQ(A a, B b, C c)")
    (begin_a,), (a, b, c) = built.starts, built.states
    (begin_b,), (begin_c,) = a.moves, b.moves
    return built, (begin_a, begin_b, begin_c), (a, b, c)


@pytest.mark.parametrize("types", ["ABC", "BCABC", "AACBBC", "CBACB", "ABACBC"])
@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_several_starts_and_ends(types: str, driver: Driver, *, merge: bool) -> None:
    built, (begin_a, begin_b, begin_c), (a, b, c) = parts()
    a = replace(a, moves=(begin_b, begin_c), stay=Stay(()))
    b = replace(b, moves=(begin_c,), stay=Stay(()), accepts=())
    built = replace(built, starts=(begin_a, begin_b), states=(a, b, c))
    assert found_paths(built, types, driver, merge=merge) == subsequences(types, "AB|B|AC|A?BC")


@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_every_event_of_a_moment_may_move_a_run_and_all_must_let_it_stay(driver: Driver, *, merge: bool) -> None:
    built, (_, begin_b, begin_c), (a, b, c) = parts()
    b = replace(b, moves=(), accepts=())
    for unless, wanted in (
        ((), ["01", "02", "04"]),
        ((begin_b.guard,), ["01", "02"]),
        ((begin_c.guard,), ["01", "02"]),
        (None, ["01", "02"]),
    ):
        leaving = replace(built, states=(replace(a, moves=(begin_b,), stay=Stay(unless)), b, c))
        found = found_paths(leaving, "ABBCB", driver, merge=merge, moments=[0, 1, 1, 1, 2])
        assert found == wanted, unless


@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_each_edge_has_a_strategy(driver: Driver, *, merge: bool) -> None:
    """A run at a may skip any C, but no B that it can move with."""
    built, (_, begin_b, begin_c), (a, b, c) = parts()
    a = replace(a, moves=(begin_b, begin_c), stay=Stay((begin_b.guard,)))
    built = replace(built, states=(a, replace(b, moves=(), accepts=()), c))
    assert found_paths(built, "ACCBBC", driver, merge=merge) == ["01", "02", "03"]


@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_moves_are_made_in_their_order(driver: Driver, *, merge: bool) -> None:
    built, (_, begin_b, begin_c), (a, b, c) = parts()
    b = replace(b, moves=(), accepts=())
    moves = begin_b, replace(begin_c, guard=begin_b.guard)
    for preferred in (moves, moves[::-1]):
        ordered = replace(built, states=(replace(a, moves=preferred), b, c))
        found, _store = driven(ordered, "AB", driver, merge=merge)
        assert found[:, 2].tolist() == [move.binds for move in preferred]
