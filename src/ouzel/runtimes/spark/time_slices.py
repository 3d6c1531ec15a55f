"""Slices of time: events without keys are cut by it, into slices that overlap by the window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import pyarrow as pa

from ouzel.logical.pattern import edge_negatives
from ouzel.logical.query import BoundQuery
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.task import SLICE, Slices, Task

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# A slice is at least so many windows long: what is in two slices is matched twice.
WINDOWS_PER_SLICE = 4
# Beyond that, Spark's divisions are not exact, nor do its differences fit.
EXACT = 2**53


class Span(NamedTuple):
    """How far some events reach in time, and how many there are."""

    least: int
    most: int
    rows: int


# What is known of DataFrames that are still there, by time column and condition.  It is but where to cut: if there
# are other events by now, the first and the last slice hold those that are outside.
_known: WeakKeyDictionary[DataFrame, dict[tuple[str, str | None], Span]] = WeakKeyDictionary()


def spans_of(
    events: DataFrame, narrow: DataFrame, ticks: Column, task: Task, conditions: Iterable[str | None]
) -> Mapping[str | None, Span]:
    """How far the events under each condition reach; what is not known yet is found out in one job."""
    from pyspark.sql import functions as f

    known = _known.setdefault(events, {})
    time = task.reading.time
    new = [condition for condition in conditions if (time, condition) not in known]
    if new:
        asked = []
        for condition in new:
            flag = f.expr(condition or "TRUE")
            own = f.when(flag, ticks)
            asked += [f.min(own), f.max(own), f.count(f.when(flag, f.lit(1)))]
        [found] = narrow.where(" OR ".join(condition or "TRUE" for condition in new)).agg(*asked).collect()
        for number, condition in enumerate(new):
            least, most, rows = found[3 * number : 3 * number + 3]
            known[time, condition] = Span(least or 0, most or 0, 0 if least is None else rows)
    return {condition: known[time, condition] for condition in conditions}


def slices_of(span: Span, query: BoundQuery, tasks: int) -> Slices | None:
    """How time is cut for some tasks; None if it is not worth while."""
    window = query.window
    assert window is not None
    if not span.rows:
        return None
    least, most = span.least, span.most
    length = max((most - least) // max(2 * tasks, 1) + 1, WINDOWS_PER_SLICE * window.limit)
    if query.every is not None:
        least -= least % query.every.length
        length += -length % query.every.length
    count = (most - least) // length + 1
    return None if count == 1 or count * length + window.limit >= EXACT else Slices(least, length, count)


def in_slices(events: DataFrame, ticks: Column, query: BoundQuery, slices: Slices, tasks: int) -> DataFrame:
    """The events with the slice that each is for, once for each that it is for; without a time it is for none.

    Each match is owned by the slice in which it starts.  Of windows of aggregates each is whole in one slice,
    which owns the matches that end in it.
    """
    from pyspark.sql import functions as f

    window = query.window
    assert window is not None
    # negation at the start looks back as far as the window, everything else looks ahead
    back = window.limit if edge_negatives(query.pattern, at_end=False) else 0
    back += window.limit if query.every is not None else 0
    last = f.lit(slices.count - 1)
    # what is outside is brought to the edges before anything is computed of it
    edges = f.lit(slices.first), f.lit(slices.first + slices.count * slices.length - 1)
    inside = f.least(f.greatest(ticks, edges[0]), edges[1]) - edges[0]
    low = f.floor((inside - f.lit(window.limit)) / f.lit(slices.length))
    high = f.floor((inside + f.lit(back)) / f.lit(slices.length))
    numbers = f.when(ticks.isNotNull(), f.sequence(f.greatest(low, f.lit(0)), f.least(high, last)))
    sliced = events.withColumn(SLICE, f.explode_outer(numbers))
    return sliced.repartition(min(slices.count, 2 * tasks), SLICE)


def ticks_of(events: DataFrame, task: Task) -> Column:
    """The time column as whole ticks, as the engines count them."""
    from pyspark.sql import functions as f

    column = events[backquoted(task.reading.time)]
    arrow = task.schema.field(task.reading.time).type
    if pa.types.is_timestamp(arrow):
        if arrow.tz:
            return f.unix_micros(column)
        # without a zone: as if it were in UTC, whatever the session's zone
        return f.timestamp_diff("MICROSECOND", f.lit(datetime(1970, 1, 1)).cast("timestamp_ntz"), column)
    if pa.types.is_date(arrow):
        return f.unix_date(column).cast("long")
    return column.cast("long")
