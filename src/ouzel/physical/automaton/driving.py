"""Automata at work, whatever becomes of their matches: a batch is prepared, and runs are driven through it."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import Any, Protocol

import numpy as np

from ouzel.logical.conjuncts import Place
from ouzel.logical.constants import can_match
from ouzel.physical.automaton.memory import Memory, RemembersRuns
from ouzel.physical.automaton.open_runs import OpenRuns
from ouzel.physical.automaton.parameters import Opened, Stream
from ouzel.physical.automaton.runs import Driven, RunBounds, drive
from ouzel.physical.automaton.store import Store
from ouzel.physical.compiled.fill import Wanted, settled
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.user_calls import called
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.compiled_matching import CompiledMatching, CompiledPlan
from ouzel.physical.limits import Limits
from ouzel.physical.memory.prepare import NONE, Prepared


class DrivesRuns(CompiledPlan, RemembersRuns, Protocol):
    """What a plan says of its automaton."""

    @property
    def evaluation(self) -> str:
        """How runs are evaluated."""

    @property
    def source(self) -> str:
        """The kernel that drives runs."""

    @property
    def limit(self) -> int:
        """The length of the window, in what its clock counts."""

    @property
    def repeats(self) -> bool:
        """Whether a match may be found several times."""

    def wanted(self, masks: Integers) -> Wanted:
        """Which events a variable may be bound to, by their masks."""


class RunMatching(CompiledMatching[Memory]):
    """A plan with an automaton at work."""

    _counts_ends = True
    """Whether there are as many matches as ends of runs, or more."""

    def __init__(self, plan: DrivesRuns, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share the partitions of a large table that comes at once."""
        super().__init__(plan, Memory(plan, once=once), limits, once=once, threads=threads, repeats=plan.repeats)
        self.driven = plan
        self._bounds = RunBounds.of(self.limits, self.room, plan.widths, written=self._counts_ends)
        self._counting = Lock()
        always = (conjunct for conjunct in plan.query.conjuncts if conjunct.place is Place.ALWAYS)
        self._always = [literal for conjunct in always for literal in conjunct.literals]

    def prepare(self, events: EventTable) -> Prepared:
        """The events that some component wants, each partition's together if these have runs of their own."""
        prepared = self.preparation.of(events, self.memory.partitions, self.threads)
        if self._always and not called(self._always, partial(can_match, self.driven.query)):
            return NONE
        if not self.driven.automaton.together:
            return prepared.by_partition()
        if (spread := self.memory.partitions.shared) is None:
            return prepared
        # runs go through the first kind of partitions
        return prepared.taken(np.argsort(prepared.parts >= spread.driven, kind="stable"))

    def _begins(self, new: Prepared) -> Integers:
        """Where the new events of each partition begin that has some, and where all end."""
        spread, parts = self.memory.partitions.shared, new.parts
        if spread is not None:
            parts = parts[: int(np.count_nonzero(parts < spread.driven))]
        if self.driven.automaton.together or len(parts) < 2:
            return np.arange(0, len(parts) + 1, max(len(parts), 1))
        begins = np.flatnonzero(parts[1:] != parts[:-1]) + 1
        return np.concatenate([np.zeros(1, np.int64), begins, np.full(1, len(parts), np.int64)])

    def _arguments(self, new: Prepared) -> list[Any]:
        events = self.memory.retained.pushed[0]
        wanted = self.driven.wanted(new.masks)
        arguments = self.driven.operands.arguments(events, new.rows, new.end_times, self.memory.texts, wanted)
        return arguments if self.once else settled(arguments)

    def _drive(
        self,
        new: Prepared,
        base: int,
        begins: Integers,
        arguments: list[Any],
        bounds: RunBounds,
        store: Store | None = None,
    ) -> Driven:
        """Let runs go through new events."""
        plan, memory = self.driven, self.memory
        keyed = plan.automaton.together
        parts = np.zeros(len(begins) - 1, np.int64) if keyed else new.parts[begins[:-1]]
        runs = memory.runs if store is None else OpenRuns(plan.widths)
        store = store or memory.store
        keys = memory.partitions.serials(new.parts) if keyed else new.parts
        driven = drive(
            long_kernel_of(plan.source, len(new), 1 / max(len(new), 1)),
            Opened(*runs.of(parts), *runs.pool),
            store,
            Stream(base, new.masks, keys, begins, new.starts, new.ends, new.start_clocks, new.clocks, plan.limit),
            bounds,
            arguments,
            merge=plan.evaluation == "merging",
            handed=plan.slots.handed_widths,
        )
        if not self.once:
            runs.replace(parts, driven.edges, driven.ri, driven.rf)
        self._count(driven.counts)
        return driven

    def _count(self, counts: dict[str, int]) -> None:
        counted = Counters(
            counts["made"], counts["merged"], counts["shed"], counts["lost"], counts["peak"], counts["read"]
        )
        with self._counting:
            self.counters.add(counted)
