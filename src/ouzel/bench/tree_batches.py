"""Trees whose events come in batches: how plans adapt to a stream that changes, and the memory that they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from time import process_time

import numpy as np
import pyarrow as pa

from ouzel.bench.measure import Figures, Row, timed
from ouzel.bench.own_process import forget_peak, in_own_process, peak_memory
from ouzel.bench.tree_plans import AUTO, AUTOMATA, event_table, physical_plan, ranked
from ouzel.bench.zstream import FOUR, QUERY_6, QUERY_6_SETTINGS, QUERY_8, THREE
from ouzel.physical.contract import Matching, PhysicalPlan
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.testing.papers import quotes, web_log

BATCH = 2_000
WHOLE = "the whole"
Plans = Mapping[str, tuple[str, Mapping[str, str]]]
"""By name, an engine and how it is tuned."""


def _plans(fixed: Mapping[str, str]) -> Plans:
    trees = {name: ("tree", {"plan": plan}) for name, plan in {**fixed, AUTO: AUTO}.items()}
    return {**trees, **{engine: (engine, {}) for engine in AUTOMATA}}


def zstream_14(events: int, times: int) -> Iterator[Row]:
    """ZStream's figure 14: a plan that adapts, on the streams of figure 12 one after the other (Query 6)."""
    edges = np.linspace(0, events, len(QUERY_6_SETTINGS) + 1).astype(int).tolist()
    parts = [
        quotes(end - begin, setting.rates, setting.below, begin=begin)
        for setting, (begin, end) in zip(QUERY_6_SETTINGS, pairwise(edges), strict=True)
    ]
    table = event_table(pa.concat_tables(parts))
    plans = {
        name: physical_plan(QUERY_6, table, engine, tuning) for name, (engine, tuning) in _plans(FOUR).items()
    }
    figures = {name: _by_segment(plan, table, edges) for name, plan in plans.items()}
    first = {name: own[-1]["seconds"] for name, own in figures.items()}
    for _ in range(times):
        for name, plan in plans.items():
            again = _by_segment(plan, table, edges)
            figures[name] = [
                min(pair, key=lambda one: one["seconds"]) for pair in zip(figures[name], again, strict=True)
            ]
    for number, label in enumerate([*(setting.label for setting in QUERY_6_SETTINGS), WHOLE]):
        rows = [Row(label, name, {**own[number], "first call": first[name]}) for name, own in figures.items()]
        yield from ranked(rows, tuple(FOUR), {})


def _by_segment(plan: PhysicalPlan, table: EventTable, edges: Sequence[int]) -> list[Figures]:
    """The figures of each segment of a stream, and of the whole."""
    at_work = plan.begin(Limits())
    figures = [_pushed(at_work, table, begin, end) for begin, end in pairwise(edges)]
    figures.append({name: sum(one[name] for one in figures) for name in ("matches", "seconds")})
    lengths = [*(end - begin for begin, end in pairwise(edges)), len(table)]
    for one, length in zip(figures, lengths, strict=True):
        one["events/s"] = length / one["seconds"]
    figures[-1]["switches"] = at_work.counters.switches
    return figures


def _pushed(at_work: Matching, table: EventTable, begin: int, end: int) -> Figures:
    """Push some events, batch after batch."""
    matches, total = 0, 0.0
    for first in range(begin, end, BATCH):
        last = min(first + BATCH, end)
        now = int(table.end_times[last]) if last < len(table) else None
        (found,), seconds = timed(partial(at_work.push, table.slice(first, last), now), process_time)
        matches += len(found.matches)
        total += seconds
    return {"matches": matches, "seconds": total}


def zstream_table_3(events: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - memory needs one run
    """ZStream's table 3: the memory of plans for Query 6."""
    for setting in QUERY_6_SETTINGS[:2]:
        yield from _memory(setting.label, quotes(events, setting.rates, setting.below), QUERY_6, _plans(FOUR))


def zstream_table_5(records: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - memory needs one run
    """ZStream's table 5: the memory of plans for Query 8."""
    yield from _memory("web log", web_log(records), QUERY_8, _plans(THREE))


def _memory(varied: str, stream: pa.Table, text: str, plans: Plans) -> Iterator[Row]:
    for name, (engine, tuning) in plans.items():
        yield Row(varied, name, in_own_process(watched, stream, text, engine, dict(tuning)))


def watched(stream: pa.Table, text: str, engine: str, tuning: Mapping[str, str]) -> Figures:
    """Push a stream twice, as kernels are compiled the first time: how much memory it takes the second."""
    table = event_table(stream)
    plan = physical_plan(text, table, engine, tuning)
    first = _pushed(plan.begin(Limits()), table, 0, len(table))["seconds"]
    before = forget_peak()
    at_work = plan.begin(Limits())
    figures = _pushed(at_work, table, 0, len(table))
    return {
        **figures,
        "first call": first,
        "events/s": len(table) / figures["seconds"],
        "peak MB": (peak_memory() - before) / 1e6,
        "most records": at_work.counters.peak,
    }
