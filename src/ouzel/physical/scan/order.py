"""The order of results: by end, start, and then the places of the events; ties by content."""

from __future__ import annotations

import numpy as np

from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.retained import Retained
from ouzel.physical.event_table import EventTable, Integers


def in_order(sequences: list[Array], retained: Retained) -> tuple[Integers, EventTable, list[Integers]]:
    """The numbers of some sequences in order, a table that has their events, and the rows of these in it."""
    moments = retained.order
    if retained.once and _are_distinct(moments):
        # events are in order of time already
        events, rows = retained.events(np.arange(len(moments)))
        return _sorted([sequences[-1], *sequences[:-1]]), events, [rows[column] for column in sequences]
    used, at = np.unique(np.concatenate(sequences), return_inverse=True)
    events, rows = retained.events(used)
    columns = np.split(at.reshape(-1), len(sequences))
    moments = moments[used]
    if _are_distinct(moments):
        return _sorted([columns[-1], *columns[:-1]]), events, [rows[column] for column in columns]
    ranks = events.places(rows)
    order = _sorted([moments[columns[-1]], moments[columns[0]], *(ranks[column] for column in columns)])
    return order, events, [rows[column] for column in columns]


def _are_distinct(moments: Array) -> bool:
    return bool(np.all(moments[1:] > moments[:-1]))


def _sorted(columns: list[Array]) -> Integers:
    order: Integers = np.lexsort((*reversed(columns),))
    return order
