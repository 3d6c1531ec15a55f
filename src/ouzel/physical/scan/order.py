"""The order of results: by end, start, and then the places of the events; ties by content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.kernels import jit, ordering
from ouzel.physical.compiled import kernel
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.share import in_threads
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.memory.growing import marked
from ouzel.physical.memory.retained import Retained


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
    compiled = jit.compiled(ordering.order_sequences)

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
    compiled = jit.compiled(ordering.fill_columns)
    in_threads(
        lambda begin, end: compiled(order[begin:end], sequences, numbers, columns[:, begin:end]),
        len(sequences),
        threads,
    )
    return columns


def _compiles(sequences: Array) -> bool:
    return jit.is_enabled() and len(sequences) >= kernel.COMPILE_FROM
