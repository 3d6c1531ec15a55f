"""The order of results: sequences, which are rows of event numbers, and matches of any length, by merge sort."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Runs of so many sequences are put in order one by one, and then merged.
SHORT = 8


def order_sequences(sequences: Array, moments: Array, order: Array, spare: Array) -> None:
    """Fill `order` with the numbers of sequences by the moment of the last event, then by their events.

    A row of `sequences` is a sequence.  They come by the moment of their last event, and those that end together
    about from the latest to the earliest, as construction finds them: so these are taken from last to first.
    """
    last = sequences.shape[1] - 1
    begin = 0
    while begin < len(sequences):
        end = begin + 1
        moment = moments[sequences[begin, last]]
        while end < len(sequences) and moments[sequences[end, last]] == moment:
            end += 1
        for low in range(begin, end, SHORT):
            for at in range(low, min(low + SHORT, end)):
                new = begin + end - 1 - at
                to = at
                while to > low and not is_ordered(sequences, order[to - 1], new):
                    order[to] = order[to - 1]
                    to -= 1
                order[to] = new
        run = SHORT
        while run < end - begin:
            for low in range(begin, end, 2 * run):
                merge_runs(sequences, order, spare, low, min(low + run, end), min(low + 2 * run, end))
            for at in range(begin, end):
                order[at] = spare[at]
            run *= 2
        begin = end


def merge_runs(sequences: Array, order: Array, spare: Array, low: int, middle: int, high: int) -> None:
    """Merge two runs of sequences that are in order, from `low` and from `middle` on."""
    a = low
    b = middle
    for at in range(low, high):
        if b >= high or (a < middle and is_ordered(sequences, order[a], order[b])):
            spare[at] = order[a]
            a += 1
        else:
            spare[at] = order[b]
            b += 1


def is_ordered(sequences: Array, a: int, b: int) -> bool:
    """Whether a sequence does not come after another by their events."""
    last = sequences.shape[1] - 1
    k = 0
    while k < last and sequences[a, k] == sequences[b, k]:
        k += 1
    return bool(sequences[a, k] <= sequences[b, k])


def fill_columns(order: Array, sequences: Array, numbers: Array, columns: Array) -> None:
    """Fill a column for each component with the numbers of the events that sequences have there, in an order."""
    for i in range(len(order)):
        for k in range(sequences.shape[1]):
            columns[k, i] = numbers[sequences[order[i], k]]


def order_groups(order: Array, spare: Array, edges: Array, flat: Array, begins: Array, sizes: Array) -> None:
    """Put the matches of each group in order; groups are between edges, and `order` are numbers of matches.

    It is a merge sort, as comparing two matches takes a loop.
    """
    for e in range(len(edges) - 1):
        width = 1
        low = edges[e]
        high = edges[e + 1]
        while width < high - low:
            start = low
            while start < high:
                middle = min(start + width, high)
                end = min(start + 2 * width, high)
                i = start
                j = middle
                for k in range(start, end):
                    if i < middle and (j >= end or not comes_before(order[j], order[i], flat, begins, sizes)):
                        spare[k] = order[i]
                        i += 1
                    else:
                        spare[k] = order[j]
                        j += 1
                start = end
            for k in range(low, high):
                order[k] = spare[k]
            width *= 2


def comes_before(a: int, b: int, flat: Array, begins: Array, sizes: Array) -> bool:
    """Whether match a comes before match b: by events, then the shorter, then by how many each component has."""
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
