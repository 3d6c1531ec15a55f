"""What every engine offers to the runtimes: a plan at work, which is given events in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import MatchTable


@dataclass(frozen=True)
class Found:
    """Matches, and the events whose rows they mention."""

    matches: MatchTable
    events: EventTable


@dataclass
class Counters:
    """What a matching did: runs made, merged and shed, matches shed, the most runs that were open at once."""

    made: int = 0
    merged: int = 0
    shed_runs: int = 0
    shed_matches: int = 0
    peak: int = 0

    def add(self, others: Counters) -> None:
        """Add what another matching did."""
        self.made += others.made
        self.merged += others.merged
        self.shed_runs += others.shed_runs
        self.shed_matches += others.shed_matches
        self.peak = max(self.peak, others.peak)


class Matching(Protocol):
    """A plan at work; everything that changes is in it."""

    counters: Counters

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches: those of the automaton, nodes of a scan's stacks, what waits."""

    def push(self, events: EventTable, now: int | None) -> Found:
        """Match the events that come next, all of a moment together.

        No event before the time `now` will follow; None says that none will follow at all.  The matches are those
        that are final.
        """

    def state(self) -> dict[str, Any]:
        """What there is to know to go on elsewhere: arrays, tables, texts and numbers by name."""

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from what another matching of the same plan knew."""


class PhysicalPlan(Protocol):
    """A query made ready for an engine."""

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> Matching:
        """Begin to match; `once` if all events will be pushed at once, which several threads may share."""
