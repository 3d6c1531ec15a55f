"""An automaton whose results are rows at work: events in, rows out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.times import BEGINNING
from ouzel.physical.automaton.driving import RunMatching
from ouzel.physical.automaton.lacking import without_lacking
from ouzel.physical.automaton.rows import Handed, found_rows
from ouzel.physical.automaton.runs import Driven, RunBounds
from ouzel.physical.automaton.store import Store
from ouzel.physical.automaton.waiting_runs import WaitingRuns, is_at_a_state
from ouzel.physical.compiled import share
from ouzel.physical.compiled.share import split_evenly
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound
from ouzel.physical.memory.prepare import Prepared

if TYPE_CHECKING:
    from ouzel.physical.automaton.row_plan import RowPlan


class RowMatching(RunMatching):
    """A plan for rows at work."""

    def __init__(self, plan: RowPlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share the partitions of a large table that comes at once."""
        super().__init__(plan, limits, once=once, threads=threads)
        self.plan = plan
        self.waiting_runs = WaitingRuns(plan)
        # what a register automaton reads of an event is in registers, once the event was consumed (AFA, F.1)
        self.memory.retained.rows.are_read = plan.written.automaton is None

    _counts_ends = False  # several may give one row

    def bind(self, prepared: Prepared, base: int) -> Bound:  # noqa: ARG002
        """There are no variables: results are rows."""
        raise AssertionError("results that are rows bind nothing")

    def _push(self, events: EventTable, now: int | None) -> Found:
        automaton = self.plan.written.automaton
        if automaton is not None and automaton.types is not None:
            events = events.taken(np.flatnonzero(events.types.among(tuple(sorted(automaton.types))) >= 0))
        events = self.read(events)
        memory, prepared = self.memory, self.prepare(events)
        if self.plan.epochs is not None and len(prepared):
            # without partitions events are in order
            open_ = self.plan.epochs.masks(prepared.end_times, in_order=not self.plan.keys)
            prepared = replace(prepared, masks=prepared.masks & open_)
        found = Found.nothing(self.plan.written, events)
        parts = []
        if len(prepared):
            prepared, base = memory.add(events, prepared)
            parts.append(self._handed(prepared, base))
        if self.waiting_runs.closings and not self.once:
            parts.append(self.waiting_runs.over(memory.runs, now))
        handed = self.waiting_runs.served(parts, memory.retained)
        if handed is not None:
            plan = self.plan
            rows = found_rows(plan.written, plan.ends, plan.slots, handed, memory.retained, memory.texts)
            found = rows.within(self.limits, self.counters)
        if not self.once:
            memory.settle(0)
            if now is not None:
                memory.prune(now)
        return found

    def read(self, events: EventTable) -> EventTable:
        """Events as the expression sees them: with nulls for what their types do not have."""
        return without_lacking(events, self.plan.lacking)

    def become(self, plan: RowPlan, none: EventTable) -> RowMatching:
        """The same at work with a plan of more arcs, whose runs have the same columns; `none` are no events."""
        made = plan.begin(self.limits, threads=self.threads)
        made.push(none, BEGINNING)
        state, texts = self.state(), Texts(made.memory.texts)
        numbers = np.array([texts.number(text) for text in self.memory.texts] or [0], np.int64)
        own, _sets, _kept = plan.slots.text_columns
        runs, floats = plan.slots.carried(self.plan.slots, state["runs.ri"], state["runs.rf"])
        for column in own:
            runs[:, column] = numbers[runs[:, column]]
        made.waiting_runs.carry(self.waiting_runs, runs)
        changed: dict[str, Any] = {"runs.ri": runs, "runs.rf": floats, "own.texts": list(texts)}
        made.resume(state | changed)
        made.memory.runs.keep(is_at_a_state)
        made.counters.add(self.counters)
        return made

    def _handed(self, prepared: Prepared, base: int) -> Handed:
        """What the runs hand over that are matches in a batch."""
        begins, arguments = self._begins(prepared), self._arguments(prepared)
        # what is shed must not depend on the number of threads
        is_shared = self.once and len(prepared) >= share.PARALLEL_FROM and not self.limits.sheds
        ranges = split_evenly(begins, self.threads) if is_shared else [(0, len(begins) - 1)]
        if len(ranges) == 1:
            return self._of(self._drive(prepared, base, begins, arguments, self._bounds))
        room = self.room.part(len(ranges))
        bounds = RunBounds.of(self.limits, room, self.plan.widths, written=self._counts_ends)

        def part(ends: tuple[int, int]) -> Driven:
            """The matches of some partitions."""
            store = Store.keeping(self.plan.slots.kept_widths)
            return self._drive(prepared, base, begins[ends[0] : ends[1] + 1], arguments, bounds, store)

        return Handed.joined([self._of(driven) for driven in share.each_in_a_thread(part, ranges)])

    def _of(self, driven: Driven) -> Handed:
        """What runs handed over; where all events came, those that wait have waited to the end."""
        handed = Handed(driven.found, *driven.handed)
        if not self.waiting_runs.closings:
            return handed
        if not self.once:
            self.waiting_runs.note(driven.ri)
            return handed
        return Handed.joined([handed, self.waiting_runs.closed(driven.ri, driven.rf)])

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        super().resume(state)
        self.waiting_runs.note(self.memory.runs.ri)
