"""The automata of very many queries as one graph: equal beginnings are merged (Cayuga 4.2, Definition 2).

Two states are one if the edges into them, and what runs do there, are alike, and come from the same states.  So
states are looked up by a key: the structure of what is asked, constants, and the numbers of the states before.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from ouzel.kernels import shared_growing as growing
from ouzel.kernels import shared_links as links
from ouzel.kernels import shared_rows as at
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.shared.buckets import Buckets
from ouzel.physical.shared.columns import Columns
from ouzel.physical.shared.conditions import Reader
from ouzel.physical.shared.layout import Layout
from ouzel.physical.shared.questions import Values
from ouzel.physical.shared.tables import WIDTH, GraphArrays, Table


class Graph:
    """A merged graph, to which queries come and from which they go."""

    def __init__(self, columns: Columns, *, merging: bool = True, indexed: bool = True) -> None:
        """Begin with none; without `merging` queries share no states, without an index all gates are tried."""
        self.columns, self.merging, self.indexed = columns, merging, indexed
        self.reader = Reader(columns)
        self.nodes, self.gates, self.gate_values = Table(at.NODE_WIDTH), Table(at.GATE_WIDTH), Table(WIDTH)
        self.gate_links, self.forks, self.groups = Table(at.LINK_WIDTH), Table(0), Table(at.GROUP_WIDTH)
        self.edges, self.edge_values, self.edge_stamps = Table(at.EDGE_WIDTH), Table(WIDTH), Table(0)
        self.edge_origins, self.tests = Table(at.ORIGIN_WIDTH), Table(at.TEST_WIDTH)
        self.signatures, self.gate_signatures = Table(at.SIGNATURE_WIDTH), Table(0)
        self.probes, self.long, self.buckets = Table(at.PROBE_WIDTH), Table(0), Buckets()
        self.programs, self.steps, self.numbers = Table(2), Table(3), Table(0, np.float64)
        self.accepts, self.lives = Table(at.ACCEPT_WIDTH), Table(at.LIFE_WIDTH)
        self.merged, self.keys, self.starts = Table(at.MERGED_WIDTH), Table(0), Table(0)
        self.edge_heads, self.gate_heads = np.full(64, -1), np.full(64, -1)
        self.merged_heads = np.full(64 if merging else 0, -1)
        self.forks.append([-1])  # where runs start
        self._grown: dict[int, tuple[Table, ...]] = {
            at.NODES: (self.nodes,),
            at.GATES: (self.gates, self.gate_values, self.gate_links),
            at.FORKS: (self.forks,),
            at.GROUPS: (self.groups,),
            at.EDGES: (self.edges, self.edge_values, self.edge_stamps, self.edge_origins),
            at.TESTS: (self.tests,),
            at.NUMBERS: (self.numbers,),
            at.ACCEPTS: (self.accepts,),
            at.MERGED: (self.merged,),
            at.KEYS: (self.keys,),
            at.LONG: (self.long,),
        }
        self._signatures: dict[tuple[tuple[int, ...], int], int] = {}
        self._probes: set[tuple[int, int | None]] = set()
        self._structures: dict[Any, int] = {}
        self.paths: list[tuple[int, Any, frozenset[int]]] = []
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
            number_bits=self.numbers.data.view(np.int64),
            accepts=self.accepts.data,
            lives=self.lives.data,
            merged=self.merged.data,
            merged_heads=self.merged_heads,
            keys=self.keys.data,
            starts=self.starts.data[: self.starts.count],
            long=self.long.data,
            buckets=self.buckets.rows.data,
            bucket_heads=self.buckets.heads,
            bucket_edges=self.buckets.edges.data,
            bucket_trees=self.buckets.trees.data,
        )

    @property
    def states(self) -> int:
        """How many states the queries that are there have, each for itself."""
        return sum(int(np.count_nonzero(path >= 0)) for _first, path, _ends in self.paths)

    @property
    def live_nodes(self) -> int:
        """How many nodes these are."""
        return int(np.count_nonzero(self.nodes.data[: self.nodes.count, at.NODE_USERS] > 0))

    @property
    def live_edges(self) -> int:
        """How many edges lead to them."""
        return int(np.count_nonzero(self.edge_origins.data[: self.edges.count, at.ORIGIN_GROUP] >= 0))

    # ---- queries that come -------------------------------------------------------------------------------

    def insert(self, layout: Layout, values: Values, lives: Any) -> int:
        """Add queries of one layout, with constants, and from when until when each is valid; the first number."""
        # what makes no sense is told before anything is changed
        constants = layout.constants(values, self.columns)
        self._note_programs()
        self._make_room({kind: values.count * most for kind, most in layout.most.items()})
        first = self.lives.append(lives)
        path = np.empty((values.count, len(layout.arrays.states)), np.int64)
        edges = self.edges.count
        counts = np.array([tables[0].count for tables in self._grown.values()], np.int64)
        key = np.empty(layout.most[at.KEYS], np.int64)
        insert = kernel_of(growing.insert_queries, values.count)
        insert(self.arrays, layout.arrays, counts, constants, _in_order(constants), path, first, key)
        for tables, count in zip(self._grown.values(), counts.tolist(), strict=True):
            for table in tables:
                table.count = count
        for edge in self.long.data[: self.long.count].tolist():
            self.buckets.sort(self, edge)
        self.long.count = 0
        if not self.indexed:
            self._note_starts(edges)
        self.paths.append((first, path, layout.ends))
        self._firsts.append(first)
        return first

    def _make_room(self, more: dict[int, int]) -> None:
        """Make room for so many more of each, also in indexes."""
        for kind, tables in self._grown.items():
            for table in tables:
                table.reserve(more[kind])
        if self.edges.count + more[at.EDGES] > len(self.edge_heads):
            self.edge_heads = _heads(self.edges.count + more[at.EDGES])
            kernel_of(links.relink_edges, self.edges.count)(self.arrays, self.edges.count)
        if self.gates.count + more[at.GATES] > len(self.gate_heads):
            self.gate_heads = _heads(self.gates.count + more[at.GATES])
            kernel_of(links.relink_gates, self.gates.count)(self.arrays, self.gates.count)
        if self.merging and self.merged.count + more[at.MERGED] > len(self.merged_heads):
            self.merged_heads = _heads(self.merged.count + more[at.MERGED])
            kernel_of(links.relink_merged, self.merged.count)(self.arrays, self.merged.count)

    def _note_starts(self, edges: int) -> None:
        """Without an index, the start of each query is an active node: its edges, from one on."""
        groups = self.edge_origins.data[edges : self.edges.count, at.ORIGIN_GROUP]
        self.starts.append(edges + np.flatnonzero(self.groups.data[groups, at.GROUP_FORK] == 0))

    def _note_programs(self) -> None:
        """Programs that were read since: their steps."""
        for steps in list(self.reader.programs)[self.programs.count :]:
            begin = self.steps.append(np.array(steps, np.int64))
            self.programs.append([(begin, self.steps.count)])

    # ---- what there are numbers for ----------------------------------------------------------------------

    def signature(self, columns: tuple[int, ...], ranged: int = -1) -> int:
        """The number of a signature: some columns whose values must be equal to constants, and one in a range."""
        if (columns, ranged) not in self._signatures:
            self._signatures[columns, ranged] = self.signatures.append(
                [(len(columns), *columns, *[0] * (WIDTH - len(columns)), ranged)]
            )
        return self._signatures[columns, ranged]

    def structure(self, asked: Any) -> int:
        """The number of what states have in common that may be one."""
        return self._structures.setdefault(asked, len(self._structures))

    def look_for(self, signature: int, key: int | None) -> None:
        """Let events look for gates of a signature; with a key, or -1, for runs whose one gate it is."""
        if (signature, key) in self._probes:
            return
        self._probes.add((signature, key))
        if key is None:
            self.gate_signatures.append([signature])
        else:
            self.probes.append([(signature, key)])

    def node(self, query: int, state: int) -> int:
        """The node that is a state of a query."""
        first, path, _ends = self.paths[bisect_right(self._firsts, query) - 1]
        return int(path[query - first, state])

    # ---- queries that go ---------------------------------------------------------------------------------

    def remove(self, query: int) -> None:
        """Take a query away; states that no other shares go with it."""
        first, path, ends = self.paths[bisect_right(self._firsts, query) - 1]
        arrays = self.arrays
        own = path[query - first]
        for state in ends:
            kernel_of(links.remove_accept, 1)(arrays, int(own[state]), query)
        self.lives.data[query] = 0
        for node in reversed(own.tolist()):
            self.nodes.data[node, at.NODE_USERS] -= 1
            if self.nodes.data[node, at.NODE_USERS] == 0:
                kernel_of(links.remove_node, 1)(arrays, node)
        path[query - first] = -1


def _in_order(rows: Any) -> Any:
    """An order in which rows that begin alike are together."""
    if len(rows) < 2 or not rows.shape[1]:
        return np.arange(len(rows))
    whole = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return np.argsort(whole, kind="stable")


def _heads(count: int) -> Any:
    """Where chains begin, for so many rows and as many to come."""
    return np.full(1 << max(2 * count - 1, 1).bit_length(), -1)
