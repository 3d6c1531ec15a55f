"""Stage 5, out: the result of OUTPUT AGGREGATE, one row per partition, and per window if it has EVERY.

`totals_of` adds up matches that an engine has enumerated; an engine may also hand over totals itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.match_aggregates import EDGES, MatchAggregate
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable, Integers, content_ranks
from ouzel.physical.match_table import MatchTable
from ouzel.physical.match_totals import Floats, MatchTotals, Total, ranks_of
from ouzel.physical.meaning import floats, times_column
from ouzel.runtimes.partition_keys import attribute_values, bindings, compact, groups_of_matches


def aggregate_table(found: Found) -> pa.Table:
    """The aggregates of a query over its matches."""
    query, events = found.query, found.events
    totals = found.totals() if found.totals else totals_of(query, found.matches, events)
    return totals_table(query, totals, events)


def of_no_events(query: BoundQuery) -> list[dict[str, Any]]:
    """The rows of a result where there are no events and no columns: without partitions, totals of nothing."""
    if not query.aggregates or query.equivalences or query.every:
        return []
    return [{item.name: 0.0 if item.function == "count" else None for item in query.aggregates}]


# ---- totals become a table -------------------------------------------------------------------------------


def totals_table(query: BoundQuery, totals: MatchTotals, events: EventTable) -> pa.Table:
    """Totals as a table: windows and attributes of the equivalence tests, which order it, then the aggregates."""
    keys: dict[str, pa.ChunkedArray] = {}
    for test, rows in zip(query.equivalences, totals.keys, strict=True):
        if test.constant is not None or test.attribute not in keys:
            keys[test.attribute] = attribute_values(test, rows, events)
    columns = {
        item.name: _column(item, total, events.table)
        for item, total in zip(query.aggregates, totals.totals, strict=True)
    }
    table = pa.table({**_edges(query, totals.windows), **keys, **columns})
    if not keys and totals.windows is None:
        return table
    order = (
        np.argsort(content_ranks(table.select(list(keys)), np.arange(len(totals))))
        if keys
        else np.arange(len(totals))
    )
    if totals.windows is not None:
        order = order[np.argsort(totals.windows[order], kind="stable")]
    return table.take(pa.array(order[totals.matches[order] > 0]))


def _edges(query: BoundQuery, windows: Integers | None) -> dict[str, pa.Array]:
    """The times at which windows begin and end; null where the time column's type has no such time."""
    if windows is None or query.every is None:
        return {}
    length, arrow = query.every.length, query.schema.time.arrow
    low, high = _bounds(arrow)
    found = {}
    for name, numbers in zip(EDGES, (windows, windows + 1), strict=True):
        beyond = (numbers < -(-low // length)) | (numbers > high // length)
        found[name] = times_column(pa.array(np.where(beyond, 0, numbers) * length, mask=beyond), arrow)
    return found


def _bounds(arrow: pa.DataType) -> tuple[int, int]:
    """The least and greatest number of ticks that a time column can hold."""
    kind = np.dtype(arrow.to_pandas_dtype()) if pa.types.is_integer(arrow) else np.dtype(np.int64)
    if pa.types.is_date(arrow):
        kind = np.dtype(np.int32)
    return int(np.iinfo(kind).min), min(int(np.iinfo(kind).max), 2**63 - 1)


def _column(item: MatchAggregate, total: Total, table: pa.Table) -> pa.Array | pa.ChunkedArray:
    if total.rows is not None:
        return table.column(item.column).take(pa.array(total.rows, mask=total.rows < 0))
    if total.sums is None:
        return pa.array(total.counts, pa.float64())
    values = total.sums / np.maximum(total.counts, 1) if item.function == "avg" else total.sums
    return pa.array(values, pa.float64(), mask=total.counts == 0)


# ---- matches become totals -------------------------------------------------------------------------------


def totals_of(query: BoundQuery, matches: MatchTable, events: EventTable) -> MatchTotals:
    """Totals over matches, by group (GRETA section 2: the sum over matches of the sums in each)."""
    found = groups_of_matches(query, matches, events)
    numbers, count = found.numbers, found.count
    every = _counts(numbers, count)
    totals = tuple(
        Total(every) if item.variable is None else _total(item, item.variable, matches, numbers, count, events)
        for item in query.aggregates
    )
    return MatchTotals(found.keys, every, totals, found.windows)


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
        return Total(counts, rows=best_rows(ranks_of(values, item.function), used, parts, places, count))
    return Total(counts)


def best_rows(ranks: Integers, rows: Integers, numbers: Integers, places: Integers, count: int) -> Integers:
    """The row of least rank in each group, -1 where it has none; `rows` have the ranks, `places` are in them."""
    best = np.full(count, len(ranks), np.int64)
    np.minimum.at(best, numbers, ranks[places])
    return np.append(rows[np.argsort(ranks)], -1)[best]


def _counts(numbers: Integers, count: int) -> Floats:
    return np.bincount(numbers, minlength=count).astype(np.float64)
