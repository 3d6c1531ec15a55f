"""Stage 5: run plans over tables that fit in memory, in this process."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelWarning, outer_level
from ouzel.logical.columns import needed_columns
from ouzel.logical.expressions import Expression, MatchNumber
from ouzel.logical.pattern import has_conjunction_or_group
from ouzel.optimizer.plan import Plan
from ouzel.optimizer.share import shared
from ouzel.physical.apart import ApartPlan
from ouzel.physical.contract import AddsUp, Counters, Found, Matching, PhysicalPlan
from ouzel.physical.event_table import EventTable
from ouzel.physical.limit_errors import advising, of_list
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import MatchTable
from ouzel.physical.match_totals import MatchTotals
from ouzel.runtimes.aggregates import aggregate_table, totals_table
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.composites import composite_events, read_by
from ouzel.runtimes.members import MembersMatching
from ouzel.runtimes.partition_keys import match_numbers
from ouzel.runtimes.results import result_table

# From so many events on, one should know that an event takes so many nanoseconds; or that combinations are tried.
SLOW_FROM, SLOW, COMBINED_FROM = 100_000, 50_000, 100

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
    return {plan.query.name: table for plan, _matches, table in found if not plan.query.hidden}


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
    composites: dict[str, EventTable] = {}
    groups = shared(plans)
    steps = _Steps(progress, len(groups))
    for some, physical in groups:
        if len(some) > 1:
            found = _find_shared(some, physical, events, limits, steps, counters or Counters())
        else:
            (plan,) = some
            given = read_by(plan.query, events, composites, needed_columns([plan.query]))
            with advising(plan.query, of_list(plan.query) if len(groups) > 1 else ""):
                found = [(plan, *_answer(plan, given, limits, steps, counters or Counters(), threads))]
        for plan, matches, table in found:
            if plan.query.into is not None:
                assert matches is not None
                composites[plan.query.into] = composite_events(plan.query, matches, table)
            yield plan, matches, table


def _find_shared(
    plans: Sequence[Plan],
    physical: PhysicalPlan,
    events: EventTable,
    limits: Limits,
    steps: _Steps,
    counters: Counters,
) -> list[tuple[Plan, MatchTable | None, pa.Table]]:
    """The matches of queries that share a plan, and their results."""
    given = events.select(needed_columns([plan.query for plan in plans]))
    matching = physical.begin(limits, once=True)
    founds = matching.push(given, None, steps.tell(len(events)))
    counters.add(matching.counters)
    steps.add(len(events), len(events))
    steps.next_query()
    return [(plan, one.matches, result_table(one)) for plan, one in zip(plans, founds, strict=True)]


def _answer(
    plan: Plan, events: EventTable, limits: Limits, steps: _Steps, counters: Counters, threads: int
) -> tuple[MatchTable | None, pa.Table]:
    """The matches of one query among events, if they had to be written out, and its result."""
    query = plan.query
    totals = _totals(plan, events, limits, steps) if query.aggregates and len(events) else None
    if totals is not None:
        return None, totals_table(query, totals, events)
    found = _find_query(plan, events, limits, steps, counters, threads)
    if query.aggregates:
        return found.matches, aggregate_table(found)
    return found.matches, result_table(_numbered(found), threads)


def _find_query(
    plan: Plan, events: EventTable, limits: Limits, steps: _Steps, counters: Counters, threads: int
) -> Found:
    """The matches of one query among events."""
    if not len(events):
        steps.next_query()
        return Found.nothing(plan.query, events)  # for which nothing need be compiled
    few = COMBINED_FROM if has_conjunction_or_group(plan.query.pattern) else SLOW_FROM
    if plan.cost >= SLOW and len(events) >= few and not plan.is_asked:
        _warn_of_slowness(plan, len(events))
    if isinstance(plan.physical, ApartPlan):
        matching: Matching = MembersMatching(plan.physical, limits, Chain)
    else:
        matching = plan.physical.begin(limits, once=True, threads=threads)
    (found,) = matching.push(events, None, steps.tell(len(events)))
    counters.add(matching.counters)
    steps.add(len(events), len(events))
    steps.next_query()
    return found


def _numbered(found: Found) -> Found:
    """The same with the numbers of matches, which no single one tells."""

    def compute(expression: Expression) -> Any:
        if isinstance(expression, MatchNumber):
            return match_numbers(found.query, found.matches, found.events)
        return found.compute(expression)

    return replace(found, compute=compute)


def _totals(plan: Plan, events: EventTable, limits: Limits, steps: _Steps) -> MatchTotals | None:
    """Totals over matches that need not be written out; None if the plan cannot do without."""
    if not isinstance(plan.physical, AddsUp):
        return None
    totals = plan.physical.totals(events, limits, steps.tell(len(events)))
    if totals is not None:
        steps.add(len(events), len(events))
        steps.next_query()
    return totals


def _warn_of_slowness(plan: Plan, events: int) -> None:
    why = "; ".join(f"not {name}: {reason}" for name, reason in plan.passed_over)
    text = f"the {plan.engine} matcher goes through {events:,} events one by one, which may take long ({why})"
    hint = "match fewer events at once, or say it with what is compiled; explain shows what runs where"
    warnings.warn(f"{text}\n  hint: {hint}", OuzelWarning, stacklevel=outer_level())


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
