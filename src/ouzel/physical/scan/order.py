"""The order of results: by end, start, and then the places of the events; ties by content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.kernels import jit
from ouzel.physical.compiled import kernel
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.share import in_threads
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.memory.growing import marked
from ouzel.physical.memory.retained import Retained

# Construction finds sequences by their last event, and those that end with one event about from the latest to the
# earliest.  So those that end at one moment are taken from the last to the first: short runs of them are put in
# order one by one, and then merged.  A row of `sequences` is a sequence; `order` becomes their numbers in order.
_SHORT = 8
_ORDER = f"""
@jit
def kernel(sequences, moments, order, spare):
    last = sequences.shape[1] - 1
    begin = 0
    while begin < len(sequences):
        end = begin + 1
        moment = moments[sequences[begin, last]]
        while end < len(sequences) and moments[sequences[end, last]] == moment:
            end += 1
        for low in range(begin, end, {_SHORT}):
            for at in range(low, min(low + {_SHORT}, end)):
                new = begin + end - 1 - at
                to = at
                while to > low:
                    old = order[to - 1]
                    k = 0
                    while k < last and sequences[old, k] == sequences[new, k]:
                        k += 1
                    if sequences[old, k] <= sequences[new, k]:
                        break
                    order[to] = old
                    to -= 1
                order[to] = new
        run = {_SHORT}
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
                        while k < last and sequences[order[a], k] == sequences[order[b], k]:
                            k += 1
                        first = sequences[order[a], k] <= sequences[order[b], k]
                    if first:
                        spare[at] = order[a]
                        a += 1
                    else:
                        spare[at] = order[b]
                        b += 1
            for at in range(begin, end):
                order[at] = spare[at]
            run *= 2
        begin = end
"""

_COLUMNS = """
@jit
def kernel(order, sequences, numbers, columns):
    for i in range(len(order)):
        for k in range(sequences.shape[1]):
            columns[k, i] = numbers[sequences[order[i], k]]
"""


@dataclass(frozen=True)
class Ordered:
    """Sequences in the order of results: their events as rows of a table, a column for each component."""

    order: Integers
    sequences: Array
    used: Integers
    rows: Array
    events: EventTable

    def numbers(self, component: int) -> Integers:
        """The numbers of the events that a component binds."""
        numbers: Integers = self.used[self.sequences[self.order, component]]
        return numbers


def in_order(sequences: Array, retained: Retained, threads: int) -> Ordered:
    """Sort sequences, each a row of event numbers; they come in the order of their ends."""
    if retained.once and _rise(retained.ends):
        # events are in canonical order already
        used, moments = np.arange(len(retained)), retained.ends
        events, rows = retained.events(used)
    else:
        used, sequences = _used(sequences, len(retained))
        events, rows = retained.events(used)
        moments = retained.ends[used]
        if not _rise(moments):
            places = events.places(rows)
            order = np.argsort(places)
            used, rows, moments, sequences = used[order], rows[order], moments[order], places[sequences]
    order = _order(sequences, moments, threads)
    return Ordered(order, sequences, used, _columns(order, sequences, rows, threads), events)


def _rise(moments: Array) -> bool:
    return bool(np.all(moments[1:] > moments[:-1]))


def _used(sequences: Array, count: int) -> tuple[Integers, Array]:
    """The events that sequences have, and the sequences with the places of events among these."""
    if sequences.size < count // 16:
        used, places = np.unique(sequences, return_inverse=True)
        return used.astype(np.int64), places.reshape(sequences.shape)
    flags = marked(count, sequences.reshape(-1))
    return np.flatnonzero(flags), (np.cumsum(flags) - 1)[sequences]


def _order(sequences: Array, moments: Array, threads: int) -> Integers:
    """The numbers of sequences in order; `moments` are those of events by number."""
    ends = moments[sequences[:, -1]]
    if not _compiles(sequences) or np.any(ends[1:] < ends[:-1]):
        order: Integers = np.lexsort((*reversed(sequences.T), ends))
        return order
    order, spare = np.empty((2, len(sequences)), np.int64)
    compiled = jit.compiled(_ORDER)

    def sort(begin: int, end: int) -> None:
        # sequences that end together belong to the thread that has the first of them
        first = _next_end(ends, begin) if begin else 0
        after = _next_end(ends, end)
        compiled(sequences[first:after], moments, order[first:after], spare[first:after])
        order[first:after] += first

    in_threads(sort, len(sequences), threads)
    return order


def _next_end(ends: Array, at: int) -> int:
    """Where, from a place on, sequences begin that end later than the one before that place."""
    return len(ends) if at == len(ends) else int(np.searchsorted(ends, ends[at - 1], "right"))


def _columns(order: Integers, sequences: Array, numbers: Integers, threads: int) -> Array:
    """What stands for the events of sequences, by component."""
    if not _compiles(sequences):
        return numbers[sequences[order]].T
    columns = np.empty(sequences.shape[::-1], np.int64)
    compiled = jit.compiled(_COLUMNS)
    in_threads(
        lambda begin, end: compiled(order[begin:end], sequences, numbers, columns[:, begin:end]),
        len(sequences),
        threads,
    )
    return columns


def _compiles(sequences: Array) -> bool:
    return jit.is_enabled() and len(sequences) >= kernel.COMPILE_FROM
