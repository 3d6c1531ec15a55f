"""How many runs and matches the reference matcher may hold: as the limits say, or as fit into memory."""

from __future__ import annotations

from typing import TypeVar

from ouzel.physical.contract import Counters
from ouzel.physical.limits import Limits

Item = TypeVar("Item")

# Runs and matches are Python's objects: dicts of variables, and tuples of events.
RUN_BYTES, MATCH_BYTES = 1_500, 2_500


class Bounds:
    """Counts what is held, over all partitions of a query."""

    def __init__(self, limits: Limits, counters: Counters) -> None:
        """Begin with nothing."""
        self.limits = limits
        self.counters = counters
        self.room = limits.memory()
        self.runs = min(limits.max_runs, self.room.most(RUN_BYTES, 1 / 2))
        self.matches = min(limits.max_matches, self.room.most(MATCH_BYTES, 1 / 2))
        self.found = 0

    def kept(self, runs: list[Item]) -> list[Item]:
        """The runs that may go on: all, or an error, or those that began first."""
        self.counters.peak = max(self.counters.peak, len(runs))
        if len(runs) <= self.runs:
            return runs
        if not self.limits.sheds:
            bound = self.runs == self.limits.max_runs
            raise self.limits.exceeded("max_runs") if bound else self.room.exceeded(self.runs, "open runs")
        self.counters.shed_runs += len(runs) - self.runs
        return runs[: self.runs]

    def takes(self) -> bool:
        """Whether there may be one more match: else an error, or it is shed."""
        if self.found < self.matches:
            self.found += 1
            return True
        if not self.limits.sheds:
            bound = self.matches == self.limits.max_matches
            raise self.limits.exceeded("max_matches") if bound else self.room.exceeded(self.matches, "matches")
        self.counters.shed_matches += 1
        return False
