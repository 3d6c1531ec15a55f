"""What takes all events at once, on a stream: the events of the window are kept, and matched anew at every step.

All events are certain, but for those after `now`.  So what is found can change in one way only: matches that an
event after them may refute fall, until time has passed their windows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.language.tree import Strategy
from ouzel.logical.expressions import Expression
from ouzel.logical.pattern import edge_negatives, negatives_around
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING
from ouzel.optimizer import Plan, choose_engine
from ouzel.physical import ENGINES
from ouzel.physical.contract import Counters, Found, Tell
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.non_overlap import NONE_KEPT, keep_apart
from ouzel.physical.finish.refutable import may_be_refuted
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Many, MatchTable, One, counts_of
from ouzel.physical.reference.events import Event, Stream, Values
from ouzel.physical.reference.partitions import Key, key_of

State = dict[str, Any]


class Replay:
    """A matching of a plan that takes all events at once.

    Queries that count events or keep matches apart need all events from the beginning.
    """

    def __init__(self, plan: Plan, limits: Limits) -> None:
        """Begin with no events."""
        self.query = plan.query
        self.limits = limits.settled()  # a step is a run of the query
        self.all_matches = limits.of_all_matches()
        self.counters = Counters()
        self.wait = _wait(plan.query)
        # if matches that wait must be kept apart, all are found: one that falls must not be in the way of another
        self.apart = plan.query.non_overlap and self.wait != 0
        self.physical = (_overlapping(plan) if self.apart else plan).physical
        self.horizon = _horizon(plan.query, self.wait)
        waits = plan.query.automaton is not None and plan.query.automaton.waits
        self.ends_windows = plan.query.window.limit if waits and plan.query.window else 0
        self.events: EventTable | None = None
        self.waiting: int | None = None
        self._before = BEGINNING

    def become(self, plan: Plan) -> Replay:
        """The same with a plan of other arcs."""
        made = Replay(plan, self.limits)
        made.events, made._before, made.counters = self.events, self._before, self.counters
        return made

    @property
    def open_runs(self) -> int:
        """As many as there are events: each may be the first of a match."""
        return 0 if self.events is None else len(self.events)

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:
        """Match all events of the window; what is new and final."""
        self.events = events if self.events is None else self.events.followed_by(events)
        matching = self.physical.begin(self.all_matches, once=True)
        (found,) = matching.push(self.events, None, tell)
        # what is shed once is shed again, with all its window
        self.counters.shed_runs = max(self.counters.shed_runs, matching.counters.shed_runs)
        matches = found.matches
        fits = self._fit(matches)
        is_final = self._is_final(matches, now)
        # a match that waits leaves open what comes of those that end with it or after it
        waiting = matches.end_times[~is_final]
        self.waiting = int(waiting.min()) if len(waiting) else None
        if self.apart:
            reached = earliest(now, self.waiting)
            is_over = _ends_before(matches, reached)
            is_due = is_over & ~_ends_before(matches, self._before)
            is_new = _kept_apart(self.query, found, is_over & fits) & is_due
        else:
            is_due, reached = is_final & ~self._is_final(matches, self._before), now
            is_new = is_due & fits
        self._before = self._before if reached is None else reached
        self.counters.shed_matches += int(np.count_nonzero(is_due & ~fits))
        if now is not None and self.horizon is not None:
            oldest = max(now - self.horizon, BEGINNING)
            self.events = self.events.taken(np.flatnonzero(self.events.end_times > oldest))
        return (_some(found, self._bounded(np.flatnonzero(is_new))),)

    def _fit(self, matches: MatchTable) -> Any:
        """Which matches have no more events than they may; others are an error, unless they are shed."""
        fits = counts_of(matches.bound) <= self.limits.max_match_size
        if not self.limits.sheds and not fits.all():
            raise self.limits.exceeded("max_match_size")
        return fits

    def _bounded(self, new: Integers) -> Integers:
        """As many new matches as there may be at once."""
        most = self.limits.allowed(len(new))
        self.counters.shed_matches += len(new) - most
        return new[:most]

    def _is_final(self, matches: MatchTable, until: int | None) -> Any:
        """Which matches are certain when all events before a time are known; None is the end of the stream."""
        if until is None:
            return np.ones(len(matches), np.bool_)
        over = matches.end_times < until
        if self.ends_windows:
            # what happens at the end of a window depends on no event of that time
            at_end = matches.end_times - matches.start_times == self.ends_windows
            over |= at_end & (matches.end_times <= until)
        if self.wait == 0 or not len(matches):
            return over
        stands = ~may_be_refuted(self.query.pattern, matches.bound)
        if self.wait is not None:
            stands |= matches.start_times <= max(until - self.wait, BEGINNING)
        return over & stands

    def state(self) -> State:
        """The events of the window, and until when matches were reported."""
        return {"before": self._before} | ({} if self.events is None else self.events.state())

    def resume(self, state: State) -> None:
        """Go on with those events."""
        self._before = state["before"]
        self.events = EventTable.of_state(state, self.query.schema) if "table" in state else None


def earliest(*times: int | None) -> int | None:
    """The first of some times; None comes after all of them."""
    return min((time for time in times if time is not None), default=None)


# ---- how long to wait ------------------------------------------------------------------------------------


def _wait(query: BoundQuery) -> int | None:
    """How long after its start a match may be refuted; None if positions count, which tell nothing of time."""
    if query.window is None or not (edge_negatives(query.pattern, at_end=True) or negatives_around(query.pattern)):
        return 0
    return None if query.window.counts_events else query.window.limit


def _horizon(query: BoundQuery, wait: int | None) -> int | None:
    """For how long events may matter; None if all of them always do."""
    window = query.window
    if window is None or window.counts_events or query.non_overlap or wait is None:
        return None
    # a match that waits may fall by an event as long before it as the window
    return window.limit + 2 * wait


def _ends_before(matches: MatchTable, until: int | None) -> Any:
    return np.full(len(matches), True) if until is None else matches.end_times < until


def _some(found: Found, places: Integers) -> Found:
    """Some of the matches."""

    def compute(expression: Expression) -> list[Any]:
        values = found.compute(expression)
        return [values[place] for place in places.tolist()]

    rows = None if found.rows is None else found.rows.take(pa.array(places))
    return replace(found, matches=found.matches.taken(places), compute=compute, rows=rows)


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
