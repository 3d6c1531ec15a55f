"""AFA's experiments over events that are out of order, or withdrawn: output, latency, throughput and memory.

One thread matches, and the time is that of the processor.  Latency is told in the time of the stream, an event a
millisecond, and in the time that a push takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure, timed
from ouzel.bench.tick_queries import query_1, query_2
from ouzel.testing.papers import displaced, tick_stream

WINDOW = 500
# Figures 10 and 11: how many events a push has, which is how exactly latency is told.
TOLD = 50
SPECULATION: tuple[int | str, ...] = (0, 100, 250, 500, 1_000, "inf")
IGNORABLE = (0.7, 0.9)
LATE, LATE_BY = 0.05, 5_000
# The end of the stream lets all that waits be told at once: that is not counted as latency.
AT_THE_END = LATE_BY + 2_000
# Figures 12 and 13.
BATCH, DISORDER, MOVED_BY = 1_000, (0.0, 0.05, 0.1, 0.2, 0.3, 0.5), 1_000
FINAL = "final only"
Options = Mapping[str, Any]
WAYS: dict[str, Options] = {
    "speculating": {"speculation": "inf"},
    "with sequence numbers": {"sequence": "number"},  # AFA+O
    FINAL: {"speculation": 0},
}
# Single events: one of so many comes so much later.
OF, BY, SINGLE = 20, 100, 4_000

Numbers = npt.NDArray[np.int64]


def afa_10(events: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - what is told does not vary
    """AFA's figure 10: how many rows are told of Q1, with 5% of events out of order, by speculation."""
    yield from _speculating(events)


def afa_11(events: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - what is told does not vary
    """AFA's figure 11: how late matches of Q1 are told, with 5% of events out of order, by speculation."""
    yield from _speculating(events)


def _speculating(events: int) -> Iterator[Row]:
    for share in IGNORABLE:
        stream = tick_stream(events, ignorable=share)
        order = displaced(events, LATE, LATE_BY)
        for speculation in SPECULATION:
            yield Row(f"σ = {speculation}", f"{share:.0%} ignorable", _told(stream, order, speculation))


def afa_12(events: int, times: int) -> Iterator[Row]:
    """AFA's figure 12: the throughput of Q2, 1,000 events at a time, by the share that is out of order."""
    stream = tick_stream(events, 0.7)
    stream = stream.append_column("number", stream["ts"])
    # the rates of those that need not wait, where all events are in order
    whole: dict[str, float] = {}
    for share in DISORDER:
        arrival = Arrival.of(stream, displaced(events, share, MOVED_BY))
        contenders = {
            name: Contender(partial(_pushed, arrival, options), lambda found: {"matches": found})
            for name, options in WAYS.items()
        }
        for row in measure(f"{share:.0%} out of order", events, contenders, times, clock=process_time):
            if row.series != FINAL:
                in_order = whole.setdefault(row.series, row.figures["events/s"])
                row.figures["of in order"] = row.figures["events/s"] / in_order
            yield row
    yield from _single(stream.slice(0, min(events, SINGLE)))


def afa_13(events: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - memory is the same each time
    """AFA's figure 13: the state of a matcher of Q2 that speculates, by the share that is out of order."""
    stream = tick_stream(events, 0.7)
    for share in DISORDER:
        arrival = Arrival.of(stream, displaced(events, share, MOVED_BY))
        sizes, seconds = [], []
        for matcher, batch, now in arrival.batches({"speculation": "inf"}, BATCH):
            seconds.append(timed(partial(matcher.push, batch, watermark=now), process_time)[1])
            sizes.append(len(matcher.snapshot()) / 1e3)
        figures = {"first call": seconds[0], "seconds": sum(seconds)}
        yield Row(
            f"{share:.0%} out of order",
            "speculating",
            {**figures, "matches": matcher.report.matches, "state kB": median(sizes), "largest kB": max(sizes)},
        )


@dataclass(frozen=True)
class Arrival:
    """The events of a stream as they arrive, and for each the time before which nothing follows it."""

    events: pa.Table
    follows: Numbers

    @classmethod
    def of(cls, stream: pa.Table, order: Numbers) -> Self:
        """A stream, an event a tick, in some order."""
        return cls(stream.take(pa.array(order)), np.minimum.accumulate(order[::-1])[::-1])

    def batches(
        self, options: Options, size: int, query: oz.Automaton | None = None
    ) -> Iterator[tuple[Any, pa.Table, int]]:
        """A matcher, and batches, each with a punctuation (6.1)."""
        count = len(self.events)
        options = {"type": None, "threads": 1, "watermark": count, **options}
        matcher = oz.matcher(query or query_2(WINDOW), self.events.schema, **options)
        for begin in range(0, count, size):
            end = begin + size
            now = int(self.follows[end]) if end < count else count
            yield matcher, self.events.slice(begin, size), now


def _pushed(arrival: Arrival, options: Options) -> int:
    """How many matches there are in the end."""
    for matcher, batch, now in arrival.batches(options, BATCH):
        matcher.push(batch, watermark=now)
    matcher.finish()
    return int(matcher.report.matches)


# ---- latency ---------------------------------------------------------------------------------------------


def _told(stream: pa.Table, order: Numbers, speculation: Any) -> Figures:
    """How many rows are told, and how many milliseconds after its last tick came a match is told for good.

    That is asked of the matches that stand in the end, the same for all, and of ticks that they do not ignore.
    """
    seconds, withdrawn, rows = [], 0, 0
    standing: dict[int, tuple[int, int, int]] = {}
    query = query_1(1, WINDOW, ignores=True)
    batches = Arrival.of(stream, order).batches({"speculation": speculation}, TOLD, query)
    for place, (matcher, batch, now) in enumerate(batches):
        told, took = timed(partial(matcher.push, batch, watermark=now), process_time)
        seconds.append(took)
        rows += told.num_rows
        columns = (told[name].to_pylist() for name in ("op", "match_id", "valid_from", "valid_to"))
        for op, number, end, until in zip(*columns, strict=True):
            if op > 0:
                standing[number] = (until - WINDOW, end, (place + 1) * TOLD - 1)
            else:
                withdrawn += 1
                del standing[number]
    rows += matcher.finish().num_rows
    arrived = np.empty(len(order), np.int64)
    arrived[order] = np.arange(len(order))
    arrived[stream["change"].to_numpy() == 0] = -1
    late = [
        at - int(arrived[first : end + 1].max())
        for first, end, at in standing.values()
        if end < len(stream) - AT_THE_END
    ]
    return {
        "first call": seconds[0],
        "seconds": sum(seconds),
        "events/s": len(stream) / sum(seconds),
        "matches": matcher.report.matches,
        "rows told": rows,
        "withdrawn": withdrawn,
        "ms late": float(np.mean(late)) if late else 0.0,
    }


def _single(stream: pa.Table) -> Iterator[Row]:
    """What a push of one event takes, where all are in order, and where some are late: of these and of others."""
    places = np.arange(len(stream), dtype=np.float64)
    ordered = _each(stream, np.arange(len(stream)))
    places[OF::OF] += BY + 0.5
    mixed = _each(stream, np.argsort(places, kind="stable"))
    usual = median(ordered["in order"])
    took = {
        "all in order": ordered["in order"],
        "in order, among late ones": mixed["in order"],
        "late": mixed["late"],
    }
    for series, seconds in took.items():
        figures = {"first call": seconds[0], "seconds": median(seconds), "events/s": 1 / median(seconds)}
        yield Row("single events", series, {**figures, "times as long": median(seconds) / usual})


def _each(stream: pa.Table, order: Numbers) -> dict[str, list[float]]:
    """How long the push of each event takes, of those in order and of those that are late."""
    took: dict[str, list[float]] = {"in order": [], "late": []}
    latest = -1
    for matcher, batch, now in Arrival.of(stream, order).batches({"speculation": "inf"}, 1):
        time = batch["ts"][0].as_py()
        series = "in order" if time > latest else "late"
        latest = max(latest, time)
        took[series].append(timed(partial(matcher.push, batch, watermark=now), process_time)[1])
    return took
