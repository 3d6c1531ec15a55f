"""Streams split into batches: what engines find in them, as rows that do not depend on how events are numbered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ouzel.physical.contract import Found, PhysicalPlan
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.results import result_table

Batch = tuple[EventTable, int | None]
# As the spare of a memory: look for what has gone at every push.
EVERY_PUSH = -(10**9)
BEGINNING = -(2**62)


def ingested(events: Any, **options: Any) -> EventTable:
    return ingest(events, Reading(**options), Report())[0]


def long_stream(seed: int) -> list[dict[str, Any]]:
    """Events with ties, nulls, and keys that come, are gone for a while, and come again."""
    random = np.random.default_rng(seed)
    ticks = np.sort(random.integers(0, 120, 300))
    keys = (ticks // 25 + random.integers(0, 4, 300)) % 7
    return [
        {
            "eid": f"e{number}",
            "ts": int(tick),
            "type": "ABCD"[random.choice(4, p=[0.35, 0.3, 0.25, 0.1])],
            "k": None if key == 6 else int(key),
            "x": int(random.integers(0, 2)),
            "s": f"s{(tick // 20 + random.integers(0, 3)) % 9}",
        }
        for number, (tick, key) in enumerate(zip(ticks, keys, strict=True))
    ]


def rows_of(found: Found) -> list[tuple[Any, ...]]:
    table = result_table(found)
    times = zip(found.matches.start_times.tolist(), found.matches.end_times.tolist(), strict=True)
    return [(*time, *row.values()) for time, row in zip(times, table.to_pylist(), strict=True)]


def batches(table: EventTable, cuts: list[int]) -> Iterator[Batch]:
    """The stream cut before some moments, with the time before which no event follows."""
    order = np.argsort(table.ends, kind="stable")
    ends = table.ends[order]
    moments = np.unique(ends)
    edges = sorted({int(np.searchsorted(ends, moments[cut % len(moments)])) for cut in cuts} | {0, len(ends)})
    for low, high in pairwise(edges):
        now = int(table.end_times[order[high]]) if high < len(ends) else None
        yield table.taken(order[low:high]), now


def whole(plan: PhysicalPlan, table: EventTable) -> Counter[str]:
    return Counter(map(repr, rows_of(*plan.begin(Limits(), once=True).push(table, None))))


def in_batches(plan: PhysicalPlan, table: EventTable, cuts: list[int], *, resumed: bool) -> Counter[str]:
    at_work = plan.begin(Limits())
    found: Counter[str] = Counter()
    for batch, now in batches(table, cuts):
        found.update(map(repr, rows_of(*at_work.push(batch, now))))
        if resumed:
            state = at_work.state()
            at_work = plan.begin(Limits())
            at_work.push(batch.none(), BEGINNING)
            at_work.resume(state)
    return found
