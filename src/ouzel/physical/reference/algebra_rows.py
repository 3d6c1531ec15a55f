"""What the reference interpreter of the algebra finds, as rows of a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable, content_ranks
from ouzel.physical.meaning import arrow_values
from ouzel.physical.reference.algebra import Interpreter
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.events import Event, Values


def find_rows(query: BoundQuery, events: EventTable, found: Sequence[Event], bounds: Bounds) -> Found:
    """What an expression gives, by end, then start, then the values of attributes from left to right."""
    assert query.algebra is not None
    every = Interpreter(found, Values(events.table), query.schema, bounds).stream(query.algebra)
    rows = [one for one in every if bounds.takes()]
    columns = {
        one.name: arrow_values([row.data[one.name] for row in rows], one.type, one.arrow)
        for one in query.algebra.attributes
    }
    ends = [[getattr(row, side) for row in rows] for side in ("start", "end", "start_time", "end_time")]
    starts, ends_, start_times, end_times = (np.array(one, np.int64) for one in ends)
    table = pa.table(columns)
    order = np.lexsort((content_ranks(table, np.arange(len(rows))), starts, ends_))
    intervals = (starts[order], ends_[order], start_times[order], end_times[order])
    return Found.of_rows(query, table.take(pa.array(order)), intervals, events)
