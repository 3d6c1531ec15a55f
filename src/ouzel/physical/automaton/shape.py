"""What an automaton can run, and the parts that its source is written from."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Apply, Attribute, Constant, Element
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.pattern import (
    Binds,
    Component,
    Disjunction,
    Pattern,
    Step,
    components,
    has_conjunction_or_group,
)
from ouzel.logical.query import BoundQuery
from ouzel.logical.values import BOOLEAN, STRING
from ouzel.physical.automaton.steps import Crossing, Steps, build_steps
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.sources import TYPE
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.memory.partitions import key_column


@dataclass(frozen=True)
class Shape:
    """The states are the positive components; steps lead from one to the next (SASE+ 3.1)."""

    states: tuple[Component, ...]
    steps: Steps
    conjuncts: tuple[Conjunct, ...]
    strategy: Strategy
    optional: frozenset[str]  # variables that need not bind anything
    alternatives: frozenset[str]  # of these, those that are in alternatives
    keyed: bool = False  # the runs of all partitions go through the whole stream, as strict contiguity minds it

    def number(self, component: Component) -> int:
        """The number of a component's state."""
        return next(number for number, one in enumerate(self.states) if one is component)

    def after(self, state: int) -> list[tuple[list[int], int]]:
        """The states that may follow, each with those left empty on the way; -1 is before the start."""
        steps = self.steps.starts if state < 0 else self.steps.after(self.states[state])
        found: dict[int, list[int]] = {}
        for crossing, target in steps:
            # two ways of leaving alternatives empty lead to the same events
            found.setdefault(self.number(target), [self.number(one) for one in crossing.skipped])
        return [(skipped, target) for target, skipped in found.items()]

    def trailing(self, state: int) -> list[int] | None:
        """The states left empty when a run ends at one; None if it cannot end there."""
        ends = self.steps.ends_at(self.states[state])
        return [self.number(one) for one in ends[0].skipped] if ends else None

    def at(self, state: int, place: Place) -> list[Conjunct]:
        """The conditions of a state that are decided at a place."""
        component = self.states[state]
        return [c for c in self.conjuncts if c.component is component and c.place is place]

    def crossings(self) -> list[tuple[int, Crossing, int]]:
        """Every step that passes over negative components: from and to a state, -1 for the pattern's edge."""
        found = [(-1, crossing, self.number(target)) for crossing, target in self.steps.starts]
        found += [(self.number(a), crossing, self.number(b)) for a, crossing, b in self.steps.edges]
        found += [(self.number(source), crossing, -1) for source, crossing in self.steps.ends]
        return [one for one in found if one[1].negatives]


def shape_of(query: BoundQuery) -> tuple[Shape, Filters]:
    """The shape of a query and the conditions on single events, or an UnsuitableError."""
    if has_conjunction_or_group(query.pattern):
        raise UnsuitableError("an automaton takes events in sequence, not & or grouping closures")
    for test in query.equivalences:
        key_column(query, test)
    chosen = _in_choice(query.pattern)
    for component in query.components:
        if component.variable in chosen and component.binds is Binds.CLOSURE and component.least == 0:
            raise UnsuitableError(f"the closure '{component.variable}' may be empty in an alternative")
    relations = query.relations
    if query.shares_bits:
        relations = (*map(_of_type, query.components), *relations)
    states = tuple(one for one in query.components if not one.negative)
    optional = chosen | {one.variable for one in states if one.least == 0}
    keyed = query.strategy is Strategy.STRICT_CONTIGUITY and bool(query.equivalences)
    steps = build_steps(query.pattern)
    uncertain = frozenset(optional), frozenset(chosen)
    return Shape(states, steps, relations, query.strategy, *uncertain, keyed), Filters(query)


def _of_type(component: Component) -> Conjunct:
    """That an event has a type of the component: where several share a bit of the mask, that does not say so."""
    place = Place.NEGATIVE if component.negative else Place.TAKE if component.is_array else Place.BEGIN
    element = Element.CURRENT if component.is_array else Element.SINGLE
    of = component.variable, element, "type", TYPE, STRING, frozenset[str](), component.span
    literals = tuple(
        Apply(BUILT_IN["="], (Attribute(*of), Constant(name, STRING, component.span)), BOOLEAN, component.span)
        for name in sorted(component.type_names)
    )
    return Conjunct(literals, place, component, f"of type {' or '.join(sorted(component.type_names))}")


def _in_choice(pattern: Pattern) -> set[str]:
    """The variables inside alternatives."""
    if isinstance(pattern, Step):
        return set()
    if isinstance(pattern, Disjunction):
        return {component.variable for component in components(pattern)}
    return {variable for item in pattern.items for variable in _in_choice(item)}
