"""Paths of a match store: what is kept of them, and totals over them, compared with the paths written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ouzel.kernels import jit, paths
from ouzel.kernels.paths import UNION

both = pytest.mark.parametrize("make", [jit.interpreted, jit.compiled])
NODES = 60


class Paths:
    """A store of random nodes; each event is bound by one node, and starts rise along it."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.component = np.where(random.random(NODES) < 0.3, UNION, random.integers(0, 2, NODES)).astype(np.int8)
        self.component[:2] = 0
        self.event = np.arange(NODES, dtype=np.int32)
        self.before = np.array([random.integers(-1, max(q, 1)) for q in range(NODES)], np.int32)
        self.lesser = np.zeros(NODES, np.int32)
        self.stretch = np.ones(NODES, np.int32)
        self.before[:2] = -1
        for q in range(NODES):
            if self.component[q] == UNION:
                # the other side has no start that is later
                a, b = random.integers(0, q, 2).tolist()
                if max(self.starts(a)) < max(self.starts(b)):
                    a, b = b, a
                self.before[q], self.event[q], self.lesser[q] = a, b, max(self.starts(b))

    def of(self, node: int, alive: Any = None) -> list[tuple[tuple[int, int], ...]]:
        """The paths to a node, each a tuple of components and events; only those with a start that is alive."""
        if node < 0:
            return [()]
        before = self.of(self.before[node])
        if self.component[node] == UNION:
            found = before + self.of(self.event[node])
        else:
            found = [(*path, (int(self.component[node]), int(self.event[node]))) for path in before]
        return found if alive is None else [path for path in found if alive[path[0][1]]]

    def starts(self, node: int) -> set[int]:
        return {path[0][1] for path in self.of(node)}


@both
@pytest.mark.parametrize("seed", range(3))
def test_pruning_keeps_the_paths_that_are_alive(make: Any, seed: int) -> None:
    store = Paths(seed)
    alive = np.arange(NODES) >= 1
    roots = np.array([-1, *(q for q in range(NODES - 20, NODES) if max(store.starts(q)) >= 1)])
    before = [sorted(store.of(root, alive)) for root in roots[1:]]
    columns = store.event, store.component, store.before, store.lesser
    numbers, used = make(paths.number_reached)(*columns, NODES, roots, alive)
    events = np.cumsum(used) - 1
    kept = make(paths.keep_numbered)(*columns, store.stretch, NODES, numbers, events)
    assert kept == len({number for number in numbers.tolist() if number >= 0}) < NODES
    old = np.flatnonzero(used)
    after = [
        sorted(
            tuple((c, int(old[e])) for c, e in path) for path in store.of(numbers[root]) if alive[old[path[0][1]]]
        )
        for root in roots[1:]
    ]
    assert after == before


@both
def test_a_stretch_is_of_one_component_and_without_a_gap(make: Any) -> None:
    component = np.array([0, 1, 1, 1, 1], np.int8)
    before = np.array([-1, 0, 1, 1, 3], np.int32)
    event, lesser, stretch = np.arange(5, dtype=np.int32), np.zeros(5, np.int32), np.zeros(5, np.int32)
    columns = event, component, before, lesser, stretch
    assert make(paths.keep_numbered)(*columns, 5, np.array([0, 1, -1, 2, 3]), np.arange(5)) == 4
    assert before[:4].tolist() == [-1, 0, 1, 2]
    assert stretch[:4].tolist() == [1, 1, 2, 3]


@both
@pytest.mark.parametrize("seed", range(3))
def test_totals_are_those_of_all_paths(make: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    store = Paths(seed)
    values, nulls = random.random((2, NODES)), random.random((2, NODES)) < 0.2
    items = paths.Items(np.array([0, 1]), values, np.argsort(np.argsort(values)), nulls)
    found = np.array([[10, 40, 1], [-1, 50, 0], [30, -1, -1]])
    by_node, by_group = (
        paths.Totals(np.zeros(n), np.zeros((2, n)), np.zeros((2, n)), np.full((2, n), -1)) for n in (NODES, 1)
    )
    columns = store.event, store.component, store.before
    where = np.array([40, 50, 55]), np.zeros(3, np.int64), np.zeros(NODES, np.int64), np.arange(NODES)
    make(paths.add_up_paths)(np.zeros(2, np.int64), found, *where, 0, *columns, items, by_node, by_group)
    all_paths = [
        (*path, (component, event)) if event >= 0 else path
        for node, event, component in found.tolist()
        for path in store.of(node)
    ]
    assert by_group.paths.tolist() == [len(all_paths)]
    for item in range(2):
        bound = [e for path in all_paths for c, e in path if c == item and not nulls[item, e]]
        assert by_group.counts[item, 0] == len(bound)
        assert by_group.sums[item, 0] == pytest.approx(values[item, bound].sum())
        assert by_group.best[item, 0] == min(bound, key=values[item].__getitem__)


@both
def test_totals_leave_out_what_is_too_old_for_the_window(make: Any) -> None:
    component, before = np.zeros(4, np.int8), np.array([-1, -1, 0, 1], np.int32)
    items = paths.Items(np.array([0]), np.ones((1, 4)), np.zeros((1, 4), np.int64), np.zeros((1, 4), np.bool_))
    by_node, by_group = (
        paths.Totals(np.zeros(n), np.zeros((1, n)), np.zeros((1, n)), np.full((1, n), -1)) for n in (4, 1)
    )
    columns = np.arange(4, dtype=np.int32), component, before
    where = np.array([2, 3]), np.zeros(2, np.int64), np.zeros(4, np.int64), np.array([0, 2, 5, 6])
    found = np.array([[2, -1, -1], [3, -1, -1]])
    make(paths.add_up_paths)(np.zeros(2, np.int64), found, *where, 5, *columns, items, by_node, by_group)
    # of 0 and 2 the first is just outside, of 1 and 3 it is inside
    assert (by_group.paths[0], by_group.counts[0, 0]) == (1, 2)


def test_a_loop_stops_when_the_board_says_so() -> None:
    board, nothing = np.array([1, 0]), np.zeros((1, 1))
    items = paths.Items(np.array([0]), nothing, nothing, nothing)
    totals = paths.Totals(np.zeros(1), nothing, nothing, nothing)
    one = np.zeros(1, np.int64)
    jit.interpreted(paths.add_up_paths)(
        board, np.zeros((1, 3), np.int64), one, one, one, one, 0, one, one, one, items, totals, totals
    )
    assert totals.paths.tolist() == [0.0]
