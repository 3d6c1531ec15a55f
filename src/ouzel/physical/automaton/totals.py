"""Totals over matches without writing the matches out: sums over the paths of the match store.

For every event that ends matches, the number of paths to each node of its window is the sum over the nodes before
it, and so are sums and extremes of what the paths bind (as in GRETA and COGRA).  The nodes of a window are gone
through once per ending event: the cost is quadratic in the window, whatever the number of matches, and linear
without a window, as then nothing counted before expires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ouzel.logical.match_aggregates import MatchAggregate
from ouzel.physical.automaton.memory import Memory
from ouzel.physical.automaton.store import UNION
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Room
from ouzel.physical.match_totals import Total, ranks_of
from ouzel.physical.meaning import floats
from ouzel.physical.stoppable import SEEN

if TYPE_CHECKING:
    from ouzel.physical.automaton.automaton import AutomatonPlan

_KERNEL = f"""
@jit
def kernel(
    board, found, ends, groups, parts, event, component, before, nodes, clocks, limit,
    states, values, ranks, nulls, paths, counts, sums, best, matches, of_counts, of_sums, of_best
):
    {REACH}
    low = 0
    done = 0
    for f in range(len(found)):
        {SEEN}
            return
        end = ends[f]
        p = parts[end]
        g = groups[f]
        oldest = {oldest("clocks[end]")}
        # nodes of partitions gone by, or too early for this end: no path of the window leads through them;
        # nor through unions of such nodes, which stand behind them
        q = low
        while q < nodes and (
            component[q] == {UNION}
            or parts[event[q]] < p
            or (parts[event[q]] == p and clocks[event[q]] <= oldest)
        ):
            q += 1
        if q != low:
            low = q
            done = low
        for q in range(done, found[f, 0] + 1):
            if component[q] == {UNION}:
                a = before[q]
                b = event[q]
                paths[q] = (paths[a] if a >= low else 0.0) + (paths[b] if b >= low else 0.0)
                for j in range(len(states)):
                    counts[j, q] = (counts[j, a] if a >= low else 0.0) + (counts[j, b] if b >= low else 0.0)
                    sums[j, q] = (sums[j, a] if a >= low else 0.0) + (sums[j, b] if b >= low else 0.0)
                    best[j, q] = best[j, a] if a >= low else -1
                    o = best[j, b] if b >= low else -1
                    if o >= 0 and (best[j, q] < 0 or ranks[j, o] < ranks[j, best[j, q]]):
                        best[j, q] = o
                continue
            a = before[q]
            x = event[q]
            paths[q] = 1.0 if a < 0 else paths[a] if a >= low else 0.0
            for j in range(len(states)):
                known = a >= low and a >= 0
                counts[j, q] = counts[j, a] if known else 0.0
                sums[j, q] = sums[j, a] if known else 0.0
                best[j, q] = best[j, a] if known else -1
                if component[q] == states[j] and not nulls[j, x] and paths[q] > 0.0:
                    counts[j, q] += paths[q]
                    sums[j, q] += paths[q] * values[j, x]
                    if best[j, q] < 0 or ranks[j, x] < ranks[j, best[j, q]]:
                        best[j, q] = x
        done = max(done, found[f, 0] + 1)
        n = found[f, 0]
        ways = 1.0 if n < 0 else paths[n] if n >= low else 0.0
        matches[g] += ways
        for j in range(len(states)):
            if n >= low and n >= 0:
                of_counts[j, g] += counts[j, n]
                of_sums[j, g] += sums[j, n]
                o = best[j, n]
                if o >= 0 and (of_best[j, g] < 0 or ranks[j, o] < ranks[j, of_best[j, g]]):
                    of_best[j, g] = o
            x = found[f, 1]
            if x >= 0 and found[f, 2] == states[j] and not nulls[j, x] and ways > 0.0:
                of_counts[j, g] += ways
                of_sums[j, g] += ways * values[j, x]
                if of_best[j, g] < 0 or ranks[j, x] < ranks[j, of_best[j, g]]:
                    of_best[j, g] = x
"""


COUNT = MatchAggregate("matches", "count", None, None, pa.float64())


def totals_of_paths(
    plan: AutomatonPlan,
    memory: Memory,
    found: Any,
    ends: Integers,
    room: Room,
    items: tuple[MatchAggregate, ...] = (COUNT,),
    groups: Integers | None = None,
    count: int = 1,
) -> tuple[Any, list[Total]]:
    """The number of matches of each group, and the totals of each item; rows are those of the event table.

    `groups` has the group of each end, of which there are `count`; without it they are all in one.
    Where runs of all partitions go together, so do their nodes: then it is as if there were one partition.
    """
    buffer, store = memory.buffer, memory.store
    together = plan.shape.keyed
    numbers = np.zeros(len(buffer), np.int64) if together else buffer.parts
    order = np.lexsort((ends, numbers[ends]))
    groups = np.zeros(len(ends), np.int64) if groups is None else groups[order]
    found, ends, width = found[order], ends[order], len(items)
    columns = [_column(item, memory.events, buffer.rows) for item in items]
    values, ranks, nulls = (np.stack([column[k] for column in columns]) for k in range(3))
    variables = [one.variable for one in plan.shape.states]
    states = np.array([-2 if item.variable is None else variables.index(item.variable) for item in items])
    nodes = (store.event, store.component, store.before, store.nodes)
    if store.nodes * (8 + 24 * width) > room.size:
        raise room.exceeded(store.nodes, "events bound in runs")
    work = np.zeros(store.nodes), *(np.zeros((width, store.nodes), kind) for kind in (float, float, np.int64))
    matches = np.zeros(count)
    counts, sums = np.zeros((width, count)), np.zeros((width, count))
    best = np.full((width, count), -1, np.int64)
    results = matches, counts, sums, best
    paths = found, ends, groups, numbers, *nodes, buffer.clocks, plan.limit
    long_kernel_of(_KERNEL, store.nodes)(*paths, states, values, ranks, nulls, *work, *results)
    made = []
    for number, item in enumerate(items):
        if item.variable is None:
            made.append(Total(matches))
        elif item.function in ("min", "max"):
            some = best[number] >= 0
            rows = np.full(count, -1, np.int64)
            rows[some] = buffer.rows[best[number][some]]
            made.append(Total(counts[number], rows=rows))
        else:
            made.append(Total(counts[number], sums[number] if item.function != "count" else None))
    return matches, made


def _column(item: MatchAggregate, events: EventTable, rows: Integers) -> tuple[Any, Any, Any]:
    """An item's values, ranks (the best has the least) and null flags, for every event."""
    zeros = np.zeros(len(rows))
    if item.column is None:
        return zeros, zeros.astype(np.int64), np.zeros(len(rows), np.bool_)
    column = events.table.column(item.column).take(pa.array(rows))
    nulls = column.is_null().to_numpy().astype(np.bool_, copy=False)
    if item.function == "count":
        return zeros, zeros.astype(np.int64), nulls
    if item.function in ("sum", "avg"):
        return floats(column), zeros.astype(np.int64), nulls
    return zeros, ranks_of(column, item.function), nulls
