"""The order of results: by end, start, then the places of the events, then which component has which."""

from __future__ import annotations

import numpy as np

from ouzel.kernels import ordering
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Many, One, chosen


def in_order(
    bound: dict[str, One | Many], rows: Integers, starts: Integers, ends: Integers, events: EventTable
) -> Integers:
    """The numbers of the matches in order; `rows` are the rows of the events that the matches are made of."""
    order: Integers = np.lexsort((starts, ends))
    same = (starts[order][1:] == starts[order][:-1]) & (ends[order][1:] == ends[order][:-1])
    if not np.any(same):
        return order
    # those that start and end together are compared event by event
    grouped = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    groups = np.cumsum(np.insert(~same, 0, True))[grouped]
    matches = order[grouped]
    among = {variable: chosen(one, matches) for variable, one in bound.items()}
    sizes = np.stack([_sizes(one) for one in among.values()], axis=1)
    used = np.unique(np.concatenate([one.rows[one.rows >= 0] for one in among.values()]))
    places = np.full(len(rows) + 1, -1, np.int64)
    places[used] = events.places(rows[used])
    flat, begins = _flat(among, sizes, places)
    edges = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1], [True]]))
    sorted_places = np.arange(len(matches))
    sort = kernel_of(ordering.order_groups, len(flat))
    sort(sorted_places, np.empty_like(sorted_places), edges, flat, begins, sizes)
    order[grouped] = matches[sorted_places]
    return order


def _sizes(one: One | Many) -> Integers:
    return (one.rows >= 0).astype(np.int64) if isinstance(one, One) else np.diff(one.offsets)


def _flat(among: dict[str, One | Many], sizes: Integers, places: Integers) -> tuple[Integers, Integers]:
    """The places of each match's events in a row: components bind in order, so the places rise."""
    begins: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes.sum(axis=1))])
    flat = np.empty(begins[-1], np.int64)
    at = begins[:-1].copy()
    for number, one in enumerate(among.values()):
        own = sizes[:, number]
        within = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
        flat[np.repeat(at, own) + within] = places[one.rows[one.rows >= 0]]
        at += own
    return flat, begins
