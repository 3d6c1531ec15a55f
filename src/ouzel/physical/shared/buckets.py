"""Buckets of edges that want a range of values: those that would be one long chain (kernels/shared_ranges.py).

New edges are loose at first.  When they are many they become a bucket, with buckets that are not much larger: so
an edge is put in order but a few times, however many come one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.kernels import shared_ranges as ranges
from ouzel.kernels import shared_rows as at
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.shared.tables import Table

if TYPE_CHECKING:
    from ouzel.physical.shared.graph import Graph

_LEAST = -(2**63)
_FACTOR = 2


class Buckets:
    """The buckets of a graph."""

    def __init__(self) -> None:
        """Begin with none."""
        self.rows, self.edges, self.trees = Table(at.BUCKET_WIDTH), Table(at.SORTED_WIDTH), Table(0)
        self.heads = np.full(0, -1)

    @property
    def in_use(self) -> int:
        """How many edges are in buckets, those included that were removed since."""
        rows = self.rows.data[: self.rows.count]
        return int(rows[rows[:, at.BUCKET_GROUP] >= 0, at.BUCKET_COUNT].sum())

    def sort(self, graph: Graph, first: int) -> None:
        """Make a bucket of the edges in whose chain there is one."""
        hash_ = int(graph.edges.data[first, at.EDGE_HASH])
        group = int(graph.edge_origins.data[first, at.ORIGIN_GROUP])
        column = int(graph.signatures.data[graph.groups.data[group, at.GROUP_SIGNATURE], at.SIGNATURE_RANGE])
        loose = np.empty(graph.edges.count, np.int64)
        count = kernel_of(ranges.take_loose, graph.edges.count)(graph.arrays, hash_, group, loose)
        edges = np.concatenate([loose[:count], *self._merged(hash_, group, count)])
        edges = edges[graph.edge_origins.data[edges, at.ORIGIN_GROUP] >= 0]
        lows, highs = np.empty(len(edges), np.int64), np.empty(len(edges), np.int64)
        kernel_of(ranges.bounds_of, len(edges))(graph.arrays, edges, column, lows, highs)
        self._add((hash_, group, column), edges, lows, highs)

    def _merged(self, hash_: int, group: int, count: int) -> list[Any]:
        """The edges of buckets that are not much larger than so many, which are no more."""
        found: list[Any] = []
        if not len(self.heads):
            return found
        bucket = int(self.heads[hash_ & (len(self.heads) - 1)])
        while bucket != -1:
            row = self.rows.data[bucket]
            is_same = row[at.BUCKET_HASH] == hash_ and row[at.BUCKET_GROUP] == group
            if is_same and row[at.BUCKET_COUNT] <= _FACTOR * count:
                begin, size = int(row[at.BUCKET_BEGIN]), int(row[at.BUCKET_COUNT])
                found.append(self.edges.data[begin : begin + size, at.SORTED_EDGE])
                count += size
                row[at.BUCKET_GROUP] = -1
            bucket = int(row[at.BUCKET_NEXT])
        return found

    def _add(self, which: tuple[int, int, int], edges: Any, lows: Any, highs: Any) -> None:
        order = np.argsort(lows, kind="stable")
        size = 1 << max(len(edges) - 1, 1).bit_length()
        tree = np.full(2 * size, _LEAST)
        tree[size : size + len(edges)] = highs[order]
        level = size
        while level > 1:
            half = level // 2
            tree[half:level] = np.maximum(tree[level : 2 * level : 2], tree[level + 1 : 2 * level : 2])
            level = half
        begin = self.edges.append(np.stack([edges[order], lows[order]], 1))
        row = np.zeros((1, at.BUCKET_WIDTH), np.int64)
        row[0, [at.BUCKET_HASH, at.BUCKET_GROUP, at.BUCKET_COLUMN]] = which
        row[0, [at.BUCKET_BEGIN, at.BUCKET_COUNT]] = begin, len(edges)
        row[0, [at.BUCKET_TREE, at.BUCKET_SIZE]] = self.trees.append(tree), size
        number = self.rows.append(row)
        if self.rows.count > len(self.heads):
            self.heads = np.full(4 << self.rows.count.bit_length(), -1)
            for other in range(number):
                self._link(other)
        self._link(number)

    def _link(self, bucket: int) -> None:
        slot = self.rows.data[bucket, at.BUCKET_HASH] & (len(self.heads) - 1)
        self.rows.data[bucket, at.BUCKET_NEXT] = self.heads[slot]
        self.heads[slot] = bucket
