"""What no engine can do step by step: the events of the window are kept, and matched anew at every step.

Each query reads the events that are certain: primitive ones before `now`, and composite ones as far as the queries
that make them are settled.  So what it finds can change in one way only: matches that an event after them may
refute fall, until time has passed their windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.language.tree import Strategy
from ouzel.logical.columns import needed_columns
from ouzel.logical.pattern import edge_negatives, negatives_around
from ouzel.logical.program import composite_type
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING
from ouzel.optimizer import Plan, choose_engine
from ouzel.physical import ENGINES
from ouzel.physical.compiled.non_overlap import NONE_KEPT, keep_apart
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.event_types import EventTypes
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Many, MatchTable, One, counts_of
from ouzel.physical.reference.events import Event, Stream, Values
from ouzel.physical.reference.partitions import Key, key_of
from ouzel.runtimes.embedded import find_query
from ouzel.runtimes.results import result_table
from ouzel.runtimes.running_totals import RunningTotals
from ouzel.state.parts import in_parts, part

State = dict[str, Any]


@dataclass
class _Step:
    """A query of the program, and how to find its matches.

    `feeders` are the queries whose matches it reads.  `wait` is how long after its start a match may be refuted,
    None if only the end of the stream tells.  If matches that wait must be kept `apart`, the plan finds them all:
    one that falls must not stand in the way of another.  `before` is the time up to which matches were reported.
    """

    query: BoundQuery
    plan: Plan
    feeders: list[int]
    wait: int | None
    apart: bool
    before: int = BEGINNING
    totals: RunningTotals | None = None

    @classmethod
    def of(cls, plan: Plan, makers: Mapping[str, int]) -> _Step:
        """A step of a program, in which some queries make types of events."""
        query, wait = plan.query, _wait(plan.query)
        names = {name for component in query.components for name in component.type_names}
        feeders = [number for name, number in makers.items() if name in names]
        apart = query.non_overlap and wait != 0
        totals = RunningTotals(query) if query.aggregates else None
        return cls(query, _overlapping(plan) if apart else plan, feeders, wait, apart, totals=totals)

    def is_final(self, matches: MatchTable, until: int | None) -> Any:
        """Which matches are certain when all events before a time are known; None is the end of the stream."""
        if until is None or self.wait is None:
            return np.full(len(matches), until is None)
        over = matches.end_times < until
        return over & (matches.start_times <= max(until - self.wait, BEGINNING)) if self.wait else over


class Replay:
    """A program whose queries feed each other, or have no engine that keeps state.

    Queries that count events or keep matches apart need all events from the beginning.
    """

    def __init__(self, plans: Sequence[Plan], limits: Limits, none: EventTable) -> None:
        """Begin with no events."""
        self.limits = limits.settled()  # a step is a run of every query
        self.columns = needed_columns([plan.query for plan in plans])
        self.events = none.select(self.columns)
        makers = {plan.query.into: number for number, plan in enumerate(plans) if plan.query.into}
        self.steps = [_Step.of(plan, makers) for plan in plans]
        self.horizon = _horizon(self.steps)

    @property
    def open_runs(self) -> int:
        """As many as there are events: each may be the first of a match."""
        return len(self.events)

    def step(self, events: EventTable, now: int | None) -> dict[str, pa.Table]:
        """Match all events of the window; report what is new."""
        self.events = self.events.followed_by(events.select(self.columns))
        results: dict[str, pa.Table] = {}
        known = self.events
        settled: list[int | None] = []
        for step in self.steps:
            until = earliest(now, *(settled[number] for number in step.feeders))
            found = find_query(step.plan, self.events, _known_before(known, until), self.limits)
            matches = found.matches
            is_final = step.is_final(matches, until)
            # a match that waits leaves open what comes of those that end with it or after it
            waiting = matches.end_times[~is_final]
            settled.append(earliest(until, int(waiting.min()) if len(waiting) else None))
            is_settled = _ends_before(matches, settled[-1])
            if step.apart:
                is_settled = _kept_apart(step.query, found, is_settled)
                is_new, reached = is_settled & ~_ends_before(matches, step.before), settled[-1]
            else:
                is_new, reached = is_final & ~step.is_final(matches, step.before), until
            step.before = step.before if reached is None else reached
            if step.totals is not None:
                new = replace(found, matches=matches.taken(np.flatnonzero(is_new)))
                results[step.query.name] = step.totals.step(new, settled[-1])
                continue
            table = result_table(found)
            results[step.query.name] = table.filter(pa.array(is_new))
            if step.query.into is not None:
                known = self._with_composites(known, step.query, table, matches, np.flatnonzero(is_settled))
        if now is not None and self.horizon is not None:
            oldest = max(now - self.horizon, BEGINNING)
            self.events = self.events.taken(np.flatnonzero(self.events.end_times > oldest))
        return results

    def _with_composites(
        self, events: EventTable, query: BoundQuery, table: pa.Table, matches: MatchTable, chosen: Integers
    ) -> EventTable:
        """The events with some matches of a query among them, as events of a new type."""
        columns = (matches.starts, matches.ends, matches.start_times, matches.end_times)
        intervals = zip(*(column[chosen] for column in columns), strict=True)
        return events.with_composites(composite_type(query), table.take(pa.array(chosen)), intervals, self.columns)

    def state(self) -> State:
        """The events of the window, and until when matches were reported."""
        state = {
            "before": np.array([step.before for step in self.steps], np.int64),
            "events": self.events.table,
            "types": list(self.events.types.names),
            "codes": self.events.types.codes,
            "moments": self.events.ends,
            "times": self.events.end_times,
        }
        return state | in_parts(
            {f"totals{number}": step.totals.state() for number, step in enumerate(self.steps) if step.totals}
        )

    def resume(self, state: State) -> None:
        """Go on with those events."""
        types = EventTypes(None, tuple(state["types"]), state["codes"])
        moments, times = state["moments"], state["times"]
        self.events = EventTable.of_moments(state["events"], self.events.schema, types, moments, times)
        for step, before in zip(self.steps, state["before"].tolist(), strict=True):
            step.before = before
        for number, step in enumerate(self.steps):
            if step.totals is not None:
                step.totals.resume(part(f"totals{number}", state))


# ---- how long to wait ------------------------------------------------------------------------------------


def _wait(query: BoundQuery) -> int | None:
    """How long after its start a match may be refuted; None if positions count, which tell nothing of time."""
    if query.window is None or not (edge_negatives(query.pattern, at_end=True) or negatives_around(query.pattern)):
        return 0
    return None if query.window.counts_events else query.window.limit


def _horizon(steps: list[_Step]) -> int | None:
    """For how long events may matter; None if all of them always do."""
    reach = 0
    for step in steps:
        window = step.query.window
        if window is None or window.counts_events or step.query.non_overlap or step.wait is None:
            return None
        # a match that waits may fall by an event as long before it as the window, and so may what it is part of
        reach += window.limit + 2 * step.wait
    return reach


def earliest(*times: int | None) -> int | None:
    """The first of some times; None comes after all of them."""
    return min((time for time in times if time is not None), default=None)


def _known_before(events: EventTable, until: int | None) -> EventTable:
    if until is None or not np.any(events.end_times >= until):
        return events
    return events.taken(np.flatnonzero(events.end_times < until))


def _ends_before(matches: MatchTable, until: int | None) -> Any:
    return np.full(len(matches), True) if until is None else matches.end_times < until


# ---- matches that overlap --------------------------------------------------------------------------------


def _overlapping(plan: Plan) -> Plan:
    """A plan for all matches of a query, also those that overlap."""
    return choose_engine(replace(plan.query, non_overlap=False), ENGINES, plan.engine)


def _kept_apart(query: BoundQuery, found: Found, chosen: Any) -> Any:
    """Of the matches chosen by flags, those that NON_OVERLAP keeps."""
    matches, rows = found.matches, np.flatnonzero(chosen)
    parts = _partitions(query, found)[rows]
    until = np.full(int(parts.max(initial=-1)) + 1, NONE_KEPT, np.int64)
    bounds = (matches.starts[rows], matches.ends[rows], counts_of(matches.bound)[rows])
    kept = np.full(len(matches), False)
    kept[rows[keep_apart(parts, until, *bounds)]] = True
    return kept


def _partitions(query: BoundQuery, found: Found) -> Integers:
    """Numbers of the partitions that matches are in; under strict contiguity there is one (SASE+ section 2)."""
    tests = () if query.strategy is Strategy.STRICT_CONTIGUITY else query.equivalences
    if not tests:
        return np.zeros(len(found.matches), np.int64)
    stream, types = Stream([], Values(found.events.table)), found.events.types
    names, codes = types.names, types.codes.tolist()
    numbers: dict[Key, int] = {}
    result = np.empty(len(found.matches), np.int64)
    for number in range(len(result)):
        rows = [row for one in found.matches.bound.values() for row in _rows(one, number)]
        events = [Event(row, names[codes[row]], 0, 0, 0, 0) for row in rows]
        result[number] = numbers.setdefault(key_of(events, tests, stream), len(numbers))
    return result


def _rows(one: One | Many, match: int) -> list[int]:
    """The rows that a variable is bound to in a match."""
    rows = (
        one.rows[match : match + 1] if isinstance(one, One) else one.rows[slice(*one.offsets[match : match + 2])]
    )
    return [row for row in rows.tolist() if row >= 0]
