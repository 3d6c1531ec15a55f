"""Arcs that come and go in a running matcher of a register automaton (AFA 2.3, 5.2: arcs are events, too).

`Changed` makes the change.  Where another automaton takes the place of this one, it is what their arcs differ in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from ouzel.compile import compile_query
from ouzel.errors import OuzelError, did_you_mean, listed
from ouzel.language import parse
from ouzel.language.automaton_spec import check_arc, read_arcs, written_arc, written_automaton
from ouzel.language.automaton_tree import ALWAYS, Arc, Automaton, Query
from ouzel.language.document import automaton_entry, document
from ouzel.language.tree import Name
from ouzel.logical.schema import Schema
from ouzel.physical.contract import Counters
from ouzel.runtimes.arc_values import ArcValues
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.changed_arcs import Changed, Slot, later, opened, slot_of
from ouzel.runtimes.roster import Said, check_id, said_of

# So many lists of arcs that came are known by what they say.
MOST_READ = 1_000


@dataclass(frozen=True)
class Known:
    """Arcs that came: places of those that were there, and those that are new, among some slots."""

    among: int
    arcs: list[Arc]
    ids: list[str]
    there: list[int]
    new: list[Arc]


@dataclass(frozen=True)
class Swap:
    """What it takes to become another automaton: arcs that come, ids of those that go, and values."""

    add: list[Any]
    remove: list[str]
    values: ArcValues

    @classmethod
    def of(cls, arcs: Iterable[Arc], remove: list[str], values: ArcValues) -> Swap:
        """The same, of arcs that are read."""
        return cls([written_arc(replace(arc, lives=ALWAYS)) for arc in arcs], remove, values)


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
        self.slots = [slot_of(arc) for arc in written.automaton.arcs]
        self.automaton = written.automaton
        self._by_id: dict[str, list[int]] | None = None
        self._by_arc: dict[Arc, int] | None = None
        self._among = 0
        """Which slots there are: another number for others."""
        self._read: dict[str, Known] = {}
        """Arcs that came, by what was said."""
        self.begins_anew = True
        """Whether another automaton may take its place with which all begins anew."""

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

    def replace(self, id_: Any, query: Any, now: int) -> Counters | Swap:
        """What arcs are not the same; with another register, window or start all begins anew."""
        check_id(id_, self.names, "replace")
        text, brought = said_of(query, "replace")
        written, *more = parse(text)
        if not isinstance(written, Query) or more:
            raise OuzelError("replace: required a register automaton, oz.automaton(…), as the matcher has one")
        new = written.automaton
        if any(arc.lives != ALWAYS for arc in new.arcs):
            raise OuzelError("replace: required arcs without 'lives': they live from now on")
        values = self._values.changed(brought)
        have_lived = [slot.arc for slot in self.slots if slot.lives and slot.lives[0][0] <= _since(slot, now, now)]
        if _begins(new, new.arcs) != _begins(self.automaton, have_lived):
            return self._begin_anew(written, values, now)
        arcs = {arc.id: replace(values.as_now(arc), lives=()) for arc in new.arcs}
        living = self._all_living(now)
        lasting = [slot for slot in living if slot.lives_on(_since(slot, now, now))]
        others = {slot.arc.id for slot in living if arcs.get(slot.arc.id) != slot.arc or slot not in lasting}
        kept = {slot.arc.id for slot in living} - others
        return Swap.of((arc for id_, arc in arcs.items() if id_ not in kept), sorted(others), values)

    def set_params(self, id_: Any, values: Mapping[str, Any], now: int) -> Swap:
        """Arcs that mention some parameters, with which others come with new values."""
        check_id(id_, self.names, "set_params")
        living = self._all_living(now)
        self._values.check(values, [slot.arc for slot in living])
        new = self._values.changed(values)
        changed = [slot for slot in living if new.as_now(slot.arc) != slot.arc]
        waiting = next((slot.arc.id for slot in changed if not slot.lives_on(_since(slot, now, now))), None)
        if waiting is not None:
            raise OuzelError(
                f"set_params: required arcs that stay; a change of the arc '{waiting}' is still to come\n"
                "  hint: set parameters once its time has passed, or take the change back"
            )
        return Swap.of((new.as_now(slot.arc) for slot in changed), [slot.arc.id for slot in changed], new)

    def _begin_anew(self, written: Query, values: ArcValues, now: int) -> Counters:
        """Forget all runs, and begin with another automaton, which sees the events that end now or later."""
        if not self.begins_anew:
            raise OuzelError(
                "replace: required the same register, window, partition, start and final states, as matches were "
                "reported that may be withdrawn; got others, by which all begins anew\n"
                "  hint: make a new matcher"
            )
        arcs = tuple(values.as_now(arc) for arc in written.automaton.arcs)
        written = replace(self._written, automaton=replace(written.automaton, arcs=arcs))
        entry = automaton_entry(written_automaton(written.automaton), self.names[0], _text(written.into))
        text = document([entry], "automaton")
        plans = opened(compile_query(text, self.schema, values.of(arcs), *self.how).plans)
        counters = self.chain.remove(set(self.names))
        self.chain.add(plans, now)
        self._written, self._values, self.automaton = written, values.only(arcs), written.automaton
        self.slots, self._read = [slot_of(arc) for arc in arcs], {}
        self._among += 1
        self._by_id = self._by_arc = None
        return counters

    def said(self) -> Said:
        """The automaton with all arcs of its plan, and their lives."""
        return self.saying(self.automaton, self.slots, self._values)

    def saying(self, automaton: Automaton, slots: Sequence[Slot], values: ArcValues) -> Said:
        """What would be said of other arcs."""
        automaton = replace(automaton, arcs=tuple(slot.written() for slot in slots))
        name, into = _text(self._written.name), _text(self._written.into)
        text = document([automaton_entry(written_automaton(automaton), name, into)], "automaton")
        return text, values.of(automaton.arcs)

    # ---- arcs --------------------------------------------------------------------------------------------

    def have(self, automaton: Automaton, slots: list[Slot]) -> None:
        """Note the arcs that there are now, and forget the values of others."""
        self.automaton, self.slots = automaton, slots
        self._among += 1
        self._by_id = self._by_arc = None
        self._values = self._values.only(slot.arc for slot in slots)

    def know(self, values: ArcValues) -> None:
        """Note the values that parameters have now."""
        if values is not self._values:
            self._values, self._read = values, {}

    def change(
        self,
        add: Iterable[Any],
        remove: Iterable[Any],
        time: int,
        now: int,
        base: int,
        values: ArcValues | None = None,
    ) -> Changed:
        """What it takes to have arcs come and go at a time, `now` or later, and parameters have other values.

        No event before `base` will be matched any more.
        """
        values = self._values if values is None else values
        gone: list[int] = []
        for id_ in _ids(remove):
            gone += [place for place in self._places(id_, time, now) if place not in gone]
        specs = _listed(add, "add")
        known = self._known(repr(specs), values)
        if known is None:  # those without an id are never known, as they get one first
            known = self._given(self._named(specs, gone, time), values)
        for id_ in known.ids:
            if any(place not in gone for place in self._living(id_, time, now)):
                raise OuzelError(
                    f"change: the arc '{id_}' is there already\n"
                    "  hint: remove it in the same change, or give the new one an id of its own"
                )
        return Changed(self, values, time, now, base, gone, known.there, known.new)

    def _named(self, specs: list[Any], gone: list[int], time: int) -> list[Any]:
        """Specifications of arcs, where those without an id have one that no arc has then or later."""
        if not any(map(_is_nameless, specs)):
            return specs
        taken = {slot.arc.id for place, slot in enumerate(self.slots) if place not in gone and slot.lives_at(time)}
        return named(specs, taken)

    def _known(self, content: str, values: ArcValues) -> Known | None:
        """What is known of specifications by what they say, if there are the same slots as then."""
        known = self._read.get(content) if values is self._values else None
        return known if known is not None and known.among == self._among else None

    def _given(self, specs: list[Any], values: ArcValues) -> Known:
        """The arcs of specifications, and the places of those that were there before; what was read is known."""
        content = repr(specs)  # what is read is made of plain values, which it tells apart
        is_as_now = values is self._values
        read = self._read.get(content) if is_as_now else None
        arcs = read.arcs if read is not None else self._read_anew(specs, values)
        if self._by_arc is None:
            self._by_arc = {slot.arc: place for place, slot in enumerate(self.slots)}
        places = self._by_arc
        found = Known(
            self._among,
            arcs,
            [arc.id for arc in arcs],
            [places[arc] for arc in arcs if arc in places],
            [arc for arc in arcs if arc not in places],
        )
        if is_as_now:
            if len(self._read) >= MOST_READ:
                self._read.clear()
            self._read[content] = found
        return found

    def _read_anew(self, specs: list[Any], values: ArcValues) -> list[Arc]:
        return [replace(values.as_now(arc), lives=()) for arc in arcs_to_come(specs, self.automaton)]

    def _living(self, id_: str, time: int, now: int) -> list[int]:
        """The places of the arcs of an id that live at a time or later: several, if one takes another's place."""
        if self._by_id is None:
            self._by_id = {}
            for place, slot in enumerate(self.slots):
                self._by_id.setdefault(slot.arc.id, []).append(place)
        slots = self.slots
        return [
            place for place in self._by_id.get(id_, ()) if slots[place].lives_at(_since(slots[place], time, now))
        ]

    def _all_living(self, now: int) -> list[Slot]:
        return [slot for slot in self.slots if slot.lives_at(_since(slot, now, now))]

    def _places(self, id_: str, time: int, now: int) -> list[int]:
        places = self._living(id_, time, now)
        if places:
            return places
        living = [slot.arc.id for slot in self.slots if slot.lives_at(time)]
        hint = did_you_mean(str(id_), living)
        raise OuzelError(
            f"change: there is no arc '{id_}' to remove; there are {listed(living)}"
            + (f"\n  hint: {hint}" if hint else "")
        )


def _since(slot: Slot, time: int, now: int) -> int:
    """Since when a change at a time is one for an arc."""
    return later(time, now) if slot.arc.end_of_window else time


def _begins(automaton: Automaton, arcs: Iterable[Arc]) -> tuple[Any, ...]:
    """What runs depend on beside arcs: also the states that these make final."""
    final = {*automaton.final, *(arc.target for arc in arcs if arc.final)}
    read = automaton.register, automaton.window, automaton.partition, automaton.events
    return automaton.start, final, *read


def _text(name: Name | None) -> str | None:
    return None if name is None else name.text


def named(specs: list[Any], taken: Iterable[str]) -> list[Any]:
    """Specifications of arcs, where those without an id have the first of a0, a1, … that is free."""
    used = {*taken, *(str(spec["id"]) for spec in specs if isinstance(spec, Mapping) and "id" in spec)}
    free = (name for number in count() if (name := f"a{number}") not in used)
    return [{**spec, "id": next(free)} if _is_nameless(spec) else spec for spec in specs]


def _is_nameless(spec: Any) -> bool:
    return isinstance(spec, Mapping) and spec.get("id") is None


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
    if given is None or type(given) is list:
        return given or []
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        is_json = isinstance(given, str) and what == "add"
        hint = "json.loads(…) makes one of a text in JSON" if is_json else f"write [{given!r}]"
        raise OuzelError(f"change({what}=…): required a list; got {given!r}\n  hint: {hint}")
    return list(given)
