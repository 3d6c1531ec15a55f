"""Very many open runs: events made as they are pushed."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Figures, timed
from ouzel.bench.own_process import peak_memory

BATCH = 100_000
WARM_UP = 25_000  # enough for kernels to be compiled
BETWEEN_ENDS = 1_800_000
VALUES = 10_000_000
NAMES = pa.array(["Start", "End"])


def push_batches(window: int, engine: str, strategy: str) -> Figures:
    """Push two windows of events, one a millisecond, to a matcher."""
    warm_up = starts_and_ends(0, WARM_UP)
    _found, first = timed(partial(_matcher(1, engine, strategy).push, warm_up))
    matcher = _matcher(window, engine, strategy)
    total = max(2 * window, WARM_UP)
    matches, seconds, took = 0, 0.0, 0.0
    for begin in range(0, total, BATCH):
        batch = starts_and_ends(begin, min(BATCH, total - begin))
        found, took = timed(partial(matcher.push, batch))
        matches += found.num_rows
        seconds += took
    return {
        "matches": matches,
        "first call": first,
        "seconds": seconds,
        "events/s": total / seconds,
        "at the end": len(batch) / took,
        "peak MB": peak_memory() / 1e6,
    }


def starts_and_ends(first: int, count: int) -> pa.Table:
    """Events from number `first` on: starts of one key, and now and then an end, which suits few of them."""
    numbers = np.arange(first, first + count)
    is_end = numbers % BETWEEN_ENDS == BETWEEN_ENDS - 1
    values = np.random.default_rng(first).integers(0, VALUES, count)
    values[is_end] = VALUES - 100
    types = pa.DictionaryArray.from_arrays(pa.array(is_end.astype(np.int8)), NAMES).cast(pa.string())
    return pa.table({"ts": numbers, "type": types, "key": np.ones(count, np.int64), "value": values})


def _matcher(window: int, engine: str, strategy: str) -> oz.Matcher:
    where = f"{strategy} {{ [key] AND a.value > b.value }}"
    query = f"PATTERN SEQ(Start a, End b) WHERE {where} WITHIN {window} RETURN a.ts AS started, b.ts AS ended"
    return oz.matcher(query, starts_and_ends(0, 0).schema, engine=engine)
