"""Which states two versions of a query have in common: those to which the same leads, from the start on."""

from __future__ import annotations

from typing import Any

from ouzel.logical.algebra.streams import Stream
from ouzel.logical.expressions import Apply, Attribute, Constant, Expression, Moment
from ouzel.physical.automaton.cayuga import Sketch, sketch
from ouzel.physical.automaton.edges import Edge
from ouzel.physical.automaton.handover import Kept
from ouzel.physical.automaton.lifetimes import longest_of
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.contract import UnsuitableError


def kept_of_pattern(old: Shape, new: Shape, variables: frozenset[str], *, waits: bool) -> Kept:
    """The states in which one of some variables is the last bound; an UnsuitableError if these are several."""
    found: dict[int, int] = {}
    for variable in variables & old.codes.keys() & new.codes.keys():
        before, after = old.codes[variable], new.codes[variable]
        if len(before) > 1 or len(after) > 1:
            raise UnsuitableError("alternatives may be left empty in several ways")
        found |= dict(zip(before, after, strict=True))
    return Kept(found, waits=waits)


def kept_of_algebra(old: Stream, new: Stream) -> Kept:
    """The states of expressions into which the same edges lead, from states that are kept."""
    before, after = sketch(old), sketch(new)
    kept: set[int] = set()
    for state in range(min(len(before.names), len(after.names))):
        own, others = (_edges_into(one, state) for one in (before, after))
        sources = {edge.source for edge in own if edge.source is not None} - {state}
        if sources <= kept and list(map(_said, own)) == list(map(_said, others)):
            kept.add(state)
    longest = {state: ticks for state in kept if (ticks := _longest(before, state)) is not None}
    return Kept({state: state for state in kept}, longest)


def _edges_into(drawn: Sketch, state: int) -> list[Edge]:
    return [edge for edge, target in drawn.edges if target == state]


def _longest(drawn: Sketch, state: int) -> int | None:
    """How long a run may last for the edges by which it would leave a state; None if that does not matter."""
    own = [edge for edge, _target in drawn.edges if edge.source == state]
    conditions = [one for test in own[0].stays_unless for one in test.conditions] if own else []
    return min((most for one in conditions if (most := longest_of(one)) is not None), default=None)


def _said(edge: Edge) -> tuple[Any, ...]:
    """What an edge asks and computes, with the values of parameters."""
    tests = tuple(tuple(map(_in_words, test.conditions)) for test in edge.tests)
    computes = tuple((register.variable, _in_words(value)) for register, value in edge.computes)
    types = frozenset(one.name for one in edge.base.types)
    return edge.source, edge.variable, types, tests, None if edge.source is None else edge.asked, computes


def _in_words(expression: Expression) -> Any:
    """An expression, in which values of parameters are as good as written ones."""
    match expression:
        case Apply(function, arguments):
            return function, *map(_in_words, arguments)
        case Constant(value=value, exact=exact, type=kind):
            return repr(value), repr(exact), kind
        case Attribute(variable=variable, element=element, column=column):
            return variable, element, column
        case Moment(which=which, variable=variable, element=element):
            return which, variable, element
    return expression
