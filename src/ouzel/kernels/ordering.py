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


def order_sequences(columns: Array, ranks: Array, ends: Array, out: Array) -> bool:
    """Put matches of single events, one row of columns per component, in order among those that end together.

    How far each event's rank is from the latest, and the place among these matches, are the digits of one number:
    numbers are sorted.  If they are too large, nothing is done.
    """
    width, count = columns.shape
    latest = np.empty(count, np.int64)
    most = latest_ranks(ranks, ends, latest)
    ranges = np.ones(width, np.int64)
    whole = float(most)
    for c in range(width):
        for i in range(count):
            ranges[c] = max(ranges[c], latest[i] - ranks[c, i] + 1)
        whole *= ranges[c]
    if whole > 2.0**62:
        return False
    keys = np.empty(most, np.int64)
    spare = np.empty(most, np.int64)
    low = 0
    while low < count:
        size = 0
        while low + size < count and ends[low + size] == ends[low]:
            key = 0
            for c in range(width):
                key = key * ranges[c] + ranges[c] - 1 - (latest[low] - ranks[c, low + size])
            keys[size] = key * most + size
            size += 1
        sort_keys(keys, spare, size)
        for k in range(size):
            at = low + keys[k] % most
            for c in range(width):
                out[c, low + k] = columns[c, at]
        low += size
    return True


def latest_ranks(ranks: Array, ends: Array, latest: Array) -> int:
    """The greatest rank of a last event among matches that end together, for each of them; the most that do."""
    last = ranks.shape[0] - 1
    most = 1
    low = 0
    for high in range(1, len(ends) + 1):
        if high == len(ends) or ends[high] != ends[low]:
            greatest = ranks[last, low]
            for k in range(low + 1, high):
                greatest = max(greatest, ranks[last, k])
            for k in range(low, high):
                latest[k] = greatest
            most = max(most, high - low)
            low = high
    return most


def sort_keys(keys: Array, spare: Array, size: int) -> None:
    """Sort the first keys, which may be in order, or be so backwards: joins go back in time."""
    falls = 0
    for k in range(1, size):
        falls += keys[k - 1] > keys[k]
    if 2 * falls > size:
        for k in range(size // 2):
            keys[k], keys[size - 1 - k] = keys[size - 1 - k], keys[k]
    if falls > 0:
        merge_sort(keys, spare, size)


def merge_sort(keys: Array, spare: Array, size: int) -> None:
    """Sort the first keys: short stretches by insertion, which are then merged."""
    for begin in range(0, size, 16):
        for k in range(begin + 1, min(begin + 16, size)):
            key = keys[k]
            at = k
            while at > begin and keys[at - 1] > key:
                keys[at] = keys[at - 1]
                at -= 1
            keys[at] = key
    width = 16
    while width < size:
        for begin in range(0, size, 2 * width):
            middle = min(begin + width, size)
            end = min(begin + 2 * width, size)
            i = begin
            j = middle
            for k in range(begin, end):
                if j >= end or (i < middle and keys[i] <= keys[j]):
                    spare[k] = keys[i]
                    i += 1
                else:
                    spare[k] = keys[j]
                    j += 1
        for k in range(size):
            keys[k] = spare[k]
        width *= 2


def gather(values: Array, rows: Array, out: Array) -> None:
    """Fill `out` with the values of some rows."""
    for i in range(len(out)):
        # a number without a sign is never taken for a place from the end, which makes it faster
        out[i] = values[np.uint64(rows[i])]
