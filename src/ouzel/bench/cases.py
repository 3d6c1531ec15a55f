"""Two cases beside the papers': very many open runs, and more matches than could ever be written out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Row, measure, relative
from ouzel.bench.open_runs import push_batches
from ouzel.bench.own_process import in_own_process

STRATEGIES = {"scan": "skip_till_any_match", "automaton": "skip_till_next_match"}
SLOW = 5_000


def flink(events: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - one run is long enough to be steady
    """A case that breaks Flink CEP: one key, 1,000 starts a second, a rare end, 6 hours: 21.6 million open runs.

    Events come in batches of 100,000, two windows of them.  An engine that does not manage 5,000 events a second
    is not asked for ten times as many runs.  Each measurement has a process of its own, whose memory is counted in
    all.
    """
    for engine, strategy in STRATEGIES.items():
        for share in (20_000, 2_000, 200, 20, 2):
            window = max(events // share, 1)
            figures = in_own_process(push_batches, window, engine, strategy)
            yield Row(f"{window:,} runs", f"{engine}, {strategy}", figures)
            if figures["events/s"] < SLOW:
                break


def counting(events: int, times: int) -> Iterator[Row]:
    """Counting without enumerating: a closure under skip_till_any_match, over 10^18 matches, by the window."""
    stream = _ticks(events)
    varied = {window: f"window {window:,}" for window in (events // share for share in (200, 100, 50, 25))}
    rows = (
        row
        for window, label in varied.items()
        for row in measure(label, events, {"count(*)": _count(stream, window)}, times)
    )
    yield from relative(rows, to=next(iter(varied.values())))


def _count(stream: pa.Table, window: int) -> Contender:
    text = f"PATTERN SEQ(A+ a[], B b) WITHIN {window} RETURN count(*) AS found OUTPUT AGGREGATE"
    return Contender(partial(oz.match, stream, oz.query(text)), lambda one: {"matches": one["found"][0].as_py()})


def _ticks(events: int, seed: int = 1) -> pa.Table:
    """Of ten events four are A: a window of 2,000 has about 2^800 sets of them, which a float can hold."""
    types = np.random.default_rng(seed).choice(["A", "B", "C"], events, p=[0.4, 0.1, 0.5])
    return pa.table({"ts": np.arange(events), "type": types})
