"""The experiments: what varies, on which stream, with which query, beside which peer.

Each is named after the paper's.  Times are the best of several runs; compiling is apart, as the first run is not
counted.  Read the ratios: the machine is what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.bench.peers import duckdb_join
from ouzel.errors import OuzelError
from ouzel.testing.papers import sase_stream, stock_stream


@dataclass(frozen=True)
class Row:
    """One measurement: what was varied, the matches, and the seconds it took, the peer's too if it has one."""

    varied: str
    events: int
    matches: int
    seconds: float
    peer: float | None = None

    @property
    def rate(self) -> float:
        """Events a second."""
        return self.events / self.seconds

    @property
    def ratio(self) -> float | None:
        """How many times faster than the peer."""
        return None if self.peer is None else self.peer / self.seconds


def best(run: Callable[[], Any], times: int) -> tuple[Any, float]:
    """The result of a run, and the shortest time of several."""
    seconds = []
    result = None
    for _ in range(times):
        began = perf_counter()
        result = run()
        seconds.append(perf_counter() - began)
    return result, min(seconds)


def sequence(length: int, window: int) -> str:
    """SASE's template: a sequence of different types with one equivalence test."""
    types = ", ".join(f"E{number} x{number}" for number in range(1, length + 1))
    returned = ", ".join(f"x{number}.ts AS t{number}" for number in range(1, length + 1))
    return f"PATTERN SEQ({types}) WHERE [attr1] WITHIN {window} RETURN {returned}"


def _sequences(events: int, times: int, cases: list[tuple[str, int, int, int]], peer: bool) -> Iterator[Row]:
    streams: dict[int, pa.Table] = {}
    for varied, domain, window, length in cases:
        stream = streams.setdefault(domain, sase_stream(events, domain))
        query = oz.query(sequence(length, window))
        oz.match(stream, query)
        found, seconds = best(partial(oz.match, stream, query), times)
        beside = duckdb_join(stream, length, window, times) if peer else None
        if beside is not None and beside[0] != found.num_rows:
            raise OuzelError(f"{varied}: {found.num_rows:,} matches, and the peer has {beside[0]:,}")
        yield Row(varied, events, found.num_rows, seconds, None if beside is None else beside[1])


def sase_1(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 1: the domain of the equivalence attribute, window 10,000, length 3."""
    cases = [(f"domain {domain:,}", domain, 10_000, 3) for domain in (100, 1_000, 10_000)]
    yield from _sequences(events, times, cases, peer=True)


def sase_2(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 2: the window, domain 10,000, length 3."""
    cases = [(f"window {window:,}", 10_000, window, 3) for window in (10_000, 50_000, 100_000)]
    yield from _sequences(events, times, cases, peer=False)


def sase_3(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 3: the length of the sequence, domain 10,000, window 10,000."""
    cases = [(f"length {length}", 10_000, 10_000, length) for length in range(2, 7)]
    yield from _sequences(events, times, cases, peer=False)


PREDICATES = {"p1": "a[i].price > 0", "p2": "a[i].price > a[i-1].price", "p3": "a[i].price > min(a[..i-1].price)"}
STRATEGIES = {"s2": "partition_contiguity", "s3": "skip_till_next_match"}


def sase_plus_1(events: int, times: int) -> Iterator[Row]:
    """SASE+'s experiment 1: iterator predicate and strategy, window 500 events, all matches written out."""
    stream = stock_stream(events)
    for predicate, condition in PREDICATES.items():
        for strategy, name in STRATEGIES.items():
            query = oz.query(
                f"""PATTERN(STOCK+ a[], STOCK b)
                where {name} {{[symbol] ∧ a[1].price %500==0 ∧ {condition} ∧ b.volume <150}}
                within 500 EVENTS RETURN a[].ts AS a, b.ts AS b"""
            )
            oz.match(stream, query, type=None)
            found, seconds = best(partial(oz.match, stream, query, type=None), times)
            yield Row(f"{predicate} {strategy}", events, found.num_rows, seconds)


EXPERIMENTS: dict[str, tuple[Callable[[int, int], Iterator[Row]], int]] = {
    "sase-1": (sase_1, 5_000_000),
    "sase-2": (sase_2, 5_000_000),
    "sase-3": (sase_3, 5_000_000),
    "sase+-1": (sase_plus_1, 500_000),
}
"""By name: the experiment, and the number of events of its full form."""
