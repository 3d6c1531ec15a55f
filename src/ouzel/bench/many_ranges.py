"""Very many queries that begin with a range of values, and no value that an index could be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.many_queries import pushed, quarters
from ouzel.bench.measure import Row, measure
from ouzel.bench.technical import technical_stream

EVENTS = 20_000
# Ranges are so wide that an event is in about so many of them.
SATISFIED = 10


def ranges_alone(queries: int, *, seed: int = 1) -> Any:
    """A set of queries for an event in a range, and a next one that is above it and has a value."""
    rng = np.random.default_rng(seed)
    width = min(SATISFIED / queries, 1)
    low = rng.random(queries) * (1 - width)
    rows = {"id": np.arange(queries), "low": low, "high": low + width, "value": rng.integers(0, 100, queries)}
    first = oz.stream().prefixed("s1").where("s1.c1 >= $low AND s1.c1 < $high")
    second = first.next(oz.stream().prefixed("s2")).where("s2.c2 > s1.c2 AND s2.d1 = $value")
    return oz.queries(second, pa.table(rows))


def cayuga_ranges(queries: int, times: int) -> Iterator[Row]:
    """Queries that begin with a range alone, of which an event is in about ten, by their number."""
    batches = [technical_stream(EVENTS, number * EVENTS) for number in range(times + 1)]
    for count in quarters(queries):
        contender, _planning = pushed(ranges_alone(count), batches)
        contenders = {"a range alone": contender}
        yield from measure(f"{count:,} queries", EVENTS, contenders, times, clock=process_time)
