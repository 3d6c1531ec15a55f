"""Stage 5: run plans over tables that fit in memory, in this process."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelWarning, outer_level
from ouzel.logical.columns import needed_columns
from ouzel.logical.expressions import Expression, MatchNumber
from ouzel.logical.program import composite_type
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.choose_engine import ASKED
from ouzel.optimizer.plan import Plan, UnsuitableError
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import MatchTable
from ouzel.physical.match_totals import MatchTotals
from ouzel.physical.matching import Counters, Found
from ouzel.physical.reference import Event, Match, Stream, Values, find_matches
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.evaluate import evaluate
from ouzel.physical.reference.partitions import first_key, join
from ouzel.physical.reference.table import match_table
from ouzel.physical.stoppable import stoppable
from ouzel.runtimes.aggregates import aggregate_table, totals_table
from ouzel.runtimes.partition_keys import match_numbers
from ouzel.runtimes.results import Compute, result_table

# From so many events on, one should know that no compiled engine runs.
SLOW_FROM = 100_000

Progress = Callable[[int, int], None]
"""Called with the number of events done and the number there are."""


def run_program(
    plans: Sequence[Plan],
    events: EventTable,
    limits: Limits,
    progress: Progress | None = None,
    counters: Counters | None = None,
    threads: int = 1,
) -> dict[str, pa.Table]:
    """Run queries in the order of their graph; the results by name."""
    found = find_program(plans, events, limits, progress, counters, threads)
    return {plan.query.name: table for plan, _matches, table in found}


def find_program(
    plans: Sequence[Plan],
    events: EventTable,
    limits: Limits,
    progress: Progress | None = None,
    counters: Counters | None = None,
    threads: int = 1,
) -> Iterator[tuple[Plan, MatchTable | None, pa.Table]]:
    """Run queries in the order of their graph; the matches of one may be events of the next.

    Totals over matches come without the matches, where an engine can do that.
    """
    needed = needed_columns([plan.query for plan in plans])
    primitive = events = events.select(needed)
    steps = _Steps(progress, len(plans))
    for plan in plans:
        query = plan.query
        totals = _run_totals(plan, primitive, limits, steps) if query.aggregates else None
        if totals is not None:
            yield plan, None, totals_table(query, totals, primitive)
            continue
        found, compute = find_query(plan, primitive, events, limits, steps, counters, threads)
        matches = found.matches
        if query.aggregates:
            yield plan, matches, aggregate_table(query, matches, found.events)
            continue
        table = result_table(query, matches, found.events.table, _numbering(query, found, compute))
        if query.into is not None:
            intervals = zip(matches.starts, matches.ends, matches.start_times, matches.end_times, strict=True)
            events = events.with_composites(composite_type(query), table, intervals, needed)
        yield plan, matches, table


def find_query(
    plan: Plan,
    primitive: EventTable,
    events: EventTable,
    limits: Limits,
    steps: _Steps | None = None,
    counters: Counters | None = None,
    threads: int = 1,
) -> tuple[Found, Compute]:
    """The matches of one query among events; composite ones among them are only for the reference matcher."""
    steps, counters = steps or _Steps(None, 1), counters or Counters()
    compiled = _run_compiled(plan, primitive, limits, steps, counters, threads)
    return compiled or _run_reference(plan, events, steps, Bounds(limits, counters))


def _numbering(query: BoundQuery, found: Found, compute: Compute) -> Compute:
    """The same, and the numbers of matches, which no single one tells."""

    def numbered(expression: Expression) -> Any:
        if isinstance(expression, MatchNumber):
            return match_numbers(query, found.matches, found.events)
        return compute(expression)

    return numbered


def _run_totals(plan: Plan, events: EventTable, limits: Limits, steps: _Steps) -> MatchTotals | None:
    """Totals over matches that need not be written out; None if the engine cannot do without."""
    if plan.engine != "automaton":
        return None
    matching = plan.physical.begin(limits, once=True)
    totals: MatchTotals | None = stoppable(lambda: matching.totals(events), steps.tell(len(events)))
    if totals is not None:
        steps.add(len(events), len(events))
        steps.next_query()
    return totals


def _run_compiled(
    plan: Plan, events: EventTable, limits: Limits, steps: _Steps, counters: Counters, threads: int
) -> tuple[Found, Compute] | None:
    """Run a compiled engine; None if the plan has none, or if it cannot run over these events."""
    if plan.physical is None:
        if not plan.engine_reason.startswith(ASKED):
            _warn_of_reference(len(events), "; ".join(f"not {name}: {why}" for name, why in plan.passed_over))
        return None
    matching = plan.physical.begin(limits, once=True, threads=threads)
    try:
        found = stoppable(lambda: matching.push(events, None), steps.tell(len(events)))
    except UnsuitableError as why:
        _warn_of_reference(len(events), f"not {plan.engine}: {why}")
        return None
    counters.add(matching.counters)
    steps.add(len(events), len(events))
    steps.next_query()
    return found, compute_by_row(found.matches, found.events)


def _warn_of_reference(events: int, why: str) -> None:
    """Warn of a slow engine where there are many events."""
    if events >= SLOW_FROM:
        text = f"the reference matcher goes through {events:,} events one by one, which may take long ({why})"
        hint = "match fewer events at once, or say it with what is compiled; explain shows what runs where"
        warnings.warn(f"{text}\n  hint: {hint}", OuzelWarning, stacklevel=outer_level())


def _run_reference(plan: Plan, events: EventTable, steps: _Steps, bounds: Bounds) -> tuple[Found, Compute]:
    """Run the reference matcher, which computes RETURN match by match."""
    stream = _stream(plan.query, events)
    matches = _run(plan, stream, steps, bounds)

    def compute(expression: Expression) -> list[Any]:
        return [evaluate(expression, match.bindings, stream) for match in matches]

    return Found(match_table(plan.query, matches), events), compute


def _stream(query: BoundQuery, events: EventTable) -> Stream:
    """The stream that a query reads: the primitive events if it mentions any, and the composites it mentions."""
    mentioned = {name for component in query.components for name in component.type_names}
    composites = {t.name for t in query.schema.types.values() if t.composite}
    reads_primitive = bool(mentioned - composites)
    unread = composites - mentioned
    read = [name in mentioned or (reads_primitive and name not in unread) for name in events.types.names]
    codes, names = events.types.codes.tolist(), events.types.names
    columns = (events.starts, events.ends, events.start_times, events.end_times)
    starts, ends, start_times, end_times = (column.tolist() for column in columns)
    found = [
        Event(row, names[codes[row]], starts[row], ends[row], start_times[row], end_times[row])
        for row in events.order
        if read[codes[row]]
    ]
    return Stream(found, Values(events.table))


def _run(plan: Plan, stream: Stream, steps: _Steps, bounds: Bounds) -> list[Match]:
    """Find the matches, partition by partition where the plan says so."""
    total = len(stream.events)

    def told(events: int) -> None:
        steps.add(events, total)

    if not plan.partition_by:
        matches = find_matches(plan.query, stream, told, bounds)
        steps.next_query()
        return matches
    tests, start = plan.query.equivalences, first_key(plan.query.equivalences)
    parts: dict[Any, list[Event]] = {}
    for event in stream.events:
        key = join(start, event, tests, stream)
        if key is not None:
            parts.setdefault(key, []).append(event)
    matches = []
    for events in parts.values():
        matches += find_matches(plan.query, Stream(events, stream.values), told, bounds)
    steps.next_query()
    return sorted(matches, key=lambda match: match.order(stream, plan.query.components))


class _Steps:
    """Counts events over all queries and tells the caller now and then."""

    def __init__(self, progress: Progress | None, queries: int) -> None:
        self.progress = progress
        self.queries = queries
        self.done = 0
        self.earlier = 0
        self.told = 0

    def add(self, events: int, total: int) -> None:
        self.done += events
        new = self.earlier + self.done - self.told
        if self.progress and (new >= max(1, total * self.queries // 500) or (new > 0 and self.done >= total)):
            self._say(self.earlier + self.done, total)

    def tell(self, total: int) -> Callable[[float], None] | None:
        """What to do with the part that is done of a query; nothing, if nobody wants to know."""
        if self.progress is None:
            return None
        return lambda part: self._say(self.earlier + int(part * total), total)

    def _say(self, done: int, total: int) -> None:
        assert self.progress is not None
        self.told = max(self.told, done)
        self.progress(self.told, max(total * self.queries, self.told))

    def next_query(self) -> None:
        self.earlier += self.done
        self.done = 0
