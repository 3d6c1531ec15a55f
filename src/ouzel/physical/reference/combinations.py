"""Conjunctions and grouping closures, by enumeration: skip_till_any_match only.

Every combination of events that the pattern's operators allow is a candidate; the conditions then decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

from ouzel.logical.expressions import Attribute, Element, references
from ouzel.logical.pattern import Binds, Component, Conjunction, Disjunction, Pattern, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.evaluate import Bindings, bound_events, holds
from ouzel.physical.reference.events import Event, Stream
from ouzel.physical.reference.match import Gap, Match, within


@dataclass(frozen=True)
class Slot:
    """A place in a sequence that is filled last: negative components and at most one grouping closure."""

    components: tuple[Component, ...]
    after: Event | None = None
    before: Event | None = None
    around: bool = False


@dataclass(frozen=True)
class Candidate:
    """Events bound so far, and the slots still to fill."""

    bindings: Bindings
    slots: tuple[Slot, ...] = ()

    @property
    def events(self) -> list[Event]:
        """All events bound so far."""
        return list(bound_events(self.bindings))


class CombinationMatcher:
    """Enumerates one query over one partition of a stream."""

    def __init__(self, query: BoundQuery, stream: Stream, part: Stream) -> None:
        """Keep what is to be matched: the events of one partition of the stream."""
        self.query = query
        self.stream = stream
        self.part = part

    def matches(self, told: Callable[[int], None], _bounds: Bounds) -> Iterator[Match]:
        """All matches, before negation; `told` is given the number of events when they are done."""
        for pattern in alternatives(self.query.pattern):
            for candidate in self._candidates(pattern, None):
                yield from self._fill(candidate)
        told(len(self.part.events))

    # ---- what the operators allow ------------------------------------------------------------------------

    def _candidates(self, pattern: Pattern, after: Event | None) -> Iterator[Candidate]:
        """All ways to bind a pattern to events that come after a given one."""
        match pattern:
            case Step(component):
                yield from self._component(component, after)
            case Sequence(items):
                yield from self._sequence(items, after, Candidate({}), ())
            case Conjunction(items):
                yield from self._conjunction(items, after)

    def _component(self, component: Component, after: Event | None) -> Iterator[Candidate]:
        if component.binds in (Binds.NONE, Binds.GROUP):
            yield Candidate({}, (Slot((component,)),))
            return
        events = [e for e in self.part.events if e.type in component.type_names and self._passes(component, e)]
        if component.binds is Binds.ONE:
            for event in events:
                if after is None or after.precedes(event):
                    yield Candidate({component.variable: event})
            return
        for chain in self._chains(component, events, after, ()):
            yield Candidate({component.variable: chain if component.is_array else next(iter(chain), None)})

    def _chains(
        self,
        component: Component,
        events: list[Event],
        after: Event | None,
        chain: tuple[Event, ...],
    ) -> Iterator[tuple[Event, ...]]:
        """All rising choices of events that a SASE+ closure can take."""
        if len(chain) >= component.least:
            yield chain
        if component.most is not None and len(chain) == component.most:
            return
        for event in events:
            near = not chain or within(self.query.window, chain[0], event, self.part)
            if near and (after is None or after.precedes(event)):
                yield from self._chains(component, events, event, (*chain, event))

    def _sequence(
        self,
        items: tuple[Pattern, ...],
        after: Event | None,
        so_far: Candidate,
        waiting: tuple[Component, ...],
    ) -> Iterator[Candidate]:
        """Bind the items one after another; `waiting` are the slots since the last event was bound."""
        last = max(so_far.events, key=lambda event: event.end, default=None)
        if not items:
            yield replace(so_far, slots=so_far.slots + _slots(waiting, last, None))
            return
        item, rest = items[0], items[1:]
        if isinstance(item, Step) and item.component.binds in (Binds.NONE, Binds.GROUP):
            yield from self._sequence(rest, after, so_far, (*waiting, item.component))
            return
        for candidate in self._candidates(item, last or after):
            bindings = {**so_far.bindings, **candidate.bindings}
            if not candidate.events:
                # what is not to happen around the match is so whatever else the conjunction binds
                around = tuple(slot for slot in candidate.slots if slot.around)
                kept = Candidate(bindings, so_far.slots + around)
                yield from self._sequence(rest, after, kept, waiting)
                continue
            first = min(candidate.events, key=lambda event: event.start)
            # slots at the edge of an inner sequence have their neighbours here
            earlier = tuple(_closed(slot, before=first) for slot in so_far.slots)
            inner = tuple(_closed(slot, after=last) for slot in candidate.slots)
            slots = earlier + _slots(waiting, last, first) + inner
            yield from self._sequence(rest, after, Candidate(bindings, slots), ())

    def _conjunction(self, items: tuple[Pattern, ...], after: Event | None) -> Iterator[Candidate]:
        """All items on distinct events, in any order."""
        positive = [item for item in items if not _is_negative(item)]
        negative = tuple(
            Slot((item.component,), around=True)
            for item in items
            if isinstance(item, Step) and item.component.negative
        )
        choices = [list(self._candidates(item, after)) for item in positive]
        for chosen in product(*choices):
            events = [event for candidate in chosen for event in candidate.events]
            if len(set(events)) == len(events):
                bindings = {v: b for candidate in chosen for v, b in candidate.bindings.items()}
                slots = tuple(slot for candidate in chosen for slot in candidate.slots)
                yield Candidate(bindings, slots + negative)

    # ---- grouping closures and conditions ----------------------------------------------------------------

    def _is_near(self, match: Match) -> bool:
        window = self.query.window
        return within(window, match.opens(window), match.last, self.part)

    def _fill(self, candidate: Candidate) -> Iterator[Match]:
        """Fill the slots: those at the end first, as they decide where the match ends, then all others."""
        slots = sorted(candidate.slots, key=lambda slot: slot.before is not None)
        fillings = [Match(candidate.bindings)]
        for slot in slots:
            fillings = [filled for match in fillings for filled in self._fill_slot(match, slot)]
        for match in fillings:
            if match.events and self._is_near(match):
                positive = [c for c in self.query.conjuncts if not (c.component and c.component.negative)]
                if all(holds(conjunct, match.bindings, self.stream) for conjunct in positive):
                    yield match

    def _fill_slot(self, match: Match, slot: Slot) -> Iterator[Match]:
        group = next((c for c in slot.components if c.binds is Binds.GROUP), None)
        if group is None:
            gaps = tuple(Gap(c, slot.after, slot.before, slot.around) for c in slot.components)
            yield replace(match, gaps=match.gaps + gaps)
            return
        place = slot.components.index(group)
        for elements in self._groups(group, match, slot):
            first, last = (elements[0], elements[-1]) if elements else (slot.before, slot.after)
            gaps = tuple(Gap(c, slot.after, first) for c in slot.components[:place])
            gaps += tuple(Gap(c, last, slot.before) for c in slot.components[place + 1 :])
            bindings = {**match.bindings, group.variable: elements}
            yield Match(bindings, match.gaps + gaps)

    def _groups(self, group: Component, match: Match, slot: Slot) -> Iterator[tuple[Event, ...]]:
        """The groups that a closure can be: all events between its neighbours, or every n successive ones."""
        events = [
            event
            for event in self.part.events
            if event.type in group.type_names
            and self._passes(group, event)
            and (slot.after is None or slot.after.precedes(event))
            and (slot.before is None or event.precedes(slot.before))
        ]
        if slot.before is None:
            # no right neighbour: every event of the closure may be its last
            stops = sorted({event.end for event in events})
            choices = [[event for event in events if event.end <= stop] for stop in stops]
            if group.least == 0:
                choices.append([])
        else:
            choices = [events]
        for chosen in choices:
            near = chosen
            if slot.after is None and chosen:
                # no left neighbour: the window says where the closure begins
                ends = [*match.events, *(chosen if slot.before is None else ())]
                last = max(ends, key=lambda event: event.end)
                near = [event for event in chosen if within(self.query.window, event, last, self.part)]
            if group.successive:
                count = group.least
                yield from (tuple(near[k : k + count]) for k in range(len(near) - count + 1))
            elif len(near) >= group.least:
                yield tuple(near)

    def _passes(self, component: Component, event: Event) -> bool:
        """Whether an event satisfies a component's single-class predicates."""
        bindings = {component.variable: (event,) if component.is_array else event}
        single = (Element.SINGLE, Element.CURRENT)
        return all(
            holds(conjunct, bindings, self.stream, component.variable)
            for conjunct in self.query.conjuncts
            if conjunct.variables == {component.variable}
            and all(
                isinstance(node, Attribute) and node.element in single
                for literal in conjunct.literals
                for node in references(literal)
            )
        )


def alternatives(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern with every disjunction decided, in every way."""
    match pattern:
        case Step():
            yield pattern
        case Disjunction(items):
            for item in items:
                yield from alternatives(item)
        case Sequence(items):
            for chosen in product(*(list(alternatives(item)) for item in items)):
                yield Sequence(_flattened(chosen))
        case Conjunction(items):
            for chosen in product(*(list(alternatives(item)) for item in items)):
                yield Conjunction(chosen)


def _flattened(items: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
    return tuple(part for item in items for part in (item.items if isinstance(item, Sequence) else (item,)))


def _slots(waiting: tuple[Component, ...], after: Event | None, before: Event | None) -> tuple[Slot, ...]:
    return (Slot(waiting, after, before),) if waiting else ()


def _closed(slot: Slot, *, after: Event | None = None, before: Event | None = None) -> Slot:
    """A slot with the neighbours that it lacks, unless it looks around the whole match."""
    if slot.around:
        return slot
    return replace(slot, after=slot.after or after, before=slot.before or before)


def _is_negative(pattern: Pattern) -> bool:
    return isinstance(pattern, Step) and pattern.component.negative
