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

from ouzel.kernels import paths
from ouzel.logical.match_aggregates import MatchAggregate
from ouzel.physical.automaton.memory import Memory
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Room
from ouzel.physical.match_totals import Total, ranks_of
from ouzel.physical.meaning import floats

if TYPE_CHECKING:
    from ouzel.physical.automaton.automaton import AutomatonPlan

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
    variables = [one.variable for one in plan.shape.variables]
    states = np.array([-2 if item.variable is None else variables.index(item.variable) for item in items])
    if store.nodes * (8 + 24 * width) > room.size:
        raise room.exceeded(store.nodes, "events bound in runs")
    nodes = [one[: store.nodes] for one in (store.event, store.component, store.before)]
    by_node, by_group = _nothing(width, store.nodes), _nothing(width, count)
    long_kernel_of(paths.add_up_paths, store.nodes)(
        found,
        ends,
        groups,
        numbers,
        buffer.clocks,
        plan.limit,
        *nodes,
        paths.Items(states, values, ranks, nulls),
        by_node,
        by_group,
    )
    matches, counts, sums, best = by_group
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


def _nothing(items: int, count: int) -> paths.Totals:
    zeros = np.zeros(count), np.zeros((items, count)), np.zeros((items, count))
    return paths.Totals(*zeros, np.full((items, count), -1, np.int64))


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
