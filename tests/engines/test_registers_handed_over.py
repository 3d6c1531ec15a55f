"""Automata built by hand whose runs bind nothing: what a match is, is in the registers that its run hands over."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.errors import Span
from ouzel.kernels import jit
from ouzel.logical.expressions import Apply, Attribute, Constant, Element
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.schema import open_schema
from ouzel.logical.values import INTEGER
from ouzel.physical.automaton import AutomatonPlan
from ouzel.physical.automaton.drivers import Driver, breadth_first, depth_first, kernel_source
from ouzel.physical.automaton.parameters import Opened, Stream
from ouzel.physical.automaton.run_rows import allotted
from ouzel.physical.automaton.runs import RunBounds, drive
from ouzel.physical.automaton.states import Assignment, Automaton, EventNumber, Register, State, Stay
from ouzel.physical.automaton.store import Store
from ouzel.physical.compiled.operands import COMPUTED, Operands

DRIVERS = [(breadth_first, True), (breadth_first, False), (depth_first, False)]
NOWHERE = Span(0, 0)
COUNT = Attribute("n", Element.SINGLE, "n", COMPUTED, INTEGER, frozenset(), NOWHERE)
ONE = Constant(1, INTEGER, NOWHERE)
MORE = Apply(BUILT_IN["+"], (COUNT, ONE), INTEGER, NOWHERE)


def counting(*, stays: bool) -> Automaton:
    """A, then B after B, each of which ends a match: the numbers of A and of the last B, and how many Bs."""
    plan = compile_query("PATTERN SEQ(A a, B b)", open_schema(), {}, "automaton").plans[0].physical
    assert isinstance(plan, AutomatonPlan)
    built = plan.automaton
    first, last, count = Register(EventNumber("a")), Register(EventNumber("b")), Register(COUNT)
    (begin_a,), (begin_b,) = built.starts, built.states[0].moves
    begin_a = replace(begin_a, binds=None, assigns=(Assignment(first, None),))
    begin_b = replace(begin_b, binds=None, assigns=(Assignment(count, ONE), Assignment(last, None)))
    more = replace(begin_b, assigns=(Assignment(last, None), Assignment(count, MORE)))
    stay = Stay(() if stays else (begin_b.guard,))
    return replace(
        built,
        registers=(first, last, count),
        starts=(begin_a,),
        states=(
            State("a", (replace(begin_b, target=2), begin_b), stay),
            State("b", (replace(more, target=2), more), stay),
            State("end", (), Stay(), (), (first, last, count)),
        ),
    )


def handed_over(
    built: Automaton, types: str, driver: Driver, *, merge: bool, cut: int = 0
) -> list[tuple[int, int, int]]:
    """A, the last B, and the number of Bs of every match; the stream may be cut into two batches."""
    slots, operands = allotted(built), Operands()
    kernel, limits, store = jit.interpreted(kernel_source(slots, operands, driver)), oz.Limits(), Store()
    bounds = RunBounds.of(limits, limits.memory(), slots.widths)
    masks, times = np.array([1 << "ABC".index(one) for one in types], np.int64), np.arange(len(types))

    def run(*arguments: Any) -> Any:
        return kernel(np.zeros(2, np.int64), *arguments)

    constants = [np.array(operands.integers, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64)]
    integers, floats = (np.empty((0, width), kind) for width, kind in zip(slots.widths, ("i8", "f8"), strict=True))
    found = []
    for begin, end in pairwise(sorted({0, cut, len(types)})):
        own = times[begin:end]
        edges = np.array([0, end - begin])
        stream = Stream(begin, masks[begin:end], np.zeros_like(own), edges, own, own, own, own, 0)
        opened = Opened(np.zeros(1, np.int64), np.full(1, len(integers)), integers, floats)
        done = drive(run, opened, store, stream, bounds, constants, merge=merge, handed=slots.handed_widths)
        integers, floats = done.ri, done.rf
        assert done.found[:, 2].tolist() == [2] * len(done.found)
        found += done.handed[0].tolist()
    assert store.nodes == 0
    names, _floats = slots.handed(2)
    places = [names.index(name) for name in (("event", "a"), ("event", "b"))]
    places.append(next(k for k, name in enumerate(names) if name[0] == "value"))
    return sorted(tuple(row[place] for place in places) for row in found)


@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_a_run_hands_over_what_it_bound_and_computed(driver: Driver, *, merge: bool) -> None:
    found = handed_over(counting(stays=False), "CABCBAB", driver, merge=merge)
    assert found == [(1, 2, 1), (1, 4, 2), (1, 6, 3), (5, 6, 1)]


@pytest.mark.parametrize(("driver", "merge"), DRIVERS)
def test_runs_that_differ_in_what_they_hand_over_are_not_merged(driver: Driver, *, merge: bool) -> None:
    found = handed_over(counting(stays=True), "AABBB", driver, merge=merge)
    every = [(a, b, n) for a in (0, 1) for b, counts in ((2, [1]), (3, [1, 2]), (4, [1, 2, 3])) for n in counts]
    # two ways lead to the last B as the second
    assert set(found) == set(every)
    assert merge or len(found) == len(every) + 2


@pytest.mark.parametrize("merge", [True, False])
def test_registers_go_on_in_the_next_batch(*, merge: bool) -> None:
    types = "ABBAB"
    whole = handed_over(counting(stays=False), types, breadth_first, merge=merge)
    for cut in range(1, len(types)):
        assert handed_over(counting(stays=False), types, breadth_first, merge=merge, cut=cut) == whole
