"""What an automaton can run, and the parts that its source is written from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Aggregate, Apply, Attribute, Constant, Element, Length
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.pattern import (
    Component,
    Disjunction,
    Pattern,
    Step,
    components,
    has_conjunction_or_group,
)
from ouzel.logical.query import BoundQuery
from ouzel.logical.values import BOOLEAN, STRING
from ouzel.physical.automaton.steps import Crossing, build_steps
from ouzel.physical.automaton.ways import Stand, Ways
from ouzel.physical.compiled.sources import TYPE
from ouzel.physical.contract import UnsuitableError


@dataclass(frozen=True)
class Shape:
    """Variables are the positive components; a state is one that a run bound last (SASE+ 3.1).

    Mostly there is a state for each; one that several ways lead to has one for each of these (ways.py).
    """

    variables: tuple[Component, ...]
    ways: Ways
    conjuncts: tuple[Conjunct, ...]
    strategy: Strategy
    optional: frozenset[str]  # variables that need not bind anything
    alternatives: frozenset[str]  # of these, those that are in alternatives
    keyed: bool = False  # the runs of all partitions go through the whole stream, as strict contiguity minds it

    @cached_property
    def states(self) -> tuple[Stand, ...]:
        """Where runs stand, by number."""
        return self.ways.stands(self.variables)

    @cached_property
    def codes(self) -> dict[str, list[int]]:
        """The numbers of the states in which each variable is the last bound."""
        found: dict[str, list[int]] = {one.variable: [] for one in self.variables}
        for number, one in enumerate(self.states):
            found[one.variable].append(number)
        return found

    @cached_property
    def empties(self) -> tuple[str, ...]:
        """The variables that may be chosen and left empty, or not chosen: a match tells which."""
        in_choice = [one for one in self.variables if one.variable in self.alternatives and one.least == 0]
        # what is one event or none is null either way, but negation may depend on it
        return tuple(one.variable for one in in_choice if one.is_array or self.ways.are_several)

    def after(self, state: int) -> list[tuple[tuple[Component, ...], int]]:
        """The states that may follow, each with what is left empty on the way; -1 is before the start."""
        return self._after[state + 1]

    @cached_property
    def _after(self) -> list[list[tuple[tuple[Component, ...], int]]]:
        """What may follow, for each state; as each is asked for by every move, it is found out once."""
        numbers = {one: number for number, one in enumerate(self.states)}
        befores = (None, *(one.component for one in self.states))
        return [[(crossing.skipped, numbers[one]) for crossing, one in self.ways.after(c)] for c in befores]

    def trailing(self, state: int) -> tuple[Component, ...] | None:
        """What is left empty when a run ends at a state; None if it cannot end there."""
        stand = self.states[state]
        for crossing in self.ways.steps.ends_at(stand.component):
            if stand.end is None or stand.end == tuple(one.variable for one in crossing.skipped):
                return crossing.skipped
        return None

    def at(self, component: Component, place: Place) -> list[Conjunct]:
        """The conditions of a component that are decided at a place."""
        return [c for c in self.conjuncts if c.component is component and c.place is place]

    def crossings(self) -> list[tuple[int, Crossing, int]]:
        """Every step that passes over negative components: between variables, -1 for the pattern's edge."""
        numbers = {one.variable: number for number, one in enumerate(self.variables)}
        found = [
            (numbers[before.variable] if before else -1, crossing, numbers[after.variable] if after else -1)
            for before, crossing, after in self.ways.all_steps
        ]
        return [one for one in found if one[1].negatives]


def check_suitable(query: BoundQuery) -> None:
    """Say in an UnsuitableError why no automaton can run a query, if so."""
    if has_conjunction_or_group(query.pattern):
        raise UnsuitableError("an automaton takes events in sequence, not & or grouping closures")


def shape_of(query: BoundQuery) -> Shape:
    """The shape of a query that an automaton can run."""
    chosen = _in_choice(query.pattern)
    relations = query.relations
    if query.shares_bits:
        relations = (*map(_of_type, query.components), *relations)
    variables = tuple(one for one in query.components if not one.negative)
    optional = chosen | {one.variable for one in variables if one.least == 0}
    keyed = query.strategy is Strategy.STRICT_CONTIGUITY and bool(query.equivalences)
    ways = Ways(build_steps(query.pattern))
    if any(one.variable in chosen and one.least == 0 for one in variables):
        read = (node for conjunct in query.conjuncts for node in conjunct.references)
        ways = Ways.of(
            ways.steps, frozenset(node.variable for node in read if isinstance(node, Aggregate | Length))
        )
    uncertain = frozenset(optional), frozenset(chosen)
    return Shape(variables, ways, relations, query.strategy, *uncertain, keyed)


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
    """The variables inside alternatives that bind something."""
    if isinstance(pattern, Step):
        return set()
    if isinstance(pattern, Disjunction):
        return {component.variable for component in components(pattern) if not component.negative}
    return {variable for item in pattern.items for variable in _in_choice(item)}
