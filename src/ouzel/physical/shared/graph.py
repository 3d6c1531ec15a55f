"""The automata of very many queries as one graph: equal beginnings are merged (Cayuga 4.2, Definition 2).

Two states are one if the edges into them, and what runs do there, are alike, and come from the same states.  So
states are looked up by a key: the structure of what is asked, constants, and the numbers of the states before.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from ouzel.kernels import shared_links as links
from ouzel.kernels import shared_rows as at
from ouzel.kernels import shared_tests as kernel
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.shared.columns import Columns
from ouzel.physical.shared.conditions import Conjunction, Reader, Test, Values, bounds
from ouzel.physical.shared.outline import START, Outline, OutlineState
from ouzel.physical.shared.tables import WIDTH, GraphArrays, Table

_SELF = -2
Rows = Any
"""Numbers of queries, of those that are inserted together."""


class Graph:
    """A merged graph, to which queries come and from which they go."""

    def __init__(self, columns: Columns, *, merging: bool = True, indexed: bool = True) -> None:
        """Begin with none; without `merging` queries share no states, without an index all gates are tried."""
        self.columns, self.merging, self.indexed = columns, merging, indexed
        self.reader = Reader(columns)
        self.nodes, self.gates, self.gate_values = Table(11), Table(8), Table(WIDTH)
        self.gate_links, self.forks, self.groups = Table(2), Table(0), Table(3)
        self.edges, self.edge_values, self.edge_stamps = Table(9), Table(WIDTH), Table(0)
        self.edge_origins = Table(2)
        self.tests, self.signatures, self.gate_signatures = Table(3), Table(WIDTH + 1), Table(0)
        self.probes = Table(2)
        self.programs, self.steps, self.numbers = Table(2), Table(3), Table(0, np.float64)
        self.accepts, self.lives = Table(3), Table(2)
        self.edge_heads, self.gate_heads = np.full(64, -1), np.full(64, -1)
        self.forks.append([-1])  # where runs start
        self._signatures: dict[tuple[int, ...], int] = {}
        self._probes: set[tuple[int, int]] = set()
        self._structures: dict[Any, int] = {}
        self._merged: dict[bytes, int] = {}
        self.paths: list[tuple[int, Any, Outline]] = []
        self._firsts: list[int] = []

    @property
    def arrays(self) -> GraphArrays:
        """What kernels are given."""
        return GraphArrays(
            nodes=self.nodes.data,
            gates=self.gates.data,
            gate_values=self.gate_values.data,
            gate_links=self.gate_links.data,
            gate_heads=self.gate_heads,
            gate_signatures=self.gate_signatures.data[: self.gate_signatures.count],
            probes=self.probes.data[: self.probes.count],
            forks=self.forks.data,
            groups=self.groups.data,
            edges=self.edges.data,
            edge_origins=self.edge_origins.data,
            edge_values=self.edge_values.data,
            edge_heads=self.edge_heads,
            edge_stamps=self.edge_stamps.data,
            tests=self.tests.data,
            signatures=self.signatures.data,
            programs=self.programs.data,
            steps=self.steps.data,
            numbers=self.numbers.data,
            accepts=self.accepts.data,
            lives=self.lives.data,
        )

    # ---- queries that come -------------------------------------------------------------------------------

    def insert(self, outline: Outline, values: Values, lives: Any) -> int:
        """Add queries of one outline, with constants, and from when until when each is valid; the first number."""
        # what makes no sense is told before anything is changed
        constants = {test: bounds(test, values, self.columns) for test in dict.fromkeys(outline.tests)}
        first = self.lives.append(lives)
        self._note_programs()
        path = np.empty((values.count, len(outline.states)), np.int64)
        for number, state in enumerate(outline.states):
            path[:, number] = self._states(number, state, values.count, constants, path)
        for end in outline.ends:
            begin = self.accepts.append(
                np.stack(
                    [first + np.arange(values.count), np.full(values.count, -1), np.full(values.count, end)], 1
                )
            )
            self._run(links.add_accepts, values.count)(
                self.arrays, begin, self.accepts.count, np.ascontiguousarray(path[:, end])
            )
        self.paths.append((first, path, outline))
        self._firsts.append(first)
        return first

    def _states(
        self, number: int, state: OutlineState, count: int, constants: dict[Test, list[Any]], path: Any
    ) -> Rows:
        """The nodes of a state of all queries: those that are there, and new ones."""
        columns = [one for test in state.tests for one in constants[test]]
        sources = [self._sources(way.source, number, count, path) for way in state.ways]
        structure = self._structures.setdefault(_structure(state, number), len(self._structures))
        keys = np.stack([np.full(count, structure), *sources, *columns], 1).astype(np.int64)
        firsts, inverse = _distinct(keys) if self.merging and count > 1 else (np.arange(count), None)
        known = np.full(len(firsts), -1)
        if self.merging:
            texts = [row.tobytes() for row in keys[firsts]]
            users = self.nodes.data[:, at.NODE_USERS]
            for place, text in enumerate(texts):
                node = self._merged.get(text, -1)
                known[place] = node if node >= 0 and users[node] > 0 else -1
        new = np.flatnonzero(known < 0)
        if len(new):
            made = _Making(self, firsts[new], [one[firsts[new]] for one in sources], constants)
            known[new] = made.nodes(state)
            if self.merging:
                self._merged.update((texts[place], int(known[place])) for place in new)
        found = known if inverse is None else known[inverse]
        np.add.at(self.nodes.data[:, at.NODE_USERS], found, 1)
        return found

    def _sources(self, source: int, number: int, count: int, path: Any) -> Any:
        if source == START:
            return np.full(count, START)
        return np.full(count, _SELF) if source == number else path[:, source]

    def _note_programs(self) -> None:
        """Programs that were read since: their steps."""
        for steps in list(self.reader.programs)[self.programs.count :]:
            begin = self.steps.append(np.array(steps, np.int64))
            self.programs.append([(begin, self.steps.count)])

    def signature(self, columns: tuple[int, ...]) -> int:
        """The number of a signature: some columns whose values must be equal to constants."""
        if columns not in self._signatures:
            self._signatures[columns] = self.signatures.append(
                [(len(columns), *columns, *[0] * (WIDTH - len(columns)))]
            )
        return self._signatures[columns]

    def probe(self, signature: int, column: int) -> None:
        """Let events look for runs whose one gate has a signature, and wants a column to be what they hold."""
        if (signature, column) not in self._probes:
            self._probes.add((signature, column))
            self.probes.append([(signature, column)])

    # ---- queries that go ---------------------------------------------------------------------------------

    def remove(self, query: int) -> None:
        """Take a query away; states that no other shares go with it."""
        first, path, outline = self.paths[bisect_right(self._firsts, query) - 1]
        arrays = self.arrays
        own = path[query - first]
        for state in outline.ends:
            self._run(links.remove_accept, 1)(arrays, int(own[state]), query)
        self.lives.data[query] = 0
        for state in reversed(range(len(outline.states))):
            node = int(own[state])
            self.nodes.data[node, at.NODE_USERS] -= 1
            if self.nodes.data[node, at.NODE_USERS] == 0:
                self._remove_node(node)
        path[query - first] = -1

    def _remove_node(self, node: int) -> None:
        arrays = self.arrays
        edge = int(self.nodes.data[node, at.NODE_EDGE])
        while edge != -1:
            self._run(links.unlink_edge, 1)(arrays, edge)
            self.edge_origins.data[edge, at.ORIGIN_GROUP] = -1
            edge = int(self.edge_origins.data[edge, at.ORIGIN_NEXT])

    # ---- links -------------------------------------------------------------------------------------------

    def _run(self, function: Any, count: int) -> Any:
        """A kernel for so many: one of few runs as it is."""
        return kernel_of(function, count)

    def link(self, edges: int) -> None:
        """Let new edges be found, from a number on."""
        self.edge_stamps.filled(self.edges.count - self.edge_stamps.count, 0)
        if self.edges.count > len(self.edge_heads):
            self.edge_heads = np.full(_power(2 * self.edges.count), -1)
            edges = 0
        self._run(links.link_edges, self.edges.count - edges)(self.arrays, edges, self.edges.count)


class _Making:
    """New states of one kind, for some of the queries that are inserted together."""

    def __init__(
        self,
        graph: Graph,
        rows: Rows,
        sources: list[Any],
        constants: dict[Test, list[Any]],
    ) -> None:
        self.graph = graph
        self.rows, self.sources, self.constants = rows, sources, constants

    def nodes(self, state: OutlineState) -> Any:
        """The numbers of the states."""
        graph, count = self.graph, len(self.rows)
        key = None if state.waits is None else state.waits.key
        shared = (-1, 0, 0) if key is None else (key.column, key.place, key.other)
        base = graph.nodes.filled(count, -1, *shared, 0, -1, 0, -1, -1, -1, -1)
        nodes = np.arange(base, base + count)
        edges = graph.edges.count
        if state.waits is not None:
            forks = graph.forks.filled(count, -1) + np.arange(count)
            graph.nodes.data[nodes, at.NODE_FORK] = forks
            is_only = graph.indexed and len(state.waits.gate) == 1
            for one in state.waits.gate:
                gates = self._gates(nodes, one, forks, ends=state.waits.ends, is_only=is_only)
            if is_only:
                graph.probe(int(graph.gates.data[gates[0], at.GATE_SIGNATURE]), shared[0])
                graph._run(links.index_nodes, count)(graph.arrays, base, base + count)
        for way, given in zip(state.ways, self.sources, strict=True):
            source = np.where(given == _SELF, nodes, given)
            is_choice = len(way.asks) > 1
            stamps = graph.edges.count + np.arange(count) if is_choice else np.full(count, -1)
            for one in way.asks:
                forks = (
                    np.zeros(count, np.int64) if way.source == START else graph.nodes.data[source, at.NODE_FORK]
                )
                self._edges(forks, one, nodes, way.place, stamps)
        graph._run(links.own_edges, count)(graph.arrays, edges, graph.edges.count)
        graph.link(edges)
        return nodes

    def _gates(self, nodes: Any, asks: Conjunction, forks: Any, *, ends: bool, is_only: bool) -> Any:
        """Gates of some nodes, each at a fork."""
        graph, count = self.graph, len(self.rows)
        sign, rest = self._signed(asks) if graph.indexed else ((), list(asks))
        static = [test for test in rest if test.is_static]
        dynamic = [test for test in rest if not test.is_static]
        begin = self._written([*static, *dynamic])
        step = len(static) + len(dynamic)
        begins = begin + step * np.arange(count)
        signature = graph.signature(tuple(test.column for test in sign))
        if not is_only and signature not in graph.gate_signatures.data[: graph.gate_signatures.count]:
            graph.gate_signatures.append([signature])
        rows = [nodes, np.full(count, signature), begins, begins + len(static), begins + step, forks]
        first = graph.gates.append(np.stack([*rows, np.full(count, int(ends)), np.full(count, -1)], 1))
        graph.gate_values.append(self._values(sign))
        graph.gate_links.filled(graph.gates.count - graph.gate_links.count, -1, -1)
        if graph.gates.count > len(graph.gate_heads):
            graph.gate_heads = np.full(_power(2 * graph.gates.count), -1)
            graph._run(links.relink_gates, graph.gates.count)(graph.arrays, first)
        graph._run(links.add_gates, count)(graph.arrays, first, graph.gates.count, self._longest(dynamic))
        return np.arange(first, first + count)

    def _edges(self, forks: Any, asks: Conjunction, targets: Any, place: int, stamps: Any) -> None:
        """Edges from some forks to nodes."""
        graph, count = self.graph, len(self.rows)
        sign, rest = self._signed(asks)
        signature = graph.signature(tuple(test.column for test in sign))
        groups = np.empty(count, np.int64)
        graph.groups.reserve(count)
        forks = np.ascontiguousarray(forks)
        graph.groups.count = int(
            graph._run(links.find_groups, count)(graph.arrays, forks, signature, graph.groups.count, groups)
        )
        begin = self._written(list(rest))
        begins = begin + len(rest) * np.arange(count)
        none = np.full(count, -1)
        rows = [none, begins, begins + len(rest), targets, np.full(count, place), stamps, none, none, none]
        graph.edges.append(np.stack(rows, 1))
        graph.edge_origins.append(np.stack([groups, none], 1))
        graph.edge_values.append(self._values(sign))

    # ---- tests -------------------------------------------------------------------------------------------

    def _signed(self, asks: Sequence[Test]) -> tuple[list[Test], list[Test]]:
        """The tests by which an entry is found, each of another column, and the others."""
        chosen: dict[int, Test] = {}
        for test in asks:
            if test.is_equality and len(chosen) < WIDTH and self._is_some_value(test):
                chosen.setdefault(test.column, test)
        sign = [chosen[column] for column in sorted(chosen)]
        return sign, [test for test in asks if not any(test is one for one in sign)]

    def _is_some_value(self, test: Test) -> bool:
        """Whether there is a value to look for, and not an interval without one."""
        low, high = (one[self.rows] for one in self.constants[test])
        return bool(np.all(low <= high))

    def _values(self, sign: Sequence[Test]) -> Any:
        values = np.zeros((len(self.rows), WIDTH), np.int64)
        for place, test in enumerate(sign):
            values[:, place] = self.constants[test][0][self.rows]
        return values

    def _written(self, tests: Sequence[Test]) -> int:
        """Tests for each state, one after the other; where the first begins."""
        graph, count = self.graph, len(self.rows)
        rows = np.zeros((count, len(tests), 3), np.int64)
        for place, test in enumerate(tests):
            is_program = test.kind == kernel.COMPUTED
            column = 0 if is_program else test.column
            rows[:, place, 0] = test.kind | column << 8 | test.variable << 16 | test.other << 24
            given = [one[self.rows] for one in self.constants[test]]
            if is_program:
                width = len(given)
                first = graph.numbers.append(np.stack(given, 1).view(np.float64).reshape(-1) if width else [])
                rows[:, place, 1] = first + width * np.arange(count)
                rows[:, place, 2] = test.column
            elif given:
                rows[:, place, 1], rows[:, place, 2] = given
        return graph.tests.append(rows.reshape(-1, 3))

    def _longest(self, dynamic: Sequence[Test]) -> Any:
        """For how long each gate may open: as long as a duration that it wants."""
        found = np.full(len(self.rows), -1)
        for test in dynamic:
            if test.kind == kernel.LASTS and test.sign in ("<", "<=", "="):
                most = np.maximum(self.constants[test][1][self.rows], 0)
                found = np.where(found < 0, most, np.minimum(found, most))
        return found


def _structure(state: OutlineState, number: int) -> Any:
    """What two states have in common that may be one: all but constants and the states before."""
    ways = tuple(
        (
            START if way.source == START else _SELF if way.source == number else 0,
            way.place,
            tuple(tuple(test.structure for test in one) for one in way.asks),
        )
        for way in state.ways
    )
    if state.waits is None:
        return ways, None
    asks = tuple(tuple(test.structure for test in one) for one in state.waits.gate)
    return ways, asks, state.waits.ends, state.waits.key


def _distinct(keys: Any) -> tuple[Any, Any]:
    """Where each distinct row comes first, and which of these every row is."""
    rows = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.itemsize * keys.shape[1]))).ravel()
    _values, firsts, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return firsts, inverse


def _power(count: int) -> int:
    return 1 << max(count - 1, 1).bit_length()
