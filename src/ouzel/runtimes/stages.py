"""How a program goes through a stream step by step: engines that keep state, or the reference over again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.logical.columns import needed_columns
from ouzel.logical.pattern import edge_negatives, negatives_around
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import Plan, UnsuitableError
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.event_table import EventTable
from ouzel.physical.event_types import EventTypes
from ouzel.physical.limits import Limits
from ouzel.physical.matching import Matching
from ouzel.runtimes.embedded import find_program
from ouzel.runtimes.ordering import BEGINNING
from ouzel.runtimes.results import result_table

State = dict[str, Any]
NEVER = 2**62


class Stage(Protocol):
    """A program at work."""

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""

    def step(self, events: EventTable, now: int | None) -> dict[str, pa.Table]:
        """The matches that are final when these events are there and none before `now` will follow."""

    def state(self) -> State:
        """What there is to know to go on elsewhere."""

    def resume(self, state: State) -> None:
        """Go on from there."""


def stage_of(plans: Sequence[Plan], limits: Limits, none: EventTable) -> Stage:
    """How to run a program: by engines if each of its queries has one; `none` is a table of no events."""
    if any(plan.query.aggregates for plan in plans):
        raise OuzelError("OUTPUT AGGREGATE: required all events at once, as in match; a matcher never has them")
    if all(plan.physical is not None and plan.query.into is None for plan in plans):
        return Engines(plans, limits)
    return Replay(plans, limits, none)


class Engines:
    """Queries apart from each other, each with an engine that keeps its own state."""

    def __init__(self, plans: Sequence[Plan], limits: Limits) -> None:
        """Begin all of them."""
        self.plans = plans
        self.columns = [needed_columns([plan.query]) for plan in plans]
        self.matchings: list[Matching] = [plan.physical.begin(limits) for plan in plans]

    @property
    def open_runs(self) -> int:
        """Those of all engines."""
        return sum(matching.open_runs for matching in self.matchings)

    def step(self, events: EventTable, now: int | None) -> dict[str, pa.Table]:
        """Push the events to every engine."""
        results: dict[str, pa.Table] = {}
        for plan, columns, matching in zip(self.plans, self.columns, self.matchings, strict=True):
            try:
                found = matching.push(events.select(columns), now)
            except UnsuitableError as why:
                raise OuzelError(f"the engine {plan.engine} cannot go on: {why}") from why
            compute = compute_by_row(found.matches, found.events)
            results[plan.query.name] = result_table(plan.query, found.matches, found.events.table, compute)
        return results

    def state(self) -> State:
        """The states of all engines, by number."""
        states = enumerate(matching.state() for matching in self.matchings)
        return {f"{number}.{name}": value for number, state in states for name, value in state.items()}

    def resume(self, state: State) -> None:
        """Give every engine its own."""
        for number, matching in enumerate(self.matchings):
            prefix = f"{number}."
            matching.resume({name[len(prefix) :]: v for name, v in state.items() if name.startswith(prefix)})


class Replay:
    """What no engine can do yet: the events of the window are kept, and matched anew at every step.

    Matches that were reported before are known by their time.  Queries that count events or keep matches apart
    need all events from the beginning.
    """

    def __init__(self, plans: Sequence[Plan], limits: Limits, none: EventTable) -> None:
        """Begin with no events."""
        self.plans = plans
        self.limits = limits
        self.columns = needed_columns([plan.query for plan in plans])
        self.events = none.select(self.columns)
        self.before = BEGINNING
        windows = [plan.query.window for plan in plans]
        known = all(window is not None and not window.counts_events for window in windows)
        apart = any(plan.query.non_overlap for plan in plans)
        # a composite event may be certain only when its window ends, and then what was made of it
        waits = [_wait(plan.query) if plan.query.into else 0 for plan in plans]
        self.delays = [sum(waits[:number]) for number in range(len(plans))]
        # a match that waits may still be refuted by an event as long before it as the window
        reach = sum(plan.query.window.limit + _wait(plan.query) for plan in plans if plan.query.window)
        self.horizon = reach + sum(waits) if known and not apart else None

    @property
    def open_runs(self) -> int:
        """As many as there are events: each may be the first of a match."""
        return len(self.events)

    def step(self, events: EventTable, now: int | None) -> dict[str, pa.Table]:
        """Match all events of the window; report what is new."""
        self.events = self.events.followed_by(events.select(self.columns))
        results: dict[str, pa.Table] = {}
        found = find_program(self.plans, self.events, self.limits)
        for (plan, matches, table), delay in zip(found, self.delays, strict=True):
            assert matches is not None
            final = _final_times(plan.query, matches.start_times, matches.end_times, delay)
            new = (final > self.before) & (final <= now if now is not None else True)
            results[plan.query.name] = table.filter(pa.array(new))
        if now is not None:
            self.before = now
            if self.horizon is not None:
                self.events = self.events.taken(np.flatnonzero(self.events.end_times > now - self.horizon))
        return results

    def state(self) -> State:
        """The events of the window, and until when matches were reported."""
        return {
            "before": self.before,
            "events": self.events.table,
            "types": list(self.events.types.names),
            "codes": self.events.types.codes,
            "moments": self.events.ends,
            "times": self.events.end_times,
        }

    def resume(self, state: State) -> None:
        """Go on with those events."""
        types = EventTypes(None, tuple(state["types"]), state["codes"])
        moments, times = state["moments"], state["times"]
        self.events = EventTable.of_moments(state["events"], self.events.schema, types, moments, times)
        self.before = state["before"]


def _final_times(query: BoundQuery, starts: Any, ends: Any, delay: int) -> Any:
    """When each match is final: when it ends, or, if an event after it may refute it, when its window ends."""
    wait = _wait(query)
    if max(wait, delay) >= NEVER:
        return np.full(len(ends), NEVER)
    return np.maximum(starts + wait, ends + 1) + delay


def _wait(query: BoundQuery) -> int:
    """How long after its start a match may be refuted."""
    if query.window is None or not (edge_negatives(query.pattern, at_end=True) or negatives_around(query.pattern)):
        return 0
    # positions tell nothing of time: only at the end of the stream is it certain
    return NEVER if query.window.counts_events else query.window.limit
