"""What a push to a matcher costs: few events and many, and over a wide window with very many keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import ouzel as oz
from ouzel.bench.measure import Figures, Row, timed
from ouzel.testing.papers import sase_stream

RETURNED = "WITHIN 10000 RETURN a.ts AS t1, c.ts AS t3"
QUERIES = {
    "scan": f"PATTERN SEQ(E1 a, E2 b, E3 c) WHERE [attr1] {RETURNED}",
    "automaton": f"""PATTERN SEQ(E1 a, E2+ b[], E3 c)
        WHERE skip_till_next_match {{ [attr1] AND b[i].attr2 > b[i-1].attr2 }} {RETURNED}""",
}
# The types that queries mention: three of twenty.
MENTIONED = ("E1", "E2", "E3")
# How many events a push has, and how many pushes are timed at most.
SIZES = {1: 1_000, 1_000: 200, 100_000: 20}
# The same of events that are all of types that the query mentions.
WANTED_SIZES = {1: 1_000, 1_000: 200}
WARM_UP = 100_000

WIDE, KEYS, BATCH, PARTS = 10**12, 1_000_000, 2_000, 4
STRATEGIES = {"scan": "skip_till_any_match", "automaton": "skip_till_next_match"}


def pushes(events: int, times: int) -> Iterator[Row]:
    """What a push costs: 1, 1,000 and 100,000 events beside `match`; 2,000 over a wide window with a million keys.

    A push takes the median of all that are timed.  Half of the events are pushed before.  Most events are of types
    that the query does not mention; in some pushes all are of types that it does.
    """
    for engine, query in QUERIES.items():
        stream = sase_stream(events, 1_000)
        found, first = timed(partial(oz.match, stream, query, engine=engine))
        best = min(timed(partial(oz.match, stream, query, engine=engine))[1] for _ in range(times))
        whole = {"matches": found.num_rows, "first call": first, "seconds": best, "events/s": events / best}
        yield Row("all at once, by match", engine, {**whole, "of match": 1.0})
        wanted = stream.filter(pc.is_in(stream.column("type"), pa.array(MENTIONED))).combine_chunks()
        cases = [(stream, "", size, count) for size, count in SIZES.items()]
        cases += [(wanted, ", mentioned", size, count) for size, count in WANTED_SIZES.items()]
        for pushed, which, size, count in cases:
            runs = [_pushed(pushed, query, engine, size, count) for _ in range(times)]
            figures = min(runs, key=lambda one: one["seconds"])
            share = figures["events/s"] / whole["events/s"]
            yield Row(f"{size:,} at a time{which}", engine, {**figures, "of match": share})
    for engine in STRATEGIES:
        yield from _wide(engine, events)


def _pushed(stream: pa.Table, query: str, engine: str, size: int, count: int) -> Figures:
    """The median push of so many events, once half of the stream was pushed."""
    matcher, before, first = oz.matcher(query, stream.schema, engine=engine), len(stream) // 2, 0.0
    for begin in range(0, before, WARM_UP):
        batch = stream.slice(begin, min(WARM_UP, before - begin))
        _found, seconds = timed(partial(matcher.push, batch))
        first = first or seconds
    size = min(size, len(stream) - before)
    took = []
    for begin in range(before, min(before + count * size, len(stream) - size + 1), size):
        took.append(timed(partial(matcher.push, stream.slice(begin, size)))[1])
    seconds = median(took)
    return {"first call": first, "seconds": seconds, "ms a push": 1e3 * seconds, "events/s": size / seconds}


def _wide(engine: str, events: int) -> Iterator[Row]:
    """Pushes from first to last, over a window that nothing leaves: each should take as long as any other."""
    query = f"""PATTERN SEQ(A a, B b, C c) WHERE {STRATEGIES[engine]} {{ [k] }} WITHIN {WIDE}
        RETURN a.ts AS t1, b.ts AS t2, c.ts AS t3"""
    count = max(min(events // BATCH, 400) // PARTS, 1)
    warm_up = _events(0, max(BATCH, min(events, 40_000)))
    matcher = oz.matcher(query, warm_up.schema, engine=engine)
    _found, first = timed(partial(matcher.push, warm_up))
    begin, begun = len(warm_up), 0.0
    for part in range(PARTS):
        took, matches = [], 0
        for _ in range(count):
            found, seconds = timed(partial(matcher.push, _events(begin, BATCH)))
            took.append(seconds)
            matches += found.num_rows
            begin += BATCH
        seconds = median(took)
        begun = begun or seconds
        figures = {
            "matches": matches,
            "first call": first,
            "seconds": seconds,
            "ms a push": 1e3 * seconds,
            "events/s": BATCH / seconds,
        }
        yield Row(
            f"{KEYS:,} keys, part {part + 1} of {PARTS}", engine, {**figures, "of the first": seconds / begun}
        )


def _events(begin: int, count: int) -> pa.Table:
    rng = np.random.default_rng(begin)
    types = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 4, count).astype(np.int32)), list("ABCD"))
    times = np.arange(begin, begin + count)
    return pa.table({"ts": times, "type": types.cast(pa.string()), "k": rng.integers(0, KEYS, count)})
