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
            prepared = replace(prepared, masks=prepared.masks & self.plan.epochs.masks(prepared.end_times))
        found = Found.nothing(self.plan.written, events)
        if len(prepared):
            prepared, base = memory.add(events, prepared)
            handed = self._handed(prepared, base)
            if len(handed.found):
                plan = self.plan
                found = found_rows(plan.written, plan.ends, plan.slots, handed, memory.retained, memory.texts)
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
        runs = state["runs.ri"].copy()
        for column in own:
            runs[:, column] = numbers[runs[:, column]]
        changed: dict[str, Any] = {"runs.ri": runs, "own.texts": list(texts)}
        made.resume(state | changed)
        made.counters.add(self.counters)
        return made

    def _handed(self, prepared: Prepared, base: int) -> Handed:
        """What the runs hand over that are matches in a batch."""
        begins, arguments = self._begins(prepared), self._arguments(prepared)
        # what is shed must not depend on the number of threads
        is_shared = self.once and len(prepared) >= share.PARALLEL_FROM and not self.limits.sheds
        ranges = split_evenly(begins, self.threads) if is_shared else [(0, len(begins) - 1)]
        if len(ranges) == 1:
            return _of(self._drive(prepared, base, begins, arguments, self._bounds))
        bounds = RunBounds.of(self.limits, self.room.part(len(ranges)), self.plan.widths)

        def part(ends: tuple[int, int]) -> Driven:
            """The matches of some partitions."""
            store = Store.keeping(self.plan.slots.kept_widths)
            return self._drive(prepared, base, begins[ends[0] : ends[1] + 1], arguments, bounds, store)

        parts = [_of(driven) for driven in share.each_in_a_thread(part, ranges)]
        found, integers, floats = (
            np.concatenate([getattr(one, name) for one in parts]) for name in ("found", "integers", "floats")
        )
        if len(found) > self.limits.max_matches:
            raise self.limits.exceeded("max_matches")
        return Handed(found, integers, floats)


def _of(driven: Driven) -> Handed:
    return Handed(driven.found, *driven.handed)
