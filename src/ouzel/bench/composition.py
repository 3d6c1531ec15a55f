"""Two levels of queries: what the matches of one cost as events of another, at once and batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure, timed
from ouzel.testing.papers import sase_stream

BATCH = 50_000
DOMAIN = 100
# of the twenty types two are matched: with such a window there is a composite event for every hundred events
PAIRS = """QUERY pairs PATTERN SEQ(E1 a, E2 b) WHERE [attr1] WITHIN 400
RETURN a.attr1 AS attr1, a.attr2 + b.attr2 AS total INTO Pair
"""
AFTER = {
    "pairs of pairs": """SEQ(Pair p, Pair q) WHERE [attr1] AND p.total < q.total WITHIN 2000
        RETURN start(p) AS started, end(q) AS ended, q.total - p.total AS gain""",
    "an event after a pair": """SEQ(Pair p, E3 c) WHERE [attr1] WITHIN 1000
        RETURN start(p) AS started, c.ts AS ended, p.total""",
    "closures of pairs": """SEQ(Pair+ p[], E3 c) WHERE skip_till_next_match { [attr1] } WITHIN 1000
        RETURN p[1].total AS total, p.LEN AS pairs, c.ts AS ended""",
}


def composition(events: int, times: int) -> Iterator[Row]:
    """Two-level composition: sequences of two, of which there are one for a hundred events, matched again."""
    stream = sase_stream(events, DOMAIN)
    for varied, then in AFTER.items():
        text = f"{PAIRS} QUERY then PATTERN {then}"
        contenders = {
            "at once": Contender(partial(oz.match, stream, oz.query(text)), _counted),
            f"batches of {BATCH:,}": Contender(partial(pushed, stream, text), lambda figures: figures),
        }
        yield from measure(varied, events, contenders, times)


def _counted(results: Any) -> Figures:
    return {"composites": results["pairs"].num_rows, "matches": results["then"].num_rows}


def pushed(stream: pa.Table, text: str) -> Figures:
    """Push a stream batch by batch; `growth` compares the batches of the last quarter with the second's."""
    matcher = oz.matcher(text, stream.schema)
    found: Figures = {"composites": 0, "matches": 0}
    took: list[float] = []

    def add(results: Any) -> None:
        found.update({name: found[name] + one for name, one in _counted(results).items()})

    for begin in range(0, len(stream), BATCH):
        results, seconds = timed(partial(matcher.push, stream.slice(begin, BATCH)))
        add(results)
        took.append(seconds)
    add(matcher.finish())
    quarter = max(len(took) // 4, 1)
    # in the first one kernels are compiled
    return {**found, "growth": sum(took[-quarter:]) / sum(took[quarter : 2 * quarter] or took)}
