"""Edges that want a range of values and little else, found by its bounds, in plans that many queries share.

A *bucket* has such edges that are in one chain otherwise, in the order of their lower bounds.  Above them there is
a tree of upper bounds: a node has the highest of its two children, which are at twice its place and behind that.
"""

from __future__ import annotations

from typing import Any

from ouzel.kernels import shared_rows as at
from ouzel.kernels.shared_tests import RANGE


def count_loose(graph: Any, x: int, most: int) -> int:
    """How many edges of the hash of one, which is first there, are in its chain; it is not counted further."""
    count, hash_ = 0, graph.edges[x, at.EDGE_HASH]
    while x != -1 and count < most:
        count += graph.edges[x, at.EDGE_HASH] == hash_
        x = graph.edges[x, at.EDGE_NEXT]
    return count


def take_loose(graph: Any, hash_: int, group: int, out: Any) -> int:
    """Take the edges of a hash and a group out of their chain, as many as there is room for; how many they are."""
    count, before = 0, -1
    slot = hash_ & (len(graph.edge_heads) - 1)
    x = graph.edge_heads[slot]
    while x != -1 and count < len(out):
        after = graph.edges[x, at.EDGE_NEXT]
        if graph.edges[x, at.EDGE_HASH] == hash_ and graph.edge_origins[x, at.ORIGIN_GROUP] == group:
            out[count] = x
            count += 1
            graph.edges[x, at.EDGE_NEXT] = at.IN_BUCKET
            if before == -1:
                graph.edge_heads[slot] = after
            else:
                graph.edges[before, at.EDGE_NEXT] = after
        else:
            before = x
        x = after
    return count


def bounds_of(graph: Any, edges: Any, column: int, lows: Any, highs: Any) -> None:
    """The bounds of edges on a column."""
    for k in range(len(edges)):
        for t in range(graph.edges[edges[k], at.EDGE_TESTS], graph.edges[edges[k], at.EDGE_TESTS_END]):
            if graph.tests[t, at.TEST_ASKS] & 0xFFFF == RANGE | column << 8:
                lows[k] = graph.tests[t, at.TEST_LOW]
                highs[k] = graph.tests[t, at.TEST_HIGH]


def bucket_of(graph: Any, bucket: int, hash_: int, group: int) -> int:
    """The first bucket of a hash and a group, from one in a chain on; -1 if there is none."""
    while bucket != -1 and (
        graph.buckets[bucket, at.BUCKET_HASH] != hash_ or graph.buckets[bucket, at.BUCKET_GROUP] != group
    ):
        bucket = graph.buckets[bucket, at.BUCKET_NEXT]
    return bucket


def below(graph: Any, bucket: int, code: int) -> int:
    """How many edges of a bucket have a lower bound that a code reaches."""
    begin = graph.buckets[bucket, at.BUCKET_BEGIN]
    low, high = 0, graph.buckets[bucket, at.BUCKET_COUNT]
    while low < high:
        middle = (low + high) >> 1
        if graph.bucket_edges[begin + middle, at.SORTED_LOW] <= code:
            low = middle + 1
        else:
            high = middle
    return low


def next_above(graph: Any, bucket: int, place: int, code: int) -> int:
    """The first edge of a bucket, from a place on, whose upper bound is not below a code; its size if none is."""
    begin, size = graph.buckets[bucket, at.BUCKET_TREE], graph.buckets[bucket, at.BUCKET_SIZE]
    if place >= size:
        return size  # type: ignore[no-any-return]
    k = size + place
    while graph.bucket_trees[begin + k] < code:
        while k & 1:  # it is on the right
            k >>= 1
        if k == 0:
            return size  # type: ignore[no-any-return]
        k += 1
    while k < size:
        k = 2 * k if graph.bucket_trees[begin + 2 * k] >= code else 2 * k + 1
    return k - size  # type: ignore[no-any-return]
