"""The order of results: matches of any length, by merge sort; and values gathered in that order."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def order_groups(
    order: Array, spare: Array, edges: Array, starts: Array, flat: Array, begins: Array, sizes: Array
) -> None:
    """Put the matches of each group in order; groups are between edges, and `order` are numbers of matches.

    It is a merge sort, as comparing two matches takes a loop; many groups are in order already.
    """
    for e in range(len(edges) - 1):
        low = edges[e]
        high = edges[e + 1]
        width = high - low
        for k in range(low + 1, high):
            if comes_before(order[k], order[k - 1], starts, flat, begins, sizes):
                width = 1
                break
        while width < high - low:
            start = low
            while start < high:
                middle = min(start + width, high)
                end = min(start + 2 * width, high)
                i = start
                j = middle
                for k in range(start, end):
                    if i < middle and (
                        j >= end or not comes_before(order[j], order[i], starts, flat, begins, sizes)
                    ):
                        spare[k] = order[i]
                        i += 1
                    else:
                        spare[k] = order[j]
                        j += 1
                start = end
            for k in range(low, high):
                order[k] = spare[k]
            width *= 2


def comes_before(a: int, b: int, starts: Array, flat: Array, begins: Array, sizes: Array) -> bool:
    """Whether match a comes before b: by start, events, the shorter, then by how many each component has."""
    if starts[a] != starts[b]:
        return bool(starts[a] < starts[b])
    length = begins[a + 1] - begins[a]
    other = begins[b + 1] - begins[b]
    for k in range(min(length, other)):
        if flat[begins[a] + k] != flat[begins[b] + k]:
            return bool(flat[begins[a] + k] < flat[begins[b] + k])
    if length != other:
        return bool(length < other)
    for k in range(sizes.shape[1]):
        if sizes[a, k] != sizes[b, k]:
            return bool(sizes[a, k] < sizes[b, k])
    return False


def gather(values: Array, rows: Array, out: Array) -> None:
    """Fill `out` with the values of some rows."""
    for i in range(len(out)):
        # a number without a sign is never taken for a place from the end, which makes it faster
        out[i] = values[np.uint64(rows[i])]
