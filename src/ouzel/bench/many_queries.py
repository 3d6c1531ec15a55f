"""Cayuga's figures 16 and 17 (5.1.1, 5.2.1): the throughput of very many queries at once, on one core.

Queries are planned before events come, as in the paper.  Every batch has other events, one a tick, and a matcher
goes on from where the last batch left it.  Seconds are those of the processor, which other work on the machine
hardly changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.bench.measure import Contender, Figures, Row, measure, rows_of, timed
from ouzel.bench.own_process import in_own_process, peak_memory
from ouzel.bench.technical import TEMPLATES, Workload, technical_stream

EVENTS = 100_000
ZIPF = (0.8, 1.0, 1.2, 1.4)
SELECTIVITIES = (0.5, 0.6, 0.7, 0.8, 0.9)
# Events a second that are to be reached by queries of the Filter template: whether attributes are drawn, how many.
TARGETS = {False: {200_000: 300_000, 400_000: 200_000}, True: {200_000: 100_000, 400_000: 50_000}}
# How many times faster than the naive system, for so many queries.
TARGET_17 = {10_000: 50}
MERGED, NAIVE = "merged and indexed", "no AN-index"
# How the shared plan is tuned for each curve of figure 17; the naive one has one automaton per query.
OPTIMIZATIONS: dict[str, dict[str, str]] = {
    MERGED: {},
    "no merging": {"merging": "off"},
    NAIVE: {"merging": "off", "index": "off"},
}


def cayuga_16a(queries: int, times: int) -> Iterator[Row]:
    """Cayuga's figure 16(a): throughput by the number of queries, for the five templates."""
    for count in quarters(queries):
        yield from _templates(f"{count:,} queries", Workload(count), times)


def cayuga_16b(queries: int, times: int) -> Iterator[Row]:
    """Cayuga's figure 16(b): throughput by the Zipf parameter of the first step, for the five templates."""
    for parameter in ZIPF:
        workload = Workload(queries, zipf=(parameter, 1, 0.8))
        yield from _templates(f"Zipf {parameter}", workload, times)


def cayuga_16c(queries: int, times: int) -> Iterator[Row]:
    """Cayuga's figure 16(c): throughput by the selectivity of ranges, for the five templates."""
    for selectivity in SELECTIVITIES:
        workload = Workload(queries, selectivity=selectivity)
        yield from _templates(f"selectivity {selectivity}", workload, times)


def cayuga_17(queries: int, times: int) -> Iterator[Row]:
    """Cayuga's figure 17: merging and the AN-index, against one automaton per query behind an FR-index only.

    The naive system is the paper's (5.2.1): the FR-index tells which edges an event satisfies, and these are
    joined with the edges of all active nodes of all automata.  The start of an automaton is always active (4.1),
    and without merging each query has its own.  So for every event all of them are looked for in what the index
    found, in one pass over an array, and so is every node at which a run waits.  There are few of those: every
    second event begins a run of one of 10,000 queries, and about 100 events later another has the value that
    ends it.
    """
    batches = _batches(EVENTS, times)
    for count in quarters(queries):
        form = Workload(count).form()
        contenders = {name: pushed(form, batches, tuning)[0] for name, tuning in OPTIMIZATIONS.items()}
        for row in measure(f"{count:,} queries", EVENTS, contenders, times, against=NAIVE, clock=process_time):
            if row.series == MERGED and count in TARGET_17:
                row.figures["of target"] = row.figures["times faster"] / TARGET_17[count]
            yield row


def quarters(whole: int) -> list[int]:
    """The points of a curve.

    >>> quarters(400_000)
    [100000, 200000, 300000, 400000]
    """
    return list(dict.fromkeys(max(whole * quarter // 4, 1) for quarter in (1, 2, 3, 4)))


def _templates(varied: str, workload: Workload, times: int) -> Iterator[Row]:
    """A row for each template, and one for that in which attributes are drawn too."""
    contenders = {name: replace(workload, template=name) for name in TEMPLATES}
    contenders["Filter, attributes drawn"] = replace(workload, template="Filter", drawn=True)
    for series, one in contenders.items():
        figures = in_own_process(throughput, one, EVENTS, times)
        target = TARGETS[one.drawn].get(one.queries) if one.template == "Filter" else None
        if target is not None:
            figures["of target"] = figures["events/s"] / target
        yield Row(varied, series, figures)


def throughput(workload: Workload, events: int, times: int) -> Figures:
    """The figures of a workload in this process, whose memory is counted in all."""
    contender, planning = pushed(workload.form(), _batches(events, times, workload.domain))
    (row,) = measure(workload.template, events, {workload.template: contender}, times, clock=process_time)
    return {**row.figures, "planning": planning, "peak MB": peak_memory() / 1e6}


def pushed(
    form: Any, batches: Sequence[pa.Table], tuning: Mapping[str, str] | None = None
) -> tuple[Contender, float]:
    """A matcher that takes one batch in each run, and how long it took to get it ready."""
    first = batches[0]
    matcher, planning = timed(partial(ready, form, first.slice(0, 1), type=None, tuning=tuning), process_time)
    coming = iter([first.slice(1), *batches[1:]])

    def push() -> Any:
        batch = next(coming)
        # all that comes of a batch is final at once
        return matcher.push(batch, watermark=batch["ts"][-1].as_py() + 1)

    return Contender(push, lambda found: {"matches": rows_of(found)}), planning


def ready(form: Any, event: pa.Table, **options: Any) -> oz.Matcher:
    """A matcher that has taken one event, as it may leave something to be done until then."""
    matcher = oz.matcher(form, event.schema, threads=1, **options)
    matcher.push(event)
    return matcher


def _batches(events: int, times: int, domain: int = 100) -> list[pa.Table]:
    """One batch for each run, the first included, in which kernels are compiled."""
    return [technical_stream(events, number * events, domain) for number in range(times + 1)]
