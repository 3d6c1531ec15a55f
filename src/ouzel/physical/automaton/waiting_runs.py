"""Runs that wait for the end of their windows, at work: they are matches when time has passed that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.times import BEGINNING, END
from ouzel.physical.automaton.closing import window_ends
from ouzel.physical.automaton.open_runs import OpenRuns
from ouzel.physical.automaton.registers import START, STATE
from ouzel.physical.automaton.rows import Handed
from ouzel.physical.automaton.states import key_of
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.retained import Retained

if TYPE_CHECKING:
    from ouzel.physical.automaton.row_plan import RowPlan


class WaitingRuns:
    """Which runs of a plan wait, and since when."""

    def __init__(self, plan: RowPlan) -> None:
        """Begin with none."""
        self.plan, self.closings = plan, plan.constructed.closings
        self.first_state = len(plan.automaton.states) - len(self.closings)
        self._earliest = END

    def note(self, ri: Any) -> None:
        """Note runs, by their integers: the earliest start of those that wait."""
        starts = ri[ri[:, STATE] >= self.first_state, START]
        self._earliest = min(self._earliest, int(starts.min(initial=END)))

    def over(self, runs: OpenRuns, now: int | None) -> Handed:
        """What runs hand over that have waited until now, or to the end of the stream; they are gone then."""
        oldest = END if now is None else max(now - self.plan.limit, BEGINNING)
        if self._earliest > oldest and now is not None:
            return self.closed(np.empty((0, self.plan.widths[0]), np.int64), np.empty((0, self.plan.widths[1])))
        ri, rf = runs.ri, runs.pool[1]
        is_over = (ri[:, STATE] >= self.first_state) & (ri[:, START] <= oldest)
        handed = self.closed(ri[is_over], rf[: len(ri)][is_over])
        runs.keep(lambda _integers: ~is_over)
        self._earliest = END
        self.note(runs.ri)
        return handed

    def closed(self, ri: Any, rf: Any) -> Handed:
        """What those of some runs hand over that wait."""
        slots, parts = self.plan.slots, []
        for place in range(len(self.closings)):
            number = self.first_state + place
            chosen = np.flatnonzero(ri[:, STATE] == number)
            own_ri, own_rf = ri[chosen], rf[chosen]
            integers, floats = slots.handed_over(number, own_ri, own_rf)
            found = np.full((len(chosen), 3), number, np.int64)
            found[:, 0] = -1
            register = self.plan.automaton.states[number].closes
            assert register is not None
            found[:, 1] = integers[:, slots.handed(number)[0].index(key_of(register.of))]
            parts.append(Handed(found, integers, floats))
        return Handed.joined(parts)

    def served(self, parts: Sequence[Handed], retained: Retained) -> Handed | None:
        """All matches but those whose arc at the end of the window did not live then; None if none is left."""
        parts = [one for one in parts if len(one.found)]
        if not parts:
            return None
        handed, plan = Handed.joined(parts), self.plan
        is_match = np.ones(len(handed.found), np.bool_)
        for place, closing in enumerate(self.closings):
            number = self.first_state + place
            chosen = np.flatnonzero(handed.found[:, 2] == number)
            if len(chosen):
                first = plan.slots.handed(number)[0].index(key_of(plan.automaton.registers[0].of))
                starts = retained.start_clocks[handed.integers[chosen, first]]
                is_match[chosen] = closing.serves(window_ends(starts, plan.limit), plan.epochs)
        handed = handed if is_match.all() else handed.chosen(is_match)
        return handed if len(handed.found) else None

    def carry(self, before: WaitingRuns, ri: Any) -> None:
        """Let runs wait in the states that are for the same in this plan; -1 if there is none."""
        numbers: Integers = np.full(len(before.plan.automaton.states), -1, np.int64)
        numbers[: before.first_state] = np.arange(before.first_state)
        for place, one in enumerate(before.closings):
            same = [number for number, other in enumerate(self.closings) if other.is_same(one)]
            numbers[before.first_state + place] = self.first_state + same[0] if same else -1
        ri[:, STATE] = numbers[ri[:, STATE]]


def is_at_a_state(ri: Any) -> Any:
    """Whether runs, by their integers, are at a state that there is."""
    return ri[:, STATE] >= 0
