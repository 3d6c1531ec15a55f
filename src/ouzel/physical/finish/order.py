"""The order of results: by end, start, then the places of the events, then which component has which.

Most matches come in order, or nearly so: only those that end together, and among which there is doubt, are
compared event by event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ouzel.kernels import ordering
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Bound, Many, One, chosen, ends_of, outermost
from ouzel.physical.memory.growing import marked
from ouzel.physical.recycled import recycled

# So many matches are compared at a time.
BLOCK = 1 << 16


def rises(moments: Integers) -> bool:
    """Whether no two events are simultaneous: they are in the order of results then."""
    return bool(np.all(moments[1:] > moments[:-1]))


def used_events(columns: list[Integers], count: int) -> Integers:
    """Those of so many events that some columns mention, in order."""
    if sum(map(len, columns)) < count // 16:
        used: Integers = each_once(*columns)
        return used[np.searchsorted(used, 0) :]
    # an event that is not there, -1, has the last of the flags
    return np.flatnonzero(marked(count + 1, *columns)[:-1])


def sequences_in_order(
    bound: Bound, starts: Integers, ends: Integers, places: Callable[[Integers], Integers]
) -> Bound | None:
    """Matches of single events in sequence, which come by their ends, in order; None if they are no such.

    `starts` and `ends` are moments of events by number, and `places` tells the places of some in canonical order.
    """
    columns = [one.rows for one in bound.values()]
    if (
        len(columns) < 2
        or len(columns[0]) < 2
        or any(isinstance(one, Many) or one.unbound is not None for one in bound.values())
    ):
        return None
    ended = ends[columns[-1]]
    if np.any(ended[1:] < ended[:-1]) or min(int(one.min(initial=0)) for one in columns) < 0:
        return None
    if not np.array_equal(starts, ends):
        return None
    together = np.stack(columns)
    ranks = together if rises(ends) else ranks_of(columns, ends, places).astype(together.dtype)[together]
    out = recycled(together.size, together.dtype).reshape(together.shape)
    if not kernel_of(ordering.order_sequences, together.size)(together, ranks, ended, out):
        return None
    return {variable: One(rows) for variable, rows in zip(bound, out, strict=True)}


def ranks_of(columns: list[Integers], ends: Integers, places: Callable[[Integers], Integers]) -> Integers:
    """The places of events in canonical order, by number; content is compared of simultaneous ones alone."""
    used = used_events(columns, len(ends))
    order = np.argsort(ends[used], kind="stable")
    same = ends[used[order]][1:] == ends[used[order]][:-1]
    tied = used[order][np.append(same, False) | np.append(False, same)]
    among = np.zeros(len(ends), np.int64)
    among[tied] = places(tied)
    ranks = np.zeros(len(ends), np.int64)
    ranks[used[np.lexsort((among[used], ends[used]))]] = np.arange(len(used))
    return ranks


def in_order(
    bound: Bound,
    starts: Integers,
    ends: Integers,
    used: Integers,
    places: Callable[[Integers], Integers],
    *,
    ordered: bool,
    scattered: bool = False,
) -> Integers | None:
    """The numbers of the matches in order; None if that is how they are.

    `starts` and `ends` are moments of events by number, `used` the events of all matches, and `places` tells the
    places of some of them in canonical order.  If `ordered`, matches come by last event and then event by event;
    if `scattered`, components need not bind in order.
    """
    if ordered and rises(ends[used]):
        return None
    first, last = outermost(bound, starts, ends) if scattered else ends_of(list(bound), bound)
    begun, ended = starts[first], ends[last]
    order: Integers | None = None
    if np.any(ended[1:] < ended[:-1]) or (not ordered and not _is_sorted(begun, ended)):
        order = np.argsort(ended, kind="stable") if ordered else np.lexsort((begun, ended))
        begun, ended = begun[order], ended[order]
    # where the order is known but for simultaneous events, all that end together may have to be put in order
    apart = ended[1:] != ended[:-1] if ordered else (ended[1:] != ended[:-1]) | (begun[1:] != begun[:-1])
    edges = np.flatnonzero(np.concatenate([[True], apart, [True]]))[: len(ended) + 1]
    groups = np.flatnonzero(np.diff(edges) > 1)
    if ordered:
        doubtful = _tied(bound, ends, used)
        doubtful = doubtful if order is None else doubtful[order]
        groups = groups[np.add.reduceat(doubtful, edges[:-1], dtype=np.int64)[groups] > 0]
    if not len(groups):
        return order
    sizes = np.diff(edges)[groups]
    order = np.arange(len(ended)) if order is None else order
    for some in _blocks(sizes):
        inner = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[some])])
        at = np.arange(inner[-1]) + np.repeat(edges[groups[some]] - inner[:-1], sizes[some])
        among = {variable: chosen(one, order[at]) for variable, one in bound.items()}
        order[at] = order[at][_sorted(among, begun[at], inner, places, scattered=scattered)]
    return order


def _blocks(sizes: Integers) -> Iterator[slice]:
    """Groups of matches, some at a time: what is compared takes many times the room of the matches."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        before = int(ends[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(ends, before + BLOCK, side="right")), begin + 1)
        yield slice(begin, end)
        begin = end


def _is_sorted(begun: Integers, ended: Integers) -> bool:
    return not np.any((begun[1:] < begun[:-1]) & (ended[1:] == ended[:-1]))


def _tied(bound: Bound, ends: Integers, used: Integers) -> Any:
    """Which matches have an event that is simultaneous with another that is used."""
    tied = np.zeros(len(ends), np.bool_)
    same = ends[used[1:]] == ends[used[:-1]]
    tied[used[1:][same]] = tied[used[:-1][same]] = True
    return np.logical_or.reduce([tied[one.rows] for one in bound.values()])


def _sorted(
    bound: Bound, begun: Integers, edges: Integers, places: Callable[[Integers], Integers], *, scattered: bool
) -> Integers:
    """The numbers of matches in order, those between two edges among each other."""
    used = each_once(*(one.rows[one.rows >= 0] for one in bound.values()))
    place = np.empty(int(used[-1]) + 1, np.int64)
    place[used] = places(used)
    sizes = np.stack([_sizes(one) for one in bound.values()], axis=1)
    flat, begins = (_told if scattered else _flat)(bound, sizes, place)
    order = np.arange(len(begun))
    kernel_of(ordering.order_groups, len(flat))(order, np.empty_like(order), edges, begun, flat, begins, sizes)
    return order


def _sizes(one: One | Many) -> Integers:
    return (one.rows >= 0).astype(np.int64) if isinstance(one, One) else np.diff(one.offsets)


def _flat(bound: Bound, sizes: Integers, places: Integers) -> tuple[Integers, Integers]:
    """The places of each match's events in a row: components bind in order, so the places rise."""
    begins: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes.sum(axis=1))])
    flat = np.empty(begins[-1], np.int64)
    at = begins[:-1].copy()
    for number, one in enumerate(bound.values()):
        own = sizes[:, number]
        within = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
        flat[np.repeat(at, own) + within] = places[one.rows[one.rows >= 0]]
        at += own
    return flat, begins


def _told(bound: Bound, sizes: Integers, places: Integers) -> tuple[Integers, Integers]:
    """The places of each match's events in order, and then by component; behind each part an end."""
    flat, begins = _flat(bound, sizes, places)
    count, width = len(sizes), len(bound)
    totals = np.diff(begins)
    begins_told: Integers = np.concatenate([np.zeros(1, np.int64), np.cumsum(2 * totals + 1 + width)])
    told = np.full(begins_told[-1], -1, np.int64)
    matches = np.repeat(np.arange(count), totals)
    within = np.arange(len(flat)) - np.repeat(begins[:-1], totals)
    told[begins_told[matches] + within] = flat[np.lexsort((flat, matches))]
    # behind it, and behind each component before
    component = np.repeat(np.tile(np.arange(width), count), sizes.ravel())
    told[begins_told[matches] + totals[matches] + 1 + within + component] = flat
    return told, begins_told
