"""What it takes to get very many queries ready, and to add one to them, or remove one, while they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from statistics import fmean
from time import process_time
from typing import Any

import ouzel as oz
from ouzel.bench.many_queries import quarters, ready
from ouzel.bench.many_texts import texts
from ouzel.bench.measure import Contender, Figures, Row, measure, timed
from ouzel.bench.technical import TEMPLATES, Workload, technical_stream
from ouzel.testing.papers import sase_stream

CHANGES = 1_000
# Events before the first change, enough for kernels to be compiled and for indexes to be there.
EVENTS = 25_000
TARGET_MS = 1
# How many queries planning is told of, and how long it is to take for those of one template.
PLANNED, TARGET_SECONDS = 200_000, 5
# Texts are dearer: so many times fewer are planned.
FEWER = 50
EVENT, ADD, REMOVE = "an event", "add", "remove"


def cayuga_add(queries: int, times: int) -> Iterator[Row]:  # noqa: ARG001 - a thousand changes are enough
    """How long it takes to add a query to very many, and to remove one, while events come.

    A change may leave work to the next event: so it is timed with an event after it, too, and `ms more` is what
    that takes beyond an event alone.
    """
    for size in dict.fromkeys((max(queries // 100, 1), max(queries // 10, 1), queries)):
        for series, figures in changed(size).items():
            yield Row(f"{size:,} queries", series, figures)


def changed(size: int) -> dict[str, Figures]:
    """What events, additions and removals take of a matcher of so many queries."""
    ((attributes, parameters),) = Workload(size + 2 * CHANGES).sets()
    form = oz.queries(TEMPLATES["Filter"](attributes), parameters.slice(0, size))
    events = technical_stream(EVENTS + 3 * CHANGES)
    matcher = oz.matcher(form, events.schema, type=None, threads=1)
    matcher.push(events.slice(0, EVENTS))
    coming = (events.slice(place, 1) for place in range(EVENTS, len(events)))
    others = parameters.slice(size).to_pylist()
    numbers = [values.pop("id") for values in others]
    in_a_row, then_an_event = range(CHANGES), range(CHANGES, 2 * CHANGES)

    def push(_number: int) -> None:
        matcher.push(next(coming))

    def add(number: int) -> None:
        matcher.add(numbers[number], others[number])

    def remove(number: int) -> None:
        matcher.remove(numbers[number])

    figures = {EVENT: _each(in_a_row, push)}
    for series, change in ((ADD, add), (REMOVE, remove)):
        figures[series] = _each(in_a_row, change)
        figures[f"{series}, then an event"] = both = _each(then_an_event, change, push)
        both["ms more"] = both["ms each"] - figures[EVENT]["ms each"]
        if series == ADD:
            figures[series]["of target"] = TARGET_MS / figures[series]["ms each"]
            both["of target"] = TARGET_MS / max(both["ms more"], figures[series]["ms each"])
    return figures


def _each(numbers: Iterable[int], *changes: Callable[[int], None]) -> Figures:
    """The figures of as many changes, in milliseconds each."""
    seconds = [timed(partial(_all, changes, number), process_time)[1] for number in numbers]
    return {
        "ms each": 1_000 * fmean(seconds),
        "worst ms": 1_000 * max(seconds),
        "first call": seconds[0],
        "seconds": sum(seconds),
    }


def _all(changes: Iterable[Callable[[int], None]], number: int) -> None:
    for change in changes:
        change(number)


def cayuga_planning(queries: int, times: int) -> Iterator[Row]:
    """From queries to a matcher that has taken an event: sets of one template, and lists of texts.

    `for 200,000` is computed from the time of as many as there were.
    """
    for size in quarters(queries):
        for series, drawn in (("Filter", False), ("Filter, attributes drawn", True)):
            workload = Workload(size, drawn=drawn)
            yield from _planned(f"{size:,} queries", series, size, _sets(workload, times), times)
    for size in quarters(max(queries // FEWER, 1)):
        yield from _planned(f"{size:,} texts", "texts", size, _texts(size, times), times)


def _planned(varied: str, series: str, size: int, run: Callable[[], Any], times: int) -> Iterator[Row]:
    for row in measure(varied, size, {series: Contender(run)}, times, clock=process_time):
        seconds = row.figures["seconds"]
        told: Figures = {"ms a query": 1_000 * seconds / size, f"for {PLANNED:,}": seconds * PLANNED / size}
        if series == "Filter":
            told["of target"] = TARGET_SECONDS / told[f"for {PLANNED:,}"]
        kept = {name: figure for name, figure in row.figures.items() if name != "events/s"}
        yield replace(row, figures={**kept, **told})


def _sets(workload: Workload, times: int) -> Callable[[], Any]:
    """Planning a workload, whose parameters are drawn before, and are others each time."""
    event = technical_stream(1)
    coming = iter([list(replace(workload, seed=seed).sets()) for seed in range(times + 1)])

    def run() -> Any:
        made = [oz.queries(TEMPLATES[workload.template](attributes), table) for attributes, table in next(coming)]
        return ready(made if workload.drawn else made[0], event, type=None)

    return run


def _texts(size: int, times: int) -> Callable[[], Any]:
    """Planning texts, which are others each time: of those that were seen, the parser knows what it found."""
    event = sase_stream(1)
    coming = iter([texts(size, seed=seed) for seed in range(times + 1)])
    return lambda: ready(next(coming), event)
