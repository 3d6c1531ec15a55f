"""The outline of a query as arrays: what queries that are written alike have in common in a graph.

Only constants are left open.  A kernel writes the states of each query by it (kernels/shared_growing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ouzel.kernels import shared_rows as at
from ouzel.kernels import shared_tests as kernel
from ouzel.kernels.shared_growing import ITSELF
from ouzel.physical.shared.columns import Columns
from ouzel.physical.shared.outline import START, Outline, OutlineState, Waiting
from ouzel.physical.shared.questions import Alternatives, Conjunction, Test, Values, bounds
from ouzel.physical.shared.tables import WIDTH, LayoutArrays


class Numbering(Protocol):
    """What a graph has numbers for."""

    indexed: bool

    def signature(self, columns: tuple[int, ...], ranged: int = -1) -> int:
        """The number of a signature: some columns whose values must be equal to constants, and one in a range."""

    def structure(self, asked: Any) -> int:
        """The number of what states have in common that may be one."""

    def look_for(self, signature: int, key: int | None) -> None:
        """Let events look for gates of a signature; with a key, or -1, for runs whose one gate it is."""


class Layout:
    """The states of an outline, as a kernel knows them, and where the constants of tests are."""

    def __init__(self, outline: Outline, graph: Numbering, *, apart: bool = False) -> None:
        """Lay out all states; those of a query that is `apart` are merged with no others."""
        self._graph = graph
        self._apart = object() if apart else None
        self._distinct = list(dict.fromkeys(outline.tests))
        begins = np.cumsum([0, *(test.width for test in self._distinct)]).tolist()
        self._begins = dict(zip(self._distinct, begins, strict=False))
        self.width = begins[-1]
        self.ends = frozenset(outline.ends)
        self._ways: list[Sequence[int]] = []
        self._asks: list[Sequence[int]] = []
        self._tests: list[Sequence[int]] = []
        self._keys: list[int] = []
        states = [self._state(number, state) for number, state in enumerate(outline.states)]
        self.arrays = LayoutArrays(
            _rows(states, at.STATE_WIDTH),
            _rows(self._ways, at.WAY_WIDTH),
            _rows(self._asks, at.ASKS_WIDTH),
            _rows(self._tests, at.LAYOUT_TEST_WIDTH),
            np.array(self._keys, np.int64),
        )
        self.most = self._most(outline)
        del self._graph  # which may be gone before this

    def constants(self, values: Values, columns: Columns) -> Any:
        """The constants of all tests, a row for each query."""
        found = np.empty((values.count, self.width), np.int64)
        place = 0
        for test in self._distinct:
            for column in bounds(test, values, columns):
                found[:, place] = column
                place += 1
        return found

    def _most(self, outline: Outline) -> dict[int, int]:
        """How many of each there may be for one query."""
        waits = [state.waits for state in outline.states if state.waits is not None]
        edges = sum(len(way.asks) for state in outline.states for way in state.ways)
        states = len(outline.states)
        keys = sum(1 + len(state.ways) for state in outline.states) + len(self._keys)
        return {
            at.NODES: states,
            at.GATES: sum(len(one.gate) for one in waits),
            at.FORKS: len(waits),
            at.GROUPS: edges,
            at.EDGES: edges,
            at.TESTS: len(self._tests),
            at.NUMBERS: sum(int(row[at.LAYOUT_WIDTH]) for row in self._tests),
            at.ACCEPTS: len(self.ends),
            at.MERGED: states,
            at.KEYS: keys,
            at.LONG: edges,
        }

    # ---- states ------------------------------------------------------------------------------------------

    def _state(self, number: int, state: OutlineState) -> list[int]:
        ways = len(self._ways)
        for way in state.ways:
            source = way.source if way.source != number else ITSELF
            self._ways.append((source, way.place, *self._alternatives(way.asks, signed=True, ranged=True)))
        keys = len(self._keys)
        tests = dict.fromkeys(state.tests)
        self._keys += [self._begins[test] + k for test in tests for k in range(test.width)]
        return [
            *(ways, len(self._ways)),
            *self._waiting(state.waits),
            *(self._graph.structure((self._apart, _structure(state, number))), keys, len(self._keys)),
            int(number in self.ends),
        ]

    def _waiting(self, waits: Waiting | None) -> list[int]:
        if waits is None:
            return [at.NO_WAIT, 0, 0, 0, -1, 0, 0]
        key = (-1, 0, 0) if waits.key is None else (waits.key.column, waits.key.place, waits.key.other)
        begin, end = self._alternatives(waits.gate, signed=self._graph.indexed)
        is_by_gate = self._graph.indexed and len(waits.gate) == 1
        for row in self._asks[begin:end]:
            self._graph.look_for(row[at.ASKS_SIGNATURE], key[0] if is_by_gate else None)
        return [at.BY_GATE if is_by_gate else at.BY_NODE, begin, end, int(waits.ends), *key]

    def _alternatives(self, asks: Alternatives, *, signed: bool, ranged: bool = False) -> tuple[int, int]:
        """Write alternatives, `signed` if they are found by values they want; from where to where they are."""
        begin = len(self._asks)
        for one in asks:
            sign = _sign(one) if signed else []
            rest = [test for test in one if not any(test is other for other in sign)]
            static = [test for test in rest if test.is_static]
            dynamic = [test for test in rest if not test.is_static]
            places = [len(self._tests)]
            for tests in (sign, static, dynamic):
                self._tests += map(self._test, tests)
                places.append(len(self._tests))
            column = _ranged(sign, static) if ranged else -1
            self._asks.append((self._graph.signature(tuple(test.column for test in sign), column), *places))
        return begin, len(self._asks)

    def _test(self, test: Test) -> Sequence[int]:
        is_program = test.kind == kernel.COMPUTED
        column = 0 if is_program else test.column
        asks = test.kind | column << 8 | test.variable << 16 | test.other << 24
        return asks, self._begins[test], test.width, test.column if is_program else 0


def _rows(rows: Sequence[Sequence[int]], width: int) -> Any:
    return np.array(rows, np.int64).reshape(-1, width)


def _sign(asks: Conjunction) -> list[Test]:
    """The tests by which an entry is found, each of another column."""
    chosen: dict[int, Test] = {}
    for test in asks:
        if test.is_equality and len(chosen) < WIDTH:
            chosen.setdefault(test.column, test)
    return [chosen[column] for column in sorted(chosen)]


def _ranged(sign: list[Test], static: list[Test]) -> int:
    """The column by whose range an edge is found, or -1: if it wants no value but that of its type."""
    if any(test.of is not None and test.of.name for test in sign):
        return -1
    among = [test for test in static if not test.is_equality]
    both = [test for test in among if len(test.constants) > 1]
    return next((test.column for test in (*both, *among)), -1)


def _structure(state: OutlineState, number: int) -> Any:
    """What two states have in common that may be one: all but constants and the states before."""
    ways = tuple(
        (
            START if way.source == START else ITSELF if way.source == number else 0,
            way.place,
            tuple(tuple(test.structure for test in one) for one in way.asks),
        )
        for way in state.ways
    )
    if state.waits is None:
        return ways, None
    asks = tuple(tuple(test.structure for test in one) for one in state.waits.gate)
    return ways, asks, state.waits.ends, state.waits.key
