"""Stage 5, out: the result of OUTPUT AGGREGATE, one row per partition.

`totals_of` adds up matches that an engine has enumerated; an engine may also hand over totals itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.match_aggregates import MatchAggregate
from ouzel.logical.query import BoundQuery
from ouzel.physical.event_table import EventTable, Integers, content_ranks
from ouzel.physical.match_table import MatchTable
from ouzel.physical.match_totals import Floats, MatchTotals, Total, ranks_of
from ouzel.physical.meaning import floats
from ouzel.runtimes.partition_keys import bindings, compact, key_values, partitions


def aggregate_table(query: BoundQuery, matches: MatchTable, events: EventTable) -> pa.Table:
    """The aggregates of a query over its matches."""
    return totals_table(query, totals_of(query, matches, events), events)


def of_no_events(query: BoundQuery) -> list[dict[str, Any]]:
    """The rows of a result where there are no events and no columns: without partitions, totals of nothing."""
    if not query.aggregates or query.equivalences:
        return []
    return [{item.name: 0.0 if item.function == "count" else None for item in query.aggregates}]


# ---- totals become a table -------------------------------------------------------------------------------


def totals_table(query: BoundQuery, totals: MatchTotals, events: EventTable) -> pa.Table:
    """Totals as a table: the attributes of the equivalence tests, by which it is ordered, then the aggregates."""
    keys: dict[str, pa.ChunkedArray] = {}
    for test, rows in zip(query.equivalences, totals.keys, strict=True):
        if test.constant is not None or test.attribute not in keys:
            keys[test.attribute] = key_values(test, rows, events)
    columns = {
        item.name: _column(item, total, events.table)
        for item, total in zip(query.aggregates, totals.totals, strict=True)
    }
    table = pa.table({**keys, **columns})
    if not keys:
        return table
    order = np.argsort(content_ranks(table.select(list(keys)), np.arange(table.num_rows)))
    return table.take(pa.array(order[totals.matches[order] > 0]))


def _column(item: MatchAggregate, total: Total, table: pa.Table) -> pa.Array | pa.ChunkedArray:
    if total.rows is not None:
        return table.column(item.column).take(pa.array(total.rows, mask=total.rows < 0))
    if total.sums is None:
        return pa.array(total.counts, pa.float64())
    values = total.sums / np.maximum(total.counts, 1) if item.function == "avg" else total.sums
    return pa.array(values, pa.float64(), mask=total.counts == 0)


# ---- matches become totals -------------------------------------------------------------------------------


def totals_of(query: BoundQuery, matches: MatchTable, events: EventTable) -> MatchTotals:
    """Totals over matches, by partition (GRETA section 2: the sum over matches of the sums in each)."""
    numbers, count, keys = partitions(query, matches, events)
    every = _counts(numbers, count)
    totals = tuple(
        Total(every) if item.variable is None else _total(item, item.variable, matches, numbers, count, events)
        for item in query.aggregates
    )
    return MatchTotals(keys, every, totals)


def _total(
    item: MatchAggregate, variable: str, matches: MatchTable, numbers: Integers, count: int, events: EventTable
) -> Total:
    of, rows = bindings(matches, variable)
    parts = numbers[of]
    if item.column is None:
        return Total(_counts(parts, count))
    used, places = compact(rows, len(events))
    values = events.table.column(item.column).take(pa.array(used))
    valid = values.is_valid().to_numpy()[places]
    parts, places = parts[valid], places[valid]
    counts = _counts(parts, count)
    if item.function in ("sum", "avg"):
        sums = np.bincount(parts, weights=floats(values)[places], minlength=count)
        return Total(counts, sums=sums.astype(np.float64, copy=False))
    if item.function in ("min", "max"):
        ranks = ranks_of(values, item.function)
        best = np.full(count, len(ranks), np.int64)
        np.minimum.at(best, parts, ranks[places])
        return Total(counts, rows=np.append(used[np.argsort(ranks)], -1)[best])
    return Total(counts)


def _counts(numbers: Integers, count: int) -> Floats:
    return np.bincount(numbers, minlength=count).astype(np.float64)
