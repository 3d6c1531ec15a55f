"""How a program goes through a stream step by step: engines that keep state, or all of it over again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

from ouzel.errors import FunctionError, OuzelError
from ouzel.logical.columns import needed_columns
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Takes, UnsuitableError
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.runtimes.replay import Replay, earliest
from ouzel.runtimes.results import result_table
from ouzel.runtimes.running_totals import RunningTotals
from ouzel.state.parts import in_parts, part

State = dict[str, Any]


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
    """How to run a program: by engines if all take batches in order; `none` is a table of no events."""
    if any(plan.query.numbers_matches for plan in plans):
        raise OuzelError(
            "match_number(): required all events at once, as in match; a matcher reports matches one by one\n"
            "  hint: number what it returns; in batches on Spark, allow for more: oz.SparkOptions(memory=…)"
        )
    if all(plan.physical.takes is Takes.IN_ORDER and plan.query.into is None for plan in plans):
        return Engines(plans, limits)
    return Replay(plans, limits, none)


class Engines:
    """Queries apart from each other, each with an engine that keeps its own state."""

    def __init__(self, plans: Sequence[Plan], limits: Limits) -> None:
        """Begin all of them."""
        self.plans = plans
        self.columns = [needed_columns([plan.query]) for plan in plans]
        self.matchings = [plan.physical.begin(limits) for plan in plans]
        self.totals = {plan.query.name: RunningTotals(plan.query) for plan in plans if plan.query.aggregates}

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
                if isinstance(why.__cause__, FunctionError):
                    raise why.__cause__ from why.__cause__.__cause__
                raise OuzelError(f"the engine {plan.engine} cannot go on: {why}") from why
            for one in found:
                totals = self.totals.get(one.query.name)
                table = totals.step(one, earliest(now, matching.waiting)) if totals else result_table(one)
                results[one.query.name] = table
        return results

    def state(self) -> State:
        """The states of all engines, by number."""
        states = {str(number): matching.state() for number, matching in enumerate(self.matchings)}
        return in_parts(states | {f"totals.{name}": one.state() for name, one in self.totals.items()})

    def resume(self, state: State) -> None:
        """Give every engine its own."""
        for number, matching in enumerate(self.matchings):
            matching.resume(part(str(number), state))
        for name, totals in self.totals.items():
            totals.resume(part(f"totals.{name}", state))
