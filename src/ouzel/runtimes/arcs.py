"""Arcs that come and go in a running matcher of a register automaton (AFA 2.3, 5.2: arcs are events, too).

An arc that was there before comes back by a change of numbers (`physical/automaton/epochs.py`).  For a new one the
automaton is planned anew, and its runs go on in the new plan.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ouzel.compile import compile_query
from ouzel.errors import OuzelError, did_you_mean, listed
from ouzel.language import parse
from ouzel.language.automaton_spec import check_arc, read_arcs, written_arc, written_automaton
from ouzel.language.automaton_tree import ALWAYS, Arc, Automaton, Query
from ouzel.language.document import automaton_entry, document
from ouzel.language.tree import Name
from ouzel.logical.pattern import MASK_BITS
from ouzel.logical.schema import Schema
from ouzel.logical.times import BEGINNING, END
from ouzel.optimizer.plan import Plan
from ouzel.physical.automaton.row_plan import RowPlan
from ouzel.physical.contract import Counters, PhysicalPlan, UnsuitableError
from ouzel.runtimes.arc_values import ArcValues
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.roster import Said, said_of, unknown

# Arcs that are gone are kept for a while, as they may come back: as long as there are no more than so many.
KEPT = MASK_BITS - 14
# So many lists of arcs that came are known by what they say.
MOST_READ = 1_000


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

    def lives_at(self, time: int) -> bool:
        """Whether it lives at a time or later."""
        return bool(self.lives) and self.lives[-1][1] > time

    def written(self) -> Arc:
        """The arc with its lives."""
        lives = ((None if a <= BEGINNING else a, None if b >= END else b) for a, b in self.lives)
        return replace(self.arc, lives=tuple(lives))


class AutomatonProgram:
    """A register automaton, whose arcs change."""

    def __init__(
        self,
        written: Query,
        params: Mapping[str, Any],
        names: tuple[str, ...],
        chain: Chain,
        schema: Schema,
        how: tuple[str, Mapping[str, str]],
    ) -> None:
        """Begin with the arcs that it has."""
        self.names, self.chain, self.schema, self.how = names, chain, schema, how
        self._values = ArcValues(dict(params))
        self._written = written
        self.slots = [_slot(arc) for arc in written.automaton.arcs]
        self.automaton = written.automaton
        self._read: dict[str, list[Arc]] = {}

    # ---- queries -----------------------------------------------------------------------------------------

    def has(self, id_: Any) -> bool:  # noqa: ARG002
        """None can be ended."""
        return False

    def add(self, id_: Any, query: Any, now: int) -> None:  # noqa: ARG002
        """Refuse."""
        raise OuzelError("add: required a matcher of a list of queries; arcs come with change(add=[…])")

    def remove(self, id_: Any) -> Counters:  # noqa: ARG002
        """Refuse."""
        raise OuzelError("remove: required a matcher of a list of queries; arcs go with change(remove=[…])")

    def replace(self, id_: Any, query: Any, now: int) -> Counters:
        """Let arcs that are not the same come and go; with another register, window or start all begins anew."""
        self._check_id(id_, "replace")
        text, brought = said_of(query, "replace")
        written, *others = parse(text)
        if not isinstance(written, Query) or others:
            raise OuzelError("replace: required a register automaton, oz.automaton(…), as the matcher has one")
        new = written.automaton
        if any(arc.lives != ALWAYS for arc in new.arcs):
            raise OuzelError("replace: required arcs without 'lives': they live from now on")
        values = self._values.changed(brought)
        if _begins(new) != _begins(self.automaton):
            return self._begin_anew(written, values, now)
        arcs = {arc.id: replace(values.as_now(arc), lives=()) for arc in new.arcs}
        living = {slot.arc.id: slot.arc for slot in self.slots if slot.lives_at(now)}
        self._become(
            [arc for id_, arc in arcs.items() if living.get(id_) != arc],
            [id_ for id_, arc in living.items() if arcs.get(id_) != arc],
            values,
            now,
        )
        return Counters()

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Counters:
        """Let arcs that mention some parameters go, and others come with their new values."""
        self._check_id(id_, "set_params")
        living = [slot.arc for slot in self.slots if slot.lives_at(now)]
        self._values.check(values, living)
        new = self._values.changed(values)
        changed = [arc for arc in living if new.as_now(arc) != arc]
        self._become([new.as_now(arc) for arc in changed], [arc.id for arc in changed], new, now)
        return Counters()

    def _check_id(self, id_: Any, verb: str) -> None:
        if id_ is not None and id_ != self.names[0]:
            raise unknown(id_, self.names, verb)

    def _become(self, add: list[Arc], remove: list[str], values: ArcValues, now: int) -> None:
        """Let arcs come and go at a time; what is wrong with them is said before anything has changed."""
        before, self._values, self._read = self._values, values, {}
        try:
            specs = [written_arc(replace(arc, lives=ALWAYS)) for arc in add]
            changed = self.change(specs, remove, now, now, now)
            changed.plan()
        except BaseException:
            self._values, self._read = before, {}
            raise
        if changed.is_new:
            changed.replan()
        else:
            changed.apply()

    def _begin_anew(self, written: Query, values: ArcValues, now: int) -> Counters:
        """Forget all runs, and begin with another automaton, which sees the events that end now or later."""
        arcs = tuple(values.as_now(arc) for arc in written.automaton.arcs)
        written = replace(self._written, automaton=replace(written.automaton, arcs=arcs))
        entry = automaton_entry(written_automaton(written.automaton), self.names[0], _text(written.into))
        text = document([entry], "automaton")
        plans = opened(compile_query(text, self.schema, values.of(arcs), *self.how).plans)
        counters = self.chain.remove(set(self.names))
        self.chain.add(plans, now)
        self._written, self._values, self.automaton = written, values, written.automaton
        self.slots, self._read = [_slot(arc) for arc in arcs], {}
        return counters

    def said(self) -> Said:
        """The automaton with all arcs of its plan, and their lives."""
        return self.saying(self.automaton, self.slots)

    def saying(self, automaton: Automaton, slots: Sequence[Slot]) -> Said:
        """What would be said of other arcs."""
        automaton = replace(automaton, arcs=tuple(slot.written() for slot in slots))
        name, into = _text(self._written.name), _text(self._written.into)
        text = document([automaton_entry(written_automaton(automaton), name, into)], "automaton")
        return text, self._values.of(automaton.arcs)

    # ---- arcs --------------------------------------------------------------------------------------------

    def change(self, add: Iterable[Any], remove: Iterable[Any], time: int, now: int, base: int) -> Changed:
        """What it takes to have arcs come and go at a time, `now` or later.

        No event before `base` will be matched any more.
        """
        gone = [self._place(id_, time) for id_ in _ids(remove)]
        leaving = {self.slots[place].arc.id for place in gone}
        given = self._given(_listed(add, "add"))
        coming = {arc.id for arc in given}
        known = {slot.arc: place for place, slot in enumerate(self.slots) if slot.arc.id in coming}
        living = {arc.id for arc, place in known.items() if self.slots[place].lives_at(time)} - leaving
        for arc in given:
            if arc.id in living:
                raise OuzelError(
                    f"change: the arc '{arc.id}' is there already\n  hint: remove it in the same change"
                )
        came = [known.get(arc) for arc in given]
        return Changed(
            self,
            time,
            now,
            base,
            gone,
            [place for place in came if place is not None],
            [arc for arc, place in zip(given, came, strict=True) if place is None],
        )

    def _given(self, specs: list[Any]) -> list[Arc]:
        """The arcs of specifications; what was read before is not read again."""
        try:
            content = json.dumps(specs)
        except (TypeError, ValueError):
            content = None  # plain values, but not as JSON has them
        if content is not None and content in self._read:
            return self._read[content]
        found = [replace(self._values.as_now(arc), lives=()) for arc in arcs_to_come(specs, self.automaton)]
        if content is not None and len(self._read) < MOST_READ:
            self._read[content] = found
        return found

    def _place(self, id_: Any, time: int) -> int:
        for place, slot in enumerate(self.slots):
            if slot.arc.id == id_ and slot.lives_at(time):
                return place
        living = [slot.arc.id for slot in self.slots if slot.lives_at(time)]
        hint = did_you_mean(str(id_), living)
        raise OuzelError(
            f"change: there is no arc '{id_}' to remove; there are {listed(living)}"
            + (f"\n  hint: {hint}" if hint else "")
        )


@dataclass
class Changed:
    """A change that was checked, and is to be made: arcs by their places that go and come back, and new ones."""

    program: AutomatonProgram
    time: int
    now: int
    base: int
    gone: list[int]
    came: list[int]
    new: list[Arc]
    planned: tuple[Plan, list[Slot], Automaton] | None = None

    @property
    def is_new(self) -> bool:
        """Whether the automaton has to be planned anew."""
        return bool(self.new) or not _is_open(self.program.chain.links[0].physical)

    def apply(self) -> None:
        """Let numbers change, where all arcs are known."""
        plan = self.program.chain.links[0].physical
        assert isinstance(plan, RowPlan)
        assert plan.epochs is not None
        self._live(self.program.slots)
        arcs = [slot.arc for slot in self.program.slots]
        for time in sorted({self.time, self._later}):
            came, gone = ([one for one in some if self._at(arcs[one]) == time] for some in (self.came, self.gone))
            if came or gone:
                plan.epochs.change(time, came, gone)
        plan.epochs.forget(self.base)

    @property
    def _later(self) -> int:
        """From when on arcs at the end of the window can come and go: windows that end now are over."""
        return max(self.time, min(self.now, END - 1) + 1)

    def _at(self, arc: Arc) -> int:
        """When an arc comes or goes."""
        return self._later if arc.end_of_window else self.time

    def plan(self, suits: Callable[[Plan], bool] = lambda _plan: True) -> None:
        """Plan anew, if that has to be; what is wrong with new arcs is said before anything has changed."""
        if not self.is_new:
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
        slots += [Slot(arc, [(self._at(arc), END)]) for arc in self.new]
        if len(slots) > KEPT:
            slots = [slot for slot in slots if slot.lives_at(self._horizon())]
        link = program.chain.links[0]
        query = link.plan.query
        assert query.automaton is not None
        automaton = replace(program.automaton, states=query.automaton.states)
        text, params = program.saying(automaton, slots)
        (plan,) = opened(compile_query(text, program.schema, params, *program.how).plans)
        # runs go on in a plan that is open, as their columns are the same; or they are found anew
        goes_on = _is_open(plan.physical) or not isinstance(plan.physical, RowPlan)
        if not goes_on or _is_open(plan.physical) != _is_open(link.physical) or not suits(plan):
            many = f"its arcs make more than {MASK_BITS} ways" if not goes_on else "it runs otherwise now"
            raise OuzelError(
                f"change: with these arcs {plan.engine} would run it, and {many}\n"
                "  hint: name the engine when the matcher is made: engine='reference'"
            )
        self.planned = plan, slots, automaton

    def replan(self) -> None:
        """Let the runs go on with the new plan."""
        assert self.planned is not None
        plan, self.program.slots, self.program.automaton = self.planned
        self.program.chain.become(plan)

    def _horizon(self) -> int:
        """Before this time nothing is asked for any more."""
        link = self.program.chain.links[0]
        if isinstance(link.physical, RowPlan):
            return self.base
        window = link.plan.query.window
        return BEGINNING if window is None else self.base - window.limit

    def _live(self, slots: list[Slot]) -> None:
        """Note which arcs live from the time on, and forget lives that are long over."""
        for place in self.gone:
            since, _until = slots[place].lives.pop()
            time = self._at(slots[place].arc)
            if since < time:
                slots[place].lives.append((since, time))
        for place in self.came:
            lives, time = slots[place].lives, self._at(slots[place].arc)
            if lives and lives[-1][1] == time:
                lives.append((lives.pop()[0], END))
            else:
                lives.append((time, END))
        horizon = self._horizon()
        for slot in slots:
            if slot.lives and slot.lives[0][1] <= horizon:
                slot.lives = [life for life in slot.lives if life[1] > horizon]


def _is_open(plan: PhysicalPlan) -> bool:
    """Whether arcs come and go in a plan by a change of numbers."""
    return isinstance(plan, RowPlan) and plan.epochs is not None


def _begins(automaton: Automaton) -> tuple[Any, ...]:
    """What runs depend on beside arcs."""
    read = automaton.register, automaton.window, automaton.partition, automaton.events
    return automaton.start, frozenset(automaton.final), *read


def _text(name: Name | None) -> str | None:
    return None if name is None else name.text


def _slot(arc: Arc) -> Slot:
    lives = [(BEGINNING if a is None else a, END if b is None else b) for a, b in arc.lives]
    return Slot(replace(arc, lives=()), lives)


def arcs_to_come(specs: list[Any], automaton: Automaton) -> list[Arc]:
    """The arcs of specifications that are to come to an automaton; an error if they do not fit."""
    found, names = list(read_arcs(specs)), [one.name for one in automaton.register]
    for arc in found:
        check_arc(arc, names, has_window=automaton.window is not None)
        if arc.lives != ALWAYS:
            raise OuzelError(
                f"change: the arc '{arc.id}' has 'lives': required none, as it lives from the change on\n"
                "  hint: say when that is with at=…, and end it with another change, remove=[…]"
            )
    return found


def _ids(remove: Any) -> list[str]:
    given = _listed(remove, "remove")
    for id_ in given:
        if not isinstance(id_, str):
            raise OuzelError(f"change(remove=…): required ids of arcs, which are texts; got {id_!r}")
    return given


def _listed(given: Any, what: str) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise OuzelError(f"change({what}=…): required a list; got {given!r}\n  hint: write [{given!r}]")
    return list(given)
