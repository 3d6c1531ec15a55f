"""SASE's experiments (section 5): sequences over 20 uniform types, one event per tick.

The paper repeats batches of the window's length until throughput converges; here a stream is matched as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Row, measure, relative
from ouzel.bench.peers import DuckDB, numpy_pass
from ouzel.bench.sequences import Sequence
from ouzel.testing.papers import sase_stream

OUZEL, DUCKDB = "Ouzel", "DuckDB"
EQUIVALENCES = {
    "combined": "both by partitions",
    "dynamic": "dynamic filtering",
    "multi": "Multi-PAIS",
    "selection": "selection",
}
NONE: Mapping[str, Contender] = {}
V2 = 20
FEW = 150_000
SLOW = 5.0


def ouzel(stream: pa.Table, sequence: Sequence, **options: Any) -> Contender:
    """Ouzel on a sequence."""
    query = oz.query(sequence.query)
    return Contender(partial(oz.match, stream, query, **options), lambda found: {"matches": found.num_rows})


def sase_1(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 1: the domain of the equivalence attribute; window 10,000, length 3."""
    yield from relative(_domains(events, times), to="domain 10,000")


def _domains(events: int, times: int) -> Iterator[Row]:
    for domain in (100, 1_000, 10_000):
        stream = sase_stream(events, domain)
        limit = {"one pass in NumPy": numpy_pass(stream, ("ts", "type", "attr1"))}
        yield from _beside_duckdb(f"domain {domain:,}", stream, Sequence(), times, others=limit)


def sase_2(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 2: the window; domain 10,000, length 3."""
    stream = sase_stream(events, 10_000)
    rows = (
        row
        for window in (10_000, 20_000, 50_000, 100_000)
        for row in measure(f"window {window:,}", events, {OUZEL: ouzel(stream, Sequence(window=window))}, times)
    )
    yield from relative(rows, to="window 10,000")


def sase_3(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 3: strategies for a second equivalence test, of domain 20; by the domain of the first.

    The paper's `selection` still evaluates the first test by partitions.  Here it evaluates both on complete
    sequences, which is what the paper's initial experiment could not complete: it gets fewer events.
    """
    sequence = Sequence(tests=("attr1", "attr2"))
    for domain in (10, 100, 1_000, 10_000):
        stream = sase_stream(events, domain, V2)
        label = f"domain {domain:,}"
        several = {
            name: ouzel(stream, sequence, engine="scan", tuning={"equivalence": equivalence})
            for equivalence, name in EQUIVALENCES.items()
            if equivalence != "selection"
        }
        yield from measure(label, events, several, times)
        few = stream.slice(0, FEW)
        selection = ouzel(few, sequence, engine="scan", tuning={"equivalence": "selection"})
        selection = replace(selection, note=f"{len(few):,} events")
        yield from measure(label, len(few), {EQUIVALENCES["selection"]: selection}, times)


def sase_4(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 4: a simple and a parameterized predicate more; domain 100, window 10,000, length 3."""
    stream = sase_stream(events, 100)
    simple, between = "x2.attr3 < 50", "x1.attr4 < x3.attr4"
    cases: dict[str, tuple[str, ...]] = {
        "[attr1]": (),
        "and simple": (simple,),
        "and parameterized": (between,),
        "and both": (simple, between),
    }
    rows = (
        row
        for label, conditions in cases.items()
        for row in measure(label, events, {OUZEL: ouzel(stream, Sequence(conditions=conditions))}, times)
    )
    yield from relative(rows, to="[attr1]")


def sase_5(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 5: the length of the sequence; domain 100, window 10,000.

    A database that was slow at some length is not asked for longer ones.
    """
    yield from relative(_lengths(events, times), to="length 2")


def _lengths(events: int, times: int) -> Iterator[Row]:
    stream = sase_stream(events, 100)
    is_slow = False
    for length in range(2, 7):
        contenders = {OUZEL: ouzel(stream, Sequence(length))}
        peer = None if is_slow else DuckDB.of(stream)
        if peer is not None:
            contenders[DUCKDB] = next(one for one in peer.joins(Sequence(length)) if one.note == "buckets")
        rows = list(measure(f"length {length}", events, contenders, times, against=DUCKDB))
        is_slow = rows[-1].figures["first call"] > SLOW
        yield from rows


def sase_6(events: int, times: int) -> Iterator[Row]:
    """SASE's experiment 6: the domain, with one equivalence test and with two; window 10,000, length 3."""
    yield from relative(_tests(events, times), to="domain 10,000")


def _tests(events: int, times: int) -> Iterator[Row]:
    for domain in (10, 100, 1_000, 10_000):
        stream = sase_stream(events, domain, V2)
        for suffix, tests in ((", 1 test", ("attr1",)), (", 2 tests", ("attr1", "attr2"))):
            yield from _beside_duckdb(f"domain {domain:,}", stream, Sequence(tests=tests), times, suffix)


def _beside_duckdb(
    varied: str,
    stream: pa.Table,
    sequence: Sequence,
    times: int,
    suffix: str = "",
    others: Mapping[str, Contender] = NONE,
) -> Iterator[Row]:
    """A sequence on Ouzel, and on DuckDB, if it is there, in its fastest formulation."""
    contenders = {OUZEL + suffix: ouzel(stream, sequence)}
    peer = DuckDB.of(stream)
    if peer is not None:
        contenders[DUCKDB + suffix] = peer.fastest(sequence)
    yield from measure(varied, len(stream), {**contenders, **others}, times, against=DUCKDB + suffix)
