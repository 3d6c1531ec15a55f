"""A change of the arcs of a register automaton (AFA 2.3, 5.2): which live when, and the plan that has them all.

An arc that was there before comes back by a change of numbers (`physical/automaton/epochs.py`).  For a new one the
automaton is planned anew, and its runs go on in the new plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ouzel.compile import compile_query
from ouzel.errors import OuzelError, QueryError
from ouzel.language.automaton_tree import Arc, Automaton
from ouzel.logical.pattern import MASK_BITS
from ouzel.logical.times import BEGINNING, END
from ouzel.optimizer.plan import Plan
from ouzel.physical.automaton.row_plan import RowPlan
from ouzel.physical.contract import PhysicalPlan, UnsuitableError
from ouzel.runtimes.arc_values import ArcValues, as_written

if TYPE_CHECKING:
    from ouzel.runtimes.arcs import AutomatonProgram


def opened(plans: Sequence[Plan]) -> tuple[Plan, ...]:
    """The plan of a register automaton that is alone, such that its arcs may come and go."""
    if len(plans) == 1 and isinstance(plan := plans[0].physical, RowPlan) and plan.written.automaton is not None:
        try:
            return (replace(plans[0], physical=plan.opened()),)
        except UnsuitableError:
            pass  # a change will be refused
    return tuple(plans)


@dataclass
class Slot:
    """An arc of the plan, which says nothing of its lives, and when it lives; the last life may have no end."""

    arc: Arc
    lives: list[tuple[int, int]] = field(default_factory=list)
    """By time; if its target is final, the first says since when, be it for no time."""

    def lives_at(self, time: int) -> bool:
        """Whether it lives at a time or later."""
        for since, until in self.lives:  # noqa: SIM110 - any(…) takes several times as long, at every change
            if since < until > time:
                return True
        return False

    def lives_on(self, time: int) -> bool:
        """Whether it lives at a time, and no end is known."""
        return any(since <= time and until == END for since, until in self.lives)

    def end(self, time: int) -> None:
        """End all lives; an arc whose target is final since then has lived, be it for no time."""
        first = self.lives[0][0]
        self.lives = [(since, min(until, time)) for since, until in self.lives if since < time]
        if self.arc.final and not self.lives and first <= time:
            self.lives = [(first, first)]

    def begin(self, time: int, over: int) -> None:
        """Let it live from a time on; first for no time, if its target is not final for windows that are over."""
        lives = [life for life in self.lives if life[0] <= time]
        if self.arc.final and not lives and time < over:
            lives.append((time, time))
        if lives and lives[-1][0] < lives[-1][1] == time:
            time = lives.pop()[0]
        self.lives = [*lives, (time, END)]

    def forget(self, horizon: int) -> None:
        """Forget lives that are over at a time, but since when the target is final."""
        if self.lives and self.lives[0][1] <= horizon:
            first = self.lives[0][0]
            kept = [(first, first)] if self.arc.final else []
            self.lives = kept + [life for life in self.lives if life[1] > horizon]

    def written(self) -> Arc:
        """The arc with its lives."""
        lives = ((None if a <= BEGINNING else a, None if b >= END else b) for a, b in self.lives)
        return replace(self.arc, lives=tuple(lives))


def slot_of(arc: Arc) -> Slot:
    """An arc as it was written, with its lives beside it."""
    lives = ((BEGINNING if a is None else a, END if b is None else b) for a, b in arc.lives)
    return Slot(replace(arc, lives=()), sorted(lives))


def later(time: int, now: int) -> int:
    """From when on arcs at the end of the window can come and go at a time: windows that end now are over."""
    return max(time, min(now, END - 1) + 1)


@dataclass
class Changed:
    """A change that was checked, and is to be made: arcs by their places that go and come back, and new ones."""

    program: AutomatonProgram
    values: ArcValues
    time: int
    now: int
    base: int
    gone: list[int]
    came: list[int]
    new: list[Arc]
    planned: tuple[Plan, list[Slot], Automaton] | None = None
    is_new: bool = field(init=False)
    """Whether the automaton has to be planned anew, as was found before anything changed."""

    def __post_init__(self) -> None:
        self._later = later(self.time, self.now)
        slots, self._waits, may_move = self.program.slots, False, False
        for place in (*self.came, *self.gone):
            arc = slots[place].arc
            self._waits |= arc.end_of_window
            may_move |= arc.final
        self.is_new = bool(self.new) or not _is_open(self.program.chain.links[0].physical)
        if may_move and not self.is_new:
            self.is_new = any(map(self._moves_first, (*self.came, *self.gone)))

    def _moves_first(self, place: int) -> bool:
        """Whether it changes since when an arc makes its target final, which a plan has to know."""
        slot = self.program.slots[place]
        if not slot.arc.final:
            return False
        changed = Slot(slot.arc, list(slot.lives))
        if place in self.gone:
            changed.end(self._at(slot.arc))
        if place in self.came:
            changed.begin(self._at(slot.arc), self._later)
        return _first(changed) != _first(slot)

    def make(self) -> None:
        """Make it."""
        if self.is_new:
            self._replan()
        else:
            self._apply()

    def _apply(self) -> None:
        """Let numbers change, where all arcs are known."""
        plan = self.program.chain.links[0].physical
        assert isinstance(plan, RowPlan)
        assert plan.epochs is not None
        self.program.know(self.values)
        slots = self.program.slots
        self._live(slots)
        if not self._waits:
            plan.epochs.change(self.time, self.came, self.gone)
        else:
            for time, at_end in ((self.time, False), (self._later, True)):
                came = [place for place in self.came if slots[place].arc.end_of_window is at_end]
                gone = [place for place in self.gone if slots[place].arc.end_of_window is at_end]
                plan.epochs.change(time, came, gone)
        plan.epochs.forget(self.base)

    def _at(self, arc: Arc) -> int:
        """When an arc comes or goes."""
        return self._later if arc.end_of_window else self.time

    def plan(self, suits: Callable[[Plan], bool] = lambda _plan: True) -> None:
        """Plan anew, if that has to be; what is wrong with new arcs is said before anything has changed."""
        if not self.is_new or self.planned is not None:
            return
        program = self.program
        waiting = next((arc for arc in self.new if arc.end_of_window), None)
        if waiting is not None and isinstance(program.chain.links[0].physical, RowPlan):
            raise OuzelError(
                f"change: the arc '{waiting.id}' is new and waits for the end of the window, for which runs wait "
                "from their last event on\n  hint: have it among the arcs at first, and remove it until it is to "
                "come; or name the engine when the matcher is made: engine='reference'"
            )
        slots = [Slot(slot.arc, list(slot.lives)) for slot in program.slots]
        self._live(slots)
        for arc in self.new:
            slots.append(Slot(arc))
            slots[-1].begin(self._at(arc), self._later)
        link = program.chain.links[0]
        query = link.plan.query
        assert query.automaton is not None
        automaton = replace(program.automaton, states=query.automaton.states)
        # those that are gone are kept, as they may come back, where no plan is needed for that and there is room
        if not _is_open(link.physical):
            automaton, slots = self._living(automaton, slots)
        plan = self._planned(automaton, slots)
        if _is_open(link.physical) and not _is_open(plan.physical):
            automaton, slots = self._living(automaton, slots)
            plan = self._planned(automaton, slots)
        # runs go on in a plan that is open, as their columns are the same; or they are found anew
        goes_on = _is_open(plan.physical) or not isinstance(plan.physical, RowPlan)
        if not goes_on or _is_open(plan.physical) != _is_open(link.physical) or not suits(plan):
            many = f"its arcs make more than {MASK_BITS} ways" if not goes_on else "it runs otherwise now"
            raise OuzelError(
                f"change: with these arcs {plan.engine} would run it, and {many}\n"
                "  hint: name the engine when the matcher is made: engine='reference'"
            )
        self.planned = plan, slots, automaton

    def _planned(self, automaton: Automaton, slots: list[Slot]) -> Plan:
        text, params = self.program.saying(automaton, slots, self.values)
        try:
            (plan,) = opened(compile_query(text, self.program.schema, params, *self.program.how).plans)
        except QueryError as error:
            raise as_written(error) from None
        return plan

    def _living(self, automaton: Automaton, slots: list[Slot]) -> tuple[Automaton, list[Slot]]:
        """Without arcs that are gone for good; what they made final is said of the states themselves."""
        horizon, kept, final = self._horizon(), [], list(automaton.final)
        for slot in slots:
            is_final = slot.arc.final and bool(slot.lives)
            if slot.lives_at(horizon) or (is_final and slot.lives[0][0] > horizon):
                kept.append(slot)
            elif is_final and slot.arc.target not in final:
                final.append(slot.arc.target)
        return replace(automaton, final=tuple(final)), kept

    def _replan(self) -> None:
        """Let the runs go on with the new plan."""
        assert self.planned is not None
        plan, slots, automaton = self.planned
        self.program.chain.become(plan)
        self.program.know(self.values)
        self.program.have(automaton, slots)

    def _horizon(self) -> int:
        """Before this time nothing is asked for any more."""
        link = self.program.chain.links[0]
        if isinstance(link.physical, RowPlan):
            return self.base
        window = link.plan.query.window
        return BEGINNING if window is None else self.base - window.limit

    def _live(self, slots: list[Slot]) -> None:
        """Note which arcs live from the time on, and of these arcs forget lives that are long over."""
        for place in self.gone:
            slot = slots[place]
            slot.end(self._at(slot.arc))
        for place in self.came:
            slot = slots[place]
            slot.begin(self._at(slot.arc), self._later)
        horizon = self._horizon()
        for place in (*self.came, *self.gone):
            slots[place].forget(horizon)


def _first(slot: Slot) -> tuple[int, bool] | None:
    """When an arc begins to live, and whether that is for no time."""
    return (slot.lives[0][0], slot.lives[0][0] == slot.lives[0][1]) if slot.lives else None


def _is_open(plan: PhysicalPlan) -> bool:
    """Whether arcs come and go in a plan by a change of numbers."""
    return isinstance(plan, RowPlan) and plan.epochs is not None
