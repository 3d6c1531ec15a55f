"""Many queries of SASE's kind over one stream: all as one list, against one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure, rows_of
from ouzel.testing.papers import sase_stream

EVENTS = 100_000
TYPES = 20
DOMAIN = 1_000
# Ranges of single events begin at so many different values, and hold so large a share of all.
RANGES = 25
SELECTIVITIES = (0.5, 0.1, 0.02)
WINDOWS = (1_000, 2_000, 5_000, 10_000)
TARGET = 20


def texts(count: int, selectivity: float = 0.1, *, seed: int = 1) -> list[str]:
    """Sequences of three types with equal keys, a range for each event, and a window.

    >>> texts(1)
    ['PATTERN SEQ(E10 a, E9 b, E16 c) WHERE [attr1] AND a.attr2 >= 112 AND a.attr2 < 212
    AND b.attr3 >= 750 AND b.attr3 < 850 AND c.attr4 >= 862 AND c.attr4 < 962 WITHIN 1000
    RETURN a.ts AS t1, b.ts AS t2, c.ts AS t3']
    """
    rng = np.random.default_rng(seed)
    return [_text(selectivity, rng) for _ in range(count)]


def _text(selectivity: float, rng: np.random.Generator) -> str:
    first, second, third = (f"E{number + 1}" for number in rng.choice(TYPES, 3, replace=False))
    width = int(DOMAIN * selectivity)
    lowest = (rng.integers(0, RANGES, 3) * (DOMAIN - width) // (RANGES - 1)).tolist()
    conditions = (
        f"{name} >= {low} AND {name} < {low + width}"
        for name, low in zip(("a.attr2", "b.attr3", "c.attr4"), lowest, strict=True)
    )
    return (
        f"PATTERN SEQ({first} a, {second} b, {third} c) WHERE [attr1] AND {' AND '.join(conditions)} "
        f"WITHIN {rng.choice(WINDOWS)} RETURN a.ts AS t1, b.ts AS t2, c.ts AS t3"
    )


def cayuga_texts(queries: int, times: int) -> Iterator[Row]:
    """Text queries of SASE's kind over one stream, by the selectivity of ranges: as one list, and one by one."""
    batches = [_batch(number) for number in range(times + 1)]
    for selectivity in SELECTIVITIES:
        given = texts(queries, selectivity)
        matched = {
            "one list": partial(oz.match, batches[0], given, threads=1),
            "one by one": partial(_one_by_one, batches[0], given),
        }
        ready = {
            "one list, planned before": _pushed([given], batches),
            "one by one, planned before": _pushed(given, batches),
        }
        for runs in (matched, ready):
            contenders = {series: Contender(run, _matches) for series, run in runs.items()}
            one_list, one_by_one = runs
            varied = f"selectivity {selectivity}"
            for row in measure(varied, EVENTS, contenders, times, against=one_by_one, clock=process_time):
                if row.series == one_list:
                    row.figures["of target"] = row.figures["times faster"] / TARGET
                yield row


def _batch(number: int) -> pa.Table:
    """Some events, behind those of the batches before."""
    events = sase_stream(EVENTS, DOMAIN, types=TYPES, seed=1 + number)
    return events.set_column(0, "ts", pa.array(np.arange(EVENTS) + number * EVENTS))


def _one_by_one(stream: pa.Table, given: Sequence[str]) -> list[pa.Table]:
    return [oz.match(stream, text, threads=1) for text in given]


def _pushed(forms: Sequence[Any], batches: Sequence[pa.Table]) -> Callable[[], list[Any]]:
    """Matchers that take one batch each time."""
    matchers = [oz.matcher(form, batches[0].schema, threads=1) for form in forms]
    coming = iter(batches)

    def push() -> list[Any]:
        batch = next(coming)
        now = batch["ts"][-1].as_py() + 1
        return [matcher.push(batch, watermark=now) for matcher in matchers]

    return push


def _matches(found: Any) -> Figures:
    return {"matches": rows_of(found)}
