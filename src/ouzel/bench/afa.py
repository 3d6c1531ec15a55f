"""AFA's experiments over events in order: beside a recursive join, with arcs that change, with ignorable events.

One thread matches, and the time is that of the processor, which other work on the machine hardly changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure, rows_of, timed
from ouzel.bench.peers import DuckDB
from ouzel.bench.tick_queries import (
    LENGTH,
    embedded_query_1,
    query_1,
    query_3,
    recursive_query_1,
    tick_arc,
)
from ouzel.compile import compile_query
from ouzel.physical.limits import Limits
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.state.snapshot import read_snapshot
from ouzel.testing.papers import tick_stream

PAPERS_EVENTS = 100_000
BATCH = 10_000
# Figure 9: how many events a push has, and between changes.
FEW, BETWEEN = 10, (10, 100, 1_000)
# Restarting takes so long that so many times fewer events are enough.
FEWER = 10
IGNORABLE = (0.0, 0.2, 0.5, 0.8, 0.9)
# Figures 16 and 17: runs that are left as they are, kept once, and copied.
SPECULATING = {"speculating": {"ignorable": "on"}, "speculating, copied": {"ignorable": "off"}}
DUCKDB, STATIC = "DuckDB, recursive", "static"
TARGET_RATE, TARGET_TIMES = 5_000_000, 5


def afa_8(events: int, times: int) -> Iterator[Row]:
    """AFA's figure 8: Q1 with k = 2 and a window of 2,000, beside one loop that embeds it and a recursive join."""
    for size in dict.fromkeys((min(events, PAPERS_EVENTS), events)):
        stream = tick_stream(size)
        automaton = query_1(2, 2_000)
        contenders = {
            "automaton": _matched(stream, automaton),
            "automaton, planned before": _planned(stream, automaton),
            f"automaton, {BATCH:,} at a time": Contender(partial(pushed, stream, automaton, BATCH), matches),
            "CAN": _matched(stream, embedded_query_1(2, 2_000)),
        }
        peer = DuckDB.of(stream, threads=1)
        if peer is not None:
            contenders[DUCKDB] = peer.query(recursive_query_1(2, 2_000))
        for row in measure(f"{size:,} events", size, contenders, times, DUCKDB, process_time):
            if row.series.startswith("automaton"):
                row.figures["of target"] = row.figures["events/s"] / TARGET_RATE
            yield row


def afa_9(events: int, times: int) -> Iterator[Row]:
    """AFA's figure 9: an arc of Q3 changes every so many events, beside none that does, and beginning anew."""
    stream = tick_stream(events)
    fewer = stream.slice(0, max(events // FEWER, min(events, 1_000)))
    for between in BETWEEN:
        contenders = {
            STATIC: changing(stream, 0),
            "changed": changing(stream, between),
        }
        yield from measure(f"every {between:,}", events, contenders, times, STATIC, process_time)
        again = {"restarted": Contender(partial(restarting, fewer, between))}
        yield from measure(f"every {between:,}", len(fewer), again, 1, clock=process_time)


def afa_16(events: int, times: int) -> Iterator[Row]:
    """AFA's figure 16: Q1 with k = 1 and a window of 500, by the share of events that it ignores."""
    for share in IGNORABLE:
        stream, automaton = tick_stream(events, ignorable=share), _ignoring()
        contenders = {
            "match": _matched(stream, automaton),
            "1,000 at a time": Contender(partial(pushed, stream, automaton, 1_000), matches),
        }
        for series, tuning in SPECULATING.items():
            contenders[series] = Contender(partial(_speculated, stream, tuning), lambda found: {"matches": found})
        yield from measure(f"{share:.0%} ignorable", events, contenders, times, clock=process_time)


def afa_17(events: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - memory is the same each time
    """AFA's figure 17: the state of a matcher of Q1, by the share of events that it ignores."""
    for share in IGNORABLE:
        stream = tick_stream(events, ignorable=share)
        yield Row(f"{share:.0%} ignorable", "final only", _watched(stream, 0, {}))
        for series, tuning in SPECULATING.items():
            yield Row(f"{share:.0%} ignorable", series, _watched(stream, "inf", tuning))


def _ignoring() -> oz.Automaton:
    return query_1(1, 500, 0.0, ignores=True)


# ---- contenders ------------------------------------------------------------------------------------------


def matches(found: Any) -> Figures:
    """How many there are."""
    return {"matches": rows_of(found)}


def _matched(stream: pa.Table, query: oz.Automaton) -> Contender:
    return Contender(partial(oz.match, stream, query, type=None, threads=1), matches)


def _planned(stream: pa.Table, query: oz.Automaton) -> Contender:
    """Matching alone, by a plan that is there already."""
    events, _restore = ingest(stream, Reading(type=None), Report())
    (plan,) = compile_query(query.text, events.schema, {}).plans

    def run() -> int:
        (found,) = plan.physical.begin(Limits(), once=True, threads=1).push(events, None)
        return len(found.matches)

    return Contender(run, lambda found: {"matches": found})


def pushed(stream: pa.Table, query: oz.Automaton, size: int) -> list[pa.Table]:
    """What a matcher finds, so many events at a time."""
    matcher = oz.matcher(query, stream.schema, type=None, threads=1)
    found = [matcher.push(stream.slice(begin, size)) for begin in range(0, len(stream), size)]
    return [*found, matcher.finish()]


def _watching(stream: pa.Table, speculation: Any, tuning: Mapping[str, str]) -> Any:
    """A matcher for which time passes only as it is told."""
    options = {"speculation": speculation, "watermark": len(stream), "tuning": tuning}
    return oz.matcher(_ignoring(), stream.schema, type=None, threads=1, **options)


def _speculated(stream: pa.Table, tuning: Mapping[str, str], size: int = 1_000) -> int:
    """How many matches there are, reported before time passes them."""
    matcher = _watching(stream, "inf", tuning)
    for begin in range(0, len(stream), size):
        matcher.push(stream.slice(begin, size), watermark=begin)
    matcher.finish()
    return int(matcher.report.matches)


def _watched(stream: pa.Table, speculation: Any, tuning: Mapping[str, str], size: int = 1_000) -> Figures:
    """How large the state of a matcher becomes, looked at after every push, before time passes the batch."""
    matcher = _watching(stream, speculation, tuning)
    sizes, kept, runs, seconds = [], [], [], []
    for begin in range(0, len(stream), size):
        batch = stream.slice(begin, size)
        seconds.append(timed(partial(matcher.push, batch, watermark=begin), process_time)[1])
        snapshot = matcher.snapshot()
        sizes.append(len(snapshot) / 1e3)
        kept.append(_size_of_runs(snapshot) / 1e3)
        runs.append(matcher.open_runs)
    matcher.finish()
    figures = {"matches": matcher.report.matches, "first call": seconds[0], "seconds": sum(seconds)}
    held = {"runs": median(runs), "runs kB": median(kept)}
    return {**figures, **held, "state kB": median(sizes), "largest kB": max(sizes)}


def _size_of_runs(snapshot: bytes) -> int:
    """How many bytes runs take, with their registers: what the paper calls memory (6.1)."""
    _header, values = read_snapshot(snapshot)
    rooms = (".runs.runs.", ".runs.rows.", ".runs.ri", ".runs.rf")
    return sum(array.nbytes for name, array in values.items() if any(room in name for room in rooms))


# ---- arcs that change ------------------------------------------------------------------------------------


class Flips:
    """Changes of Q3: an arc at random, up in place of down or down in place of up."""

    def __init__(self) -> None:
        """Begin with arcs at random."""
        self.query, self.ups = query_3(500)
        self.rng = np.random.default_rng(1)

    def next(self) -> tuple[dict[str, str], str]:
        """The arc that comes, and the id of the one that goes."""
        place = int(self.rng.integers(0, LENGTH))
        gone = tick_arc(place, up=self.ups[place])["id"]
        self.ups[place] = not self.ups[place]
        return tick_arc(place, up=self.ups[place]), gone


def changing(stream: pa.Table, between: int) -> Contender:
    """What is found with an arc that changes every so many events, all drawn before; 0: never."""
    flips = Flips()
    query, drawn = flips.query, [flips.next() for _ in range(-(-len(stream) // between) if between else 0)]

    def run() -> list[pa.Table]:
        found, changes = [], iter(drawn)
        matcher = oz.matcher(query, stream.schema, type=None, threads=1)
        for begin in range(0, len(stream), FEW):
            found.append(matcher.push(stream.slice(begin, FEW)))
            if between and (begin + FEW) % between == 0:
                came, gone = next(changes)
                found.append(matcher.change(add=[came], remove=[gone]))
        return [*found, matcher.finish()]

    return Contender(run)


def restarting(stream: pa.Table, between: int) -> int:
    """The same with a new matcher for every change, which is given the events of the window first."""
    flips, found, query = Flips(), 0, Flips().query
    matcher = oz.matcher(query, stream.schema, type=None, threads=1)
    for begin in range(0, len(stream), FEW):
        found += matcher.push(stream.slice(begin, FEW)).num_rows
        if (end := begin + FEW) % between == 0:
            came, gone = flips.next()
            arcs = [came if arc["id"] == gone else arc for arc in query.spec["arcs"]]
            query = oz.automaton({**query.spec, "arcs": arcs})
            matcher = oz.matcher(query, stream.schema, type=None, threads=1)
            active = max(end - 500, 0)
            matcher.push(stream.slice(active, end - active))
    return found
