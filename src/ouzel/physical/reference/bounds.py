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
        self.rows = self.room.most(MATCH_BYTES, 1 / 2)
        self.matches = min(limits.max_matches, self.rows)
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

    def takes(self, size: int) -> bool:
        """Whether there may be one more match, of so many events: else an error, or it is shed."""
        if size > self.limits.max_match_size:
            if not self.limits.sheds:
                raise self.limits.exceeded("max_match_size")
            self.counters.shed_matches += 1
            return False
        return self._takes(self.matches)

    def takes_row(self) -> bool:
        """The same of a row that is no match of events: all that fit into memory, of which the first count."""
        return self._takes(self.rows)

    def _takes(self, most: int) -> bool:
        if self.found < most:
            self.found += 1
            return True
        if not self.limits.sheds:
            is_given = most == self.limits.max_matches
            raise self.limits.exceeded("max_matches") if is_given else self.room.exceeded(most, "matches")
        self.counters.shed_matches += 1
        return False
