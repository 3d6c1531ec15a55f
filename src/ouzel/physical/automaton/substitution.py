"""What attributes of composite events are: expressions over the events that edges bind (Cayuga 3.4, Theorem 3).

σ, π, ρ and α outside of folds cost nothing at run time: attributes are replaced by what they stand for when an
automaton is constructed.  In what comes of it, a variable stands for the event that it was bound to last, and one
whose column is `COMPUTED` for a register.  The element `[i]` is the event at hand, which an edge is about to bind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from ouzel.errors import Span
from ouzel.logical.algebra.streams import Base, Extend, Hole, Rename, Select, Stream, StreamAttribute, Where
from ouzel.logical.expressions import (
    Apply,
    Attribute,
    Constant,
    Duration,
    Element,
    Expression,
    Moment,
    references,
    walk,
)
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.schema import Column
from ouzel.logical.values import INTEGER, UNKNOWN
from ouzel.physical.compiled.operands import COMPUTED
from ouzel.physical.contract import UnsuitableError

Environment = Mapping[str, Expression]
"""Attributes, in their order, and what they stand for."""


class AnyName(dict[str, Expression]):
    """The same where there are no data yet, and any name may be an attribute: of the event of a variable."""

    def __init__(self, known: Environment, variable: str, element: Element) -> None:
        """The attributes that are known."""
        super().__init__(known)
        self.variable, self.element = variable, element

    def __missing__(self, name: str) -> Expression:
        """An attribute of which nothing is known."""
        return Attribute(self.variable, self.element, name, name, UNKNOWN, frozenset(), NOWHERE)


NOWHERE = Span(0, 0)
# An expression that is larger was not written by hand: replaced in each other, few attributes make very many.
MOST_NODES = 5_000


def replaced(expression: Expression, leaf: Callable[[Expression], Expression]) -> Expression:
    """An expression with other leaves."""
    if isinstance(expression, Apply):
        return replace(expression, arguments=tuple(replaced(one, leaf) for one in expression.arguments))
    return leaf(expression)


def mapped(environment: Environment, change: Callable[[Expression], Expression], element: Element) -> Environment:
    """Attributes that stand for something else, of the event at hand or of one that is bound."""
    known = {name: change(value) for name, value in environment.items()}
    return AnyName(known, environment.variable, element) if isinstance(environment, AnyName) else known


def concatenated(left: Environment, right: Environment) -> Environment:
    """The attributes of a concatenation (2.2): the right ones overwrite, or come last."""
    known = {**left, **right}
    other = right if isinstance(right, AnyName) else left
    return AnyName(known, other.variable, other.element) if isinstance(other, AnyName) else known


def only(environment: Environment, attributes: Iterable[StreamAttribute]) -> Environment:
    """Some attributes in their order, and where all names may be some, those."""
    known = {one.name: environment[one.name] for one in attributes}
    if isinstance(environment, AnyName):
        return AnyName(known, environment.variable, environment.element)
    return known


def base_attributes(base: Base, variable: str) -> Environment:
    """The attributes of a base stream."""
    pairs = zip(base.attributes, base.columns, strict=True)
    known = {one.name: attribute_of(variable, column, one.name) for one, column in pairs}
    is_open = any(one.attributes is None for one in base.types)
    return AnyName(known, variable, Element.SINGLE) if is_open else known


def resolved(
    expression: Expression, environment: Environment, lasts: Expression, before: Environment | None = None
) -> Expression:
    """A formula over attributes as one over events; `before` are those before this iteration of a fold."""

    def leaf(node: Expression) -> Expression:
        if isinstance(node, Duration):
            return lasts
        if not isinstance(node, Attribute):
            return node
        if node.element is Element.PREVIOUS:
            assert before is not None
            return before[node.name]
        return environment[node.name]

    found = replaced(expression, leaf)
    if sum(1 for _node in walk(found)) > MOST_NODES:
        raise UnsuitableError("attributes that are computed of each other make too large an expression")
    return found


def conjuncts(condition: Expression) -> list[Expression]:
    """The operands of the outermost ANDs."""
    if isinstance(condition, Apply) and condition.function.name == "and":
        return [one for argument in condition.arguments for one in conjuncts(argument)]
    return [condition]


# ---- events ----------------------------------------------------------------------------------------------


def attribute_of(variable: str, column: Column, name: str) -> Attribute:
    """An attribute of the event that a variable was bound to last."""
    return Attribute(variable, Element.SINGLE, name, column.name, column.type, frozenset(), NOWHERE)


def register_of(variable: str, attribute: StreamAttribute) -> Attribute:
    """A register that runs compute."""
    return Attribute(variable, Element.SINGLE, attribute.name, COMPUTED, attribute.type, frozenset(), NOWHERE)


def duration(first: str, last: str) -> Expression:
    """How many ticks there are from the start of one event to the end of another, both among them."""
    start = Moment("start", first, Element.SINGLE, INTEGER, NOWHERE)
    end = Moment("end", last, Element.SINGLE, INTEGER, NOWHERE)
    difference = Apply(BUILT_IN["-"], (end, start), INTEGER, NOWHERE)
    return Apply(BUILT_IN["+"], (difference, Constant(1, INTEGER, NOWHERE)), INTEGER, NOWHERE)


def at_hand(expression: Expression, variable: str) -> Expression:
    """The same while an edge is about to bind a variable: its event is the one at hand."""
    return _with_element(expression, variable, Element.SINGLE, Element.CURRENT)


def once_bound(expression: Expression, variable: str) -> Expression:
    """The same once the event at hand is bound to a variable."""
    return _with_element(expression, variable, Element.CURRENT, Element.SINGLE)


def _with_element(expression: Expression, variable: str, old: Element, new: Element) -> Expression:
    def leaf(node: Expression) -> Expression:
        if isinstance(node, Attribute | Moment) and node.variable == variable and node.element is old:
            return replace(node, element=new)
        return node

    return replaced(expression, leaf)


def is_static(expression: Expression) -> bool:
    """Whether a condition is about the event at hand alone, or about nothing."""
    nodes = references(expression)
    return all(isinstance(node, Attribute | Moment) and node.element is Element.CURRENT for node in nodes)


# ---- unary expressions -----------------------------------------------------------------------------------


def of_events(stream: Stream, variable: str) -> tuple[Base, list[Expression], Environment]:
    """A unary expression over a base stream: what has to be true of its events, and what its attributes are."""
    conditions: list[Expression] = []

    def environment(one: Stream) -> Environment:
        if isinstance(one, Base):
            return base_attributes(one, variable)
        assert isinstance(one, Where | Select | Rename | Extend)
        of = environment(one.of)
        if isinstance(one, Where):
            conditions.extend(conjuncts(resolved(one.condition, of, duration(variable, variable))))
            return of
        return renewed(one, of, duration(variable, variable))

    found = environment(stream)
    while not isinstance(stream, Base):
        assert isinstance(stream, Where | Select | Rename | Extend)
        stream = stream.of
    return stream, conditions, found


def renewed(
    operator: Select | Rename | Extend, of: Environment, lasts: Expression, before: Environment | None = None
) -> Environment:
    """The attributes behind π, ρ or α."""
    names = [one.name for one in operator.attributes]
    match operator:
        case Select():
            return {name: of[name] for name in names}
        case Rename():
            return dict(zip(names, of.values(), strict=True))
    values = {name: resolved(value, of, lasts, before) for name, value in operator.values}
    return only(concatenated(of, values), operator.attributes)


def stepped(
    step: Stream, of: Environment, lasts: Expression, before: Environment
) -> tuple[list[Expression], Environment]:
    """What a fold's step makes of one iteration: what has to be true of it, and its attributes."""
    if isinstance(step, Hole):
        return [], of
    assert isinstance(step, Where | Select | Rename | Extend)
    conditions, found = stepped(step.of, of, lasts, before)
    if isinstance(step, Where):
        return conditions + conjuncts(resolved(step.condition, found, lasts, before)), found
    return conditions, renewed(step, found, lasts, before)
