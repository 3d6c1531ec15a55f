"""What the reference interpreters of the algebra and of register automata find, as rows of a result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable, content_ranks
from ouzel.physical.meaning import arrow_values
from ouzel.physical.reference.algebra import Interpreter
from ouzel.physical.reference.automata import Computations
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.events import Stream

Span = tuple[Any, Any, int, int]


def find_rows(query: BoundQuery, events: EventTable, stream: Stream, bounds: Bounds) -> Found:
    """What a query gives, by end, then start, then the values of attributes from left to right."""
    assert query.attributes is not None
    rows = [one for one in _found(query, stream, bounds) if bounds.takes_row()]
    columns = {
        one.name: arrow_values([data[one.name] for data, _span in rows], one.type, one.arrow)
        for one in query.attributes
    }
    sides = [[span[side] for _data, span in rows] for side in range(4)]
    starts, ends, start_times, end_times = (np.array(one, np.int64) for one in sides)
    # without columns there are rows all the same
    table = pa.table(columns) if columns else pa.table({"row": np.arange(len(rows))}).select([])
    ranks = content_ranks(table, np.arange(len(rows))) if columns else np.zeros(len(rows), np.int64)
    order = np.lexsort((ranks, starts, ends))
    intervals = (starts[order], ends[order], start_times[order], end_times[order])
    found = Found.of_rows(query, table.take(pa.array(order)), intervals, events)
    return found.within(bounds.limits, bounds.counters)


def _found(query: BoundQuery, stream: Stream, bounds: Bounds) -> Iterator[tuple[Mapping[str, Any], Span]]:
    """The values of each result, and when it starts and ends."""
    if query.automaton is not None:
        for accepted in Computations(query, stream, bounds).accepted():
            yield accepted.register, accepted.span
        return
    assert query.algebra is not None
    for one in Interpreter(stream.events, stream.values, query.schema, bounds).stream(query.algebra):
        yield one.data, (one.start, one.end, one.start_time, one.end_time)
