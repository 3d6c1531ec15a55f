"""How long one waits for a first answer: each time in a new process, with a cache of kernels of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from tempfile import TemporaryDirectory

from ouzel.bench.measure import Figures, Row, timed
from ouzel.bench.sequences import Sequence

FEW = 10_000
QUERIES = {
    "a sequence": Sequence().query,
    "a closure": """PATTERN SEQ(E1 a, E2+ b[], E3 c)
        WHERE skip_till_next_match { [attr1] AND b[i].attr2 > b[i-1].attr2 AND c.attr2 < avg(b[].attr2) }
        WITHIN 10000 RETURN a.ts AS t1, count(b[]) AS n, c.ts AS t3""",
}


def start_up(events: int, times: int) -> Iterator[Row]:
    """The first answer to a new query: few events, and many with the cache of kernels empty and full."""
    for label, text in QUERIES.items():
        with TemporaryDirectory(prefix="ouzel-bench-") as empty:
            few = [_first_answer(text, FEW, empty) for _ in range(times)]
        many = []
        for _ in range(times):
            with TemporaryDirectory(prefix="ouzel-bench-") as cache:
                many.append((_first_answer(text, events, cache), _first_answer(text, events, cache)))
        yield _row(label, f"{FEW:,} events, not compiled", few)
        yield _row(label, f"{events:,} events, compiled", [one for one, _ in many])
        yield _row(label, f"{events:,} events, from the cache", [one for _, one in many])


def _row(varied: str, series: str, found: list[Figures]) -> Row:
    return Row(varied, series, min(found, key=lambda one: one["first call"]))


def _first_answer(text: str, events: int, cache: str) -> Figures:
    with ProcessPoolExecutor(
        1, mp_context=get_context("spawn"), initializer=_use_cache, initargs=(cache,)
    ) as pool:
        return pool.submit(_answer, text, events).result()


def _use_cache(directory: str) -> None:
    os.environ["OUZEL_CACHE"] = directory


def _answer(text: str, events: int) -> Figures:
    """The time of a first call, of a second one, and what the first took longer, after Ouzel is imported."""
    import ouzel as oz
    from ouzel.testing.papers import sase_stream

    stream = sase_stream(events, 100)
    found, first = timed(partial(oz.match, stream, text))
    _found, again = timed(partial(oz.match, stream, text))
    return {"matches": found.num_rows, "first call": first, "seconds": again, "to get ready": first - again}
