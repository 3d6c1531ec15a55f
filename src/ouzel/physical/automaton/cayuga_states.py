"""Cayuga's construction, the end of it: from states and edges with formulas to the one automaton."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ouzel.language.tree import Strategy
from ouzel.logical.algebra.streams import Stream
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Element, Expression, Moment, references
from ouzel.logical.pattern import MASK_BITS, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.cayuga import Sketch, sketch
from ouzel.physical.automaton.closing import Closing
from ouzel.physical.automaton.edges import Edge, End, Test
from ouzel.physical.automaton.formula_words import formula_words
from ouzel.physical.automaton.keys import keyed
from ouzel.physical.automaton.lifetimes import lifetime
from ouzel.physical.automaton.masks import Masks
from ouzel.physical.automaton.states import (
    Assignment,
    Automaton,
    Condition,
    EventNumber,
    Guard,
    Held,
    Move,
    Register,
    State,
    Stay,
    is_event,
    key_of,
)
from ouzel.physical.compiled.forms import is_held
from ouzel.physical.compiled.sources import is_register
from ouzel.physical.contract import UnsuitableError


@dataclass(frozen=True)
class Constructed:
    """The automaton of an algebra expression, and the query as what is shared with other engines knows it.

    Its components are bits of masks, and have the conditions on single events.  `wanted` are the bits of the
    events that each variable may be bound to.  `ends` say by state what the results are that end there.
    """

    query: BoundQuery
    automaton: Automaton
    wanted: Mapping[str, int]
    ends: Mapping[int, End]
    closings: tuple[Closing, ...] = ()
    """Of the last states, which are for runs that wait for the end of their windows, what they wait for."""


def construct_algebra(query: BoundQuery, stream: Stream) -> Constructed:
    """The automaton of a linear-plus expression; an UnsuitableError if it cannot compute something."""
    drawn, tests = keyed(sketch(stream), query.schema)
    assembly = _Assembly(drawn, Masks(by_stream=False))
    automaton = assembly.automaton()
    if assembly.masks.are_too_many:
        assembly = _Assembly(drawn, Masks(by_stream=True))
        automaton = assembly.automaton()
    if assembly.masks.are_too_many:
        raise UnsuitableError(f"it reads more than {MASK_BITS} kinds of streams")
    components = tuple(assembly.masks.components.values())
    flat = replace(
        query,
        pattern=Sequence(tuple(map(Step, components))),
        components=components,
        strategy=Strategy.SKIP_TILL_ANY_MATCH,
        equivalences=tests,
        conjuncts=assembly.masks.conjuncts(),
        window=lifetime(drawn),
        algebra=None,
    )
    automaton = replace(
        automaton,
        window=flat.window,
        partition=tests,
        lasting=flat.reads_lasting,
        distinct=_tells_runs_apart(drawn),
    )
    return Constructed(flat, automaton, assembly.masks.of_variables, drawn.ends)


def _tells_runs_apart(drawn: Sketch) -> bool:
    """Whether runs of one start, which fork where a fold goes on, remember with which event they left it."""
    folds = {edge.source: edge.variable for edge, _target in drawn.rebinds}
    left: list[set[str]] = [set() for _state in drawn.names]
    read: list[set[str]] = [set() for _state in drawn.names]
    for state, end in drawn.ends.items():
        nodes = (node for value in end.attributes.values() for node in references(value))
        read[state] = {node.variable for node in nodes if not is_register(node)}
    # edges lead from states to those that were made later, but for those within a fold
    by_target = sorted(drawn.edges, key=lambda one: one[1])
    for edge, target in by_target:
        if edge.source is not None:
            left[target] |= left[edge.source]
            if edge.source in folds and (edge, target) not in drawn.rebinds:
                left[target].add(folds[edge.source])
    for edge, target in reversed(by_target):
        if edge.source is not None:
            read[edge.source] |= read[target]
    return all(left[state] <= read[state] for state in range(len(drawn.names)) if state not in drawn.ends)


@dataclass
class _Assembly:
    """Makes moves of edges, and notes the registers that they read."""

    drawn: Sketch
    masks: Masks
    registers: dict[object, Register] = field(default_factory=dict)

    def automaton(self) -> Automaton:
        drawn = self.drawn
        for edge, _target in drawn.edges:
            self._note(edge.reads())
        handed = {state: tuple(self._handed(end)) for state, end in drawn.ends.items()}
        states = [self._state(number, name, handed.get(number, ())) for number, name in enumerate(drawn.names)]
        starts = tuple(self._move(edge, target) for edge, target in drawn.edges if edge.source is None)
        return Automaton(tuple(self.registers.values()), (), starts, tuple(states), None, ())

    # ---- states and moves --------------------------------------------------------------------------------

    def _state(self, number: int, name: str, handed: tuple[Register, ...]) -> State:
        own = [(edge, target) for edge, target in self.drawn.edges if edge.source == number]
        if not own:
            return State(name, (), Stay(), (), handed)
        # all edges of a state have one θ
        unless = self._guard(own[0][0], own[0][0].stays_unless)
        return State(name, tuple(self._move(edge, target) for edge, target in own), Stay((unless,)))

    def _move(self, edge: Edge, target: int) -> Move:
        guard = self._guard(edge, edge.tests)
        self.masks.wanted(edge, guard.static)
        is_rebind = (edge, target) in self.drawn.rebinds
        return Move("rebind" if is_rebind else "forward", guard, target, None, tuple(self._assigned(edge)))

    def _guard(self, edge: Edge, tests: Iterable[Test]) -> Guard:
        """What is asked of an event; a run that starts has not been asked for anything before."""
        tests = list(tests)
        begins = len(tests) if edge.source is None else min(edge.asked, len(tests))
        known = next((test.known for test in reversed(tests[:begins]) if test.known is not None), ())
        bit, component = self._bit(edge, known)
        conditions: list[Condition] = []
        for place, test in enumerate(tests):
            if test.known is None or self.masks.by_stream:
                conditions += [Condition(_conjunct([one], component)) for one in test.conditions]
            elif place >= begins:
                conditions.append(
                    Condition(_conjunct(test.conditions, component), bit=self._bit(edge, test.known)[0])
                )
        return Guard(bit, tuple(conditions))

    def _bit(self, edge: Edge, known: tuple[Expression, ...]) -> tuple[int, Component]:
        bit = self.masks.bit(edge, known)
        return bit, next(one for one in self.masks.components.values() if one.bit == bit)

    # ---- registers ---------------------------------------------------------------------------------------

    def _note(self, expressions: Iterable[Expression]) -> None:
        for node in (node for one in expressions for node in references(one)):
            if not is_event(node):
                self._register(node)

    def _register(self, of: Held) -> Register:
        return self.registers.setdefault(key_of(of), Register(of))

    def _handed(self, end: End) -> Iterable[Register]:
        """What a result reads of its run: the events of its attributes but the last, and of its start."""
        yield self._register(EventNumber(end.first))
        for value in end.attributes.values():
            for node in references(value):
                yield self._register(node if is_register(node) else EventNumber(node.variable))

    def _assigned(self, edge: Edge) -> Iterable[Assignment]:
        for register in self.registers.values():
            of = register.of
            if of.variable == edge.variable:
                value = replace(of, element=Element.CURRENT) if isinstance(of, Attribute | Moment) else None
                yield Assignment(register, value)
        for computed, new in edge.computes:
            if not is_held(new, computed.type):
                raise UnsuitableError(f"it computes {computed.name}, {computed.type}, which no register holds")
            if key_of(computed) in self.registers:
                yield Assignment(self.registers[key_of(computed)], new)


def _conjunct(conditions: Iterable[Expression], component: Component) -> Conjunct:
    """Conditions of an edge, of which all must hold."""
    literals = tuple(conditions)
    return Conjunct(literals[:1], Place.BEGIN, component, " AND ".join(map(formula_words, literals)))
