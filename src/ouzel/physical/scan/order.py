"""The order of results: by end, start, and then the places of the events; ties by content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.kernels import jit
from ouzel.physical.compiled import kernel
from ouzel.physical.compiled.growing import marked
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.retained import Retained
from ouzel.physical.compiled.share import in_threads
from ouzel.physical.event_table import EventTable, Integers

# Construction finds sequences by their last event.  Those that end at one moment are merged, from runs of 1, 2, 4
# and so on, into the order of their events.  A row of `sequences` is a sequence.
_SORT = """
@jit
def kernel(sequences, spare, moments):
    length = sequences.shape[1]
    begin = 0
    while begin < len(sequences):
        end = begin + 1
        moment = moments[sequences[begin, length - 1]]
        while end < len(sequences) and moments[sequences[end, length - 1]] == moment:
            end += 1
        run = 1
        while run < end - begin:
            for low in range(begin, end, 2 * run):
                middle = min(low + run, end)
                high = min(low + 2 * run, end)
                a = low
                b = middle
                for at in range(low, high):
                    first = b >= high
                    if a < middle and b < high:
                        k = 0
                        while k < length - 1 and sequences[a, k] == sequences[b, k]:
                            k += 1
                        first = sequences[a, k] <= sequences[b, k]
                    if first:
                        for k in range(length):
                            spare[at, k] = sequences[a, k]
                        a += 1
                    else:
                        for k in range(length):
                            spare[at, k] = sequences[b, k]
                        b += 1
            for at in range(begin, end):
                for k in range(length):
                    sequences[at, k] = spare[at, k]
            run *= 2
        begin = end
"""

_COLUMNS = """
@jit
def kernel(sequences, numbers, columns):
    for i in range(len(sequences)):
        for k in range(sequences.shape[1]):
            columns[k, i] = numbers[sequences[i, k]]
"""


@dataclass(frozen=True)
class Ordered:
    """Sequences in the order of results: the numbers of their events, and their rows in a table that has them.

    Both are columns, one for each component.
    """

    numbers: Array
    rows: Array
    events: EventTable


def in_order(sequences: Array, retained: Retained, threads: int) -> Ordered:
    """Sort sequences, each a row of event numbers; they come in the order of their ends."""
    if retained.once and _rise(retained.order):
        # events are in canonical order already
        events, rows = retained.events(np.arange(len(retained)))
        _sort(sequences, retained.order, threads)
        return Ordered(sequences.T, _columns(sequences, rows, threads), events)
    used, sequences = _used(sequences, len(retained))
    events, rows = retained.events(used)
    moments = retained.order[used]
    if not _rise(moments):
        places = events.places(rows)
        order = np.argsort(places)
        used, rows, moments, sequences = used[order], rows[order], moments[order], places[sequences]
    _sort(sequences, moments, threads)
    return Ordered(_columns(sequences, used, threads), _columns(sequences, rows, threads), events)


def _rise(moments: Array) -> bool:
    return bool(np.all(moments[1:] > moments[:-1]))


def _used(sequences: Array, count: int) -> tuple[Integers, Array]:
    """The events that sequences have, and the sequences with the places of events among these."""
    if sequences.size < count // 16:
        used, places = np.unique(sequences, return_inverse=True)
        return used.astype(np.int64), places.reshape(sequences.shape)
    flags = marked(count, sequences.reshape(-1))
    return np.flatnonzero(flags), (np.cumsum(flags) - 1)[sequences]


def _sort(sequences: Array, moments: Array, threads: int) -> None:
    """Bring sequences into order, in place; `moments` are those of events by number."""
    ends = moments[sequences[:, -1]]
    if not jit.is_enabled() or len(sequences) < kernel.COMPILE_FROM or np.any(ends[1:] < ends[:-1]):
        sequences[:] = sequences[np.lexsort((*reversed(sequences.T), ends))]
        return
    spare = np.empty_like(sequences)
    compiled = jit.compiled(_SORT)

    def sort(begin: int, end: int) -> None:
        # sequences that end together are sorted by the thread that has the first of them
        first, after = np.searchsorted(ends, ends[begin]) if begin else 0, len(ends)
        if begin and first < begin:
            first = np.searchsorted(ends, ends[begin], "right")
        if end < len(ends):
            after = np.searchsorted(ends, ends[end - 1], "right")
        compiled(sequences[first:after], spare[first:after], moments)

    in_threads(sort, len(sequences), threads)


def _columns(sequences: Array, numbers: Integers, threads: int) -> Array:
    """What stands for the events of sequences, by component."""
    columns = np.empty(sequences.shape[::-1], np.int64)
    if not jit.is_enabled() or len(sequences) < kernel.COMPILE_FROM:
        columns[:] = numbers[sequences].T
        return columns
    compiled = jit.compiled(_COLUMNS)
    in_threads(
        lambda begin, end: compiled(sequences[begin:end], numbers, columns[:, begin:end]), len(sequences), threads
    )
    return columns
