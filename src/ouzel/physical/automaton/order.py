"""The order of results: by end, start, then the places of the events, then which component has which."""

from __future__ import annotations

import numpy as np

from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Many, One


def in_order(
    bound: dict[str, One | Many], rows: Integers, starts: Integers, ends: Integers, events: EventTable
) -> Integers:
    """The numbers of the matches in order; `rows` are the rows of the events that the matches are made of."""
    order: Integers = np.lexsort((starts, ends))
    same = (starts[order][1:] == starts[order][:-1]) & (ends[order][1:] == ends[order][:-1])
    if not np.any(same):
        return order
    # few matches start and end together: these are compared event by event
    used = np.unique(np.concatenate([one.rows[one.rows >= 0] for one in bound.values()]))
    places = np.full(len(rows) + 1, -1, np.int64)
    places[used] = events.places(rows[used])
    edges = np.flatnonzero(np.concatenate([[True], ~same, [True]]))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if end - begin > 1:
            group = order[begin:end].tolist()
            keys = {match: _key(bound, match, places) for match in group}
            order[begin:end] = sorted(group, key=keys.__getitem__)
    return order


def _key(bound: dict[str, One | Many], match: int, places: Integers) -> tuple[list[int], list[list[int]]]:
    chains: list[list[int]] = []
    for one in bound.values():
        if isinstance(one, One):
            events = one.rows[match : match + 1]
            events = events[events >= 0]
        else:
            events = one.rows[one.offsets[match] : one.offsets[match + 1]]
        chains.append(places[events].tolist())
    return sorted(place for chain in chains for place in chain), chains
