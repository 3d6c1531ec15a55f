"""Paths of a match store: which nodes are still needed, and totals over all paths without writing them out.

A node binds an event to a component and leads to the node `before` it, -1 if there is none; a union node joins two
paths.  Of a union, `before` leads to the paths that started last and `event` to the others, of which `lesser` is
the latest start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ouzel.kernels.arrays import STOP
from ouzel.kernels.windows import oldest_clock, reach_of

Array = np.ndarray[Any, Any]

# The component of a union node.
UNION = -1


def number_reached(
    event: Array, component: Array, before: Array, lesser: Array, nodes: int, roots: Array, alive: Array
) -> tuple[Array, Array]:
    """The new numbers of the nodes that roots lead to, -1 for the others, and which events they bind.

    `alive` says of every event whether a match that starts with it may still end.  A union of which one side is
    expired is no union any more: its number is that of the side that lives.
    """
    marked = np.zeros(nodes, np.bool_)
    used = np.zeros(len(alive), np.bool_)
    for k in range(len(roots)):
        if roots[k] >= 0:
            marked[roots[k]] = True
    for q in range(nodes - 1, -1, -1):
        if not marked[q]:
            continue
        if before[q] >= 0:
            marked[before[q]] = True
        if component[q] != UNION:
            used[event[q]] = True
        elif alive[lesser[q]]:
            marked[event[q]] = True
            used[lesser[q]] = True
    numbers = np.full(nodes, -1, np.int64)
    kept = 0
    for q in range(nodes):
        if marked[q]:
            if component[q] == UNION and not alive[lesser[q]]:
                numbers[q] = numbers[before[q]]
            else:
                numbers[q] = kept
                kept += 1
    return numbers, used


def keep_numbered(
    event: Array,
    component: Array,
    before: Array,
    lesser: Array,
    stretch: Array,
    nodes: int,
    numbers: Array,
    events: Array,
) -> int:
    """Move the nodes that have a number of their own to it, and tell how many there are; events get new numbers.

    `stretch` is how many nodes in a row, with this one the last, are of one component and lead each to the one
    just before it.
    """
    kept = 0
    for q in range(nodes):
        if numbers[q] != kept:
            continue
        e, c, s = event[q], component[q], lesser[q]
        b = numbers[before[q]] if before[q] >= 0 else -1
        component[kept] = c
        before[kept] = b
        if c == UNION:
            event[kept] = numbers[e]
            lesser[kept] = events[s]
        else:
            event[kept] = events[e]
            stretch[kept] = stretch[b] + 1 if b >= 0 and b == kept - 1 and component[b] == c else 1
        kept += 1
    return kept


class Items(NamedTuple):
    """What is to be added up: the component of each item, and by item and event values, ranks and null flags.

    Of ranks, the best value has the least.
    """

    components: Array
    values: Array
    ranks: Array
    nulls: Array


class Totals(NamedTuple):
    """How many paths there are to a node, or matches of a group, and for each item what they bind in all.

    `best` is the event with the least rank, -1 if there is none.
    """

    paths: Array
    counts: Array
    sums: Array
    best: Array


def add_up_paths(  # noqa: PLR0912, PLR0915 - calls with arrays would take several times as long as what they do
    board: Array,
    found: Array,
    ends: Array,
    groups: Array,
    parts: Array,
    clocks: Array,
    limit: int,
    event: Array,
    component: Array,
    before: Array,
    items: Items,
    by_node: Totals,
    by_group: Totals,
) -> None:
    """Add up over all paths that end matches, into `by_group`; `by_node` is room to work in.

    A row of `found` is a node, and the event and component behind it, -1 if there are none; `ends` are the last
    events of these, by partition and then time, and `groups` where each is added to.
    """
    # taken out of the records once: each time, Numba would count who holds the array
    components, values, ranks, nulls = items
    paths, counts, sums, best = by_node
    matches, of_counts, of_sums, of_best = by_group
    reach = reach_of(limit)
    low = 0
    done = 0
    for f in range(len(found)):
        if board[STOP] != 0:
            return
        p = parts[ends[f]]
        oldest = oldest_clock(clocks[ends[f]], limit, reach)
        # nodes of partitions gone by, or too early for this end: no path of the window leads through them;
        # nor through unions of such nodes, which stand behind them
        q = low
        while q < len(event) and (
            component[q] == UNION or parts[event[q]] < p or (parts[event[q]] == p and clocks[event[q]] <= oldest)
        ):
            q += 1
        if q != low:
            low = q
            done = low
        for q in range(done, found[f, 0] + 1):
            a = before[q]
            if component[q] == UNION:
                b = event[q]
                paths[q] = (paths[a] if a >= low else 0.0) + (paths[b] if b >= low else 0.0)
                for j in range(len(components)):
                    counts[j, q] = (counts[j, a] if a >= low else 0.0) + (counts[j, b] if b >= low else 0.0)
                    sums[j, q] = (sums[j, a] if a >= low else 0.0) + (sums[j, b] if b >= low else 0.0)
                    best[j, q] = best[j, a] if a >= low else -1
                    o = best[j, b] if b >= low else -1
                    if o >= 0 and (best[j, q] < 0 or ranks[j, o] < ranks[j, best[j, q]]):
                        best[j, q] = o
                continue
            x = event[q]
            paths[q] = 1.0 if a < 0 else paths[a] if a >= low else 0.0
            for j in range(len(components)):
                counts[j, q] = counts[j, a] if a >= low else 0.0
                sums[j, q] = sums[j, a] if a >= low else 0.0
                best[j, q] = best[j, a] if a >= low else -1
                if component[q] == components[j] and not nulls[j, x] and paths[q] > 0.0:
                    counts[j, q] += paths[q]
                    sums[j, q] += paths[q] * values[j, x]
                    if best[j, q] < 0 or ranks[j, x] < ranks[j, best[j, q]]:
                        best[j, q] = x
        n = found[f, 0]
        x = found[f, 1]
        g = groups[f]
        done = max(done, n + 1)
        ways = 1.0 if n < 0 else paths[n] if n >= low else 0.0
        matches[g] += ways
        for j in range(len(components)):
            if n >= low:
                of_counts[j, g] += counts[j, n]
                of_sums[j, g] += sums[j, n]
                o = best[j, n]
                if o >= 0 and (of_best[j, g] < 0 or ranks[j, o] < ranks[j, of_best[j, g]]):
                    of_best[j, g] = o
            if x >= 0 and found[f, 2] == components[j] and not nulls[j, x] and ways > 0.0:
                of_counts[j, g] += ways
                of_sums[j, g] += ways * values[j, x]
                if of_best[j, g] < 0 or ranks[j, x] < ranks[j, of_best[j, g]]:
                    of_best[j, g] = x
