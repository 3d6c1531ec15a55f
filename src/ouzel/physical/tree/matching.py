"""A tree plan at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.constants import can_match
from ouzel.physical.compiled.cost import ResultCosts
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.compiled_matching import CompiledMatching
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound, joined
from ouzel.physical.memory.prepare import NONE, Prepared
from ouzel.physical.statistics import Statistics
from ouzel.physical.stoppable import LARGE, STEPS
from ouzel.physical.tree.assembly import Assembly, TooManyMatchesError
from ouzel.physical.tree.memory import SPARE, Memory
from ouzel.physical.tree.operators import TooManyRecordsError

if TYPE_CHECKING:
    from ouzel.physical.tree.plan import TreePlan

# So many events come to the leaves in a round, if all are there at once.
ROUND = 1 << 16
# What it takes to put a match in order: when it starts and ends, by which events, and its place, some of it twice.
ORDERING = 96
# Of fewer events all choices that a closure can take are found in much less than a second.
MOST_IN_CLOSURES = 16


class TreeMatching(CompiledMatching[Memory]):
    """A tree plan at work."""

    def __init__(self, plan: TreePlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing."""
        limits = limits.settled()
        most = limits.memory().most(4 * (len(plan.query.components) + 4))
        most = min(limits.max_nodes, limits.max_runs, most)
        memory = Memory(plan, once=once, most=most, sheds=limits.sheds)
        super().__init__(plan, memory, limits, once=once, threads=threads, repeats=plan.repeats)
        self.plan = plan
        self._possible = can_match(plan.query)
        self._costs = ResultCosts(plan.query)

    @property
    def open_runs(self) -> int:
        """Events that may be in a match, and matches that wait: how many records there are, orders decide."""
        return len(self.memory.retained) + len(self.memory.pending)

    @property
    def chosen_by(self) -> Statistics | None:
        """What was known of events when the order of joins was chosen; None if that was nothing."""
        return self.memory.chosen_by if self.memory.chosen_by.cards else None

    def size(self, more: int) -> int:
        """As many records as there can be at most, if each leaf has its part of the events: their product."""
        held = more + len(self.memory.retained)
        if self.plan.has_closures:
            return LARGE if held >= MOST_IN_CLOSURES else super().size(more)
        leaves = self.plan.leaves
        return int(min(more * (1 + held / leaves) ** (leaves - 1) / STEPS, LARGE))

    def prepare(self, events: EventTable) -> Prepared:
        """The events that some component wants, unless there can be no match."""
        return self.preparation.of(events, self.memory.partitions, self.threads) if self._possible else NONE

    def bind(self, prepared: Prepared, base: int) -> Bound:
        """The matches that end in a batch: events come to the leaves, round by round, and are assembled."""
        memory, spread = self.memory, self.memory.partitions.shared
        most, found = self._most_matches(), []
        for begin, end in pairwise(_rounds(prepared.ends) if self.once else [0, len(prepared)]):
            arrivals = memory.arrivals(base + begin, base + end)
            if self.plan.can_choose:
                with self._bounded():
                    self.counters.switches += memory.adapt(arrivals)
            for one in memory.assemblies:
                final = one.take(arrivals, memory.retained, self.plan.limit)
                if final is not None:
                    found.append(self._assembled(one, final, most))
                    most = max(most - len(next(iter(found[-1].values()))), 1)
            if self.once and end < len(prepared):
                memory.drop_before(base + end, SPARE)
        bound = joined(found or [memory.assemblies[0].matches(memory.retained, self.plan.limit)])
        return bound if spread is None else spread.settled(bound, prepared.rows, prepared.parts)

    def _most_matches(self) -> int:
        """How many matches there may be, and fit: their events, thrice, what orders them, and their results."""
        result = self._costs.of(self.memory.retained.pushed[0].table).match
        cost = 16 * len(self.plan.query.components) + ORDERING + result
        return max(min(self.limits.max_matches, self.room.most(cost)) - len(self.memory.pending), 1)

    def _assembled(self, one: Assembly, first_final: int, most: int) -> Bound:
        """An assembly round: all records that there can be, up to the root (ZStream 4.3)."""
        memory = self.memory
        # records that are too old must not take the room of others
        memory.drop_before(first_final, memory.most // 2)
        before = len(one)
        with self._bounded():
            try:
                bounds = memory.bounds(first_final, one)
                shed, lost = one.assemble(memory.retained, memory.arguments(), bounds, most)
            except TooManyMatchesError:
                if most >= self.limits.max_matches:
                    raise self.limits.exceeded("max_matches") from None
                raise self.room.exceeded(most, "matches") from None
        made = max(len(one) - before, 0)
        self.counters.add(Counters(made=made, shed_runs=shed, shed_matches=lost, peak=len(one)))
        return one.matches(memory.retained, self.plan.limit)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        with self._bounded():
            super().resume(state)

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        """Say which limit too many records reach, and count those that are shed where they are made anew."""
        try:
            yield
        except TooManyRecordsError:
            for name in ("max_nodes", "max_runs"):
                if self.memory.most >= getattr(self.limits, name):
                    raise self.limits.exceeded(name) from None
            raise self.room.exceeded(self.memory.most, "records of a tree") from None
        self.counters.shed_runs += self.memory.shed_anew
        self.memory.shed_anew = 0


def _rounds(ends: Integers) -> list[int]:
    """Where rounds begin and end: no moment is divided."""
    edges = [0]
    while edges[-1] < len(ends):
        at = min(edges[-1] + ROUND, len(ends))
        if at < len(ends):
            at = int(np.searchsorted(ends, ends[at], side="left"))
            if at <= edges[-1]:
                at = int(np.searchsorted(ends, ends[edges[-1]], side="right"))
        edges.append(at)
    return edges
