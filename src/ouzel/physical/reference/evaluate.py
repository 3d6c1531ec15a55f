"""The reference interpreter of expressions and conjuncts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from ouzel.errors import FunctionError
from ouzel.logical.aggregates import aggregate
from ouzel.logical.conjuncts import Conjunct, is_iterated
from ouzel.logical.expressions import (
    Aggregate,
    Apply,
    Attribute,
    Constant,
    Duration,
    Element,
    Events,
    Expression,
    Extent,
    Length,
    MatchNumber,
    Moment,
    Variable,
    references,
)
from ouzel.logical.times import told_event
from ouzel.logical.values import Kind
from ouzel.physical.reference.events import Event, Stream

# What the variables are bound to: an event, the events of a closure, or None for a `T?` that took none.
# A variable that is not there at all is unbound: it belongs to an alternative that was not chosen.
Bindings = Mapping[str, Event | tuple[Event, ...] | None]


def holds(conjunct: Conjunct, bindings: Bindings, stream: Stream, taken: str | None = None) -> bool:
    """Whether a conjunct is true of the events bound.

    `taken` is the closure that has just taken its last element: [i] then means that one.  For every other closure
    a conjunct with [i] must hold for each element.
    """
    nodes = [node for literal in conjunct.literals for node in references(literal)]
    if any(_is_unbound(node, bindings) for node in nodes):
        return True
    iterated = sorted({node.variable for node in nodes if is_iterated(node)})
    ranges = [_indices(conjunct, variable, bindings, taken) for variable in iterated]
    return all(
        any(
            _is_true(literal, bindings, stream, dict(zip(iterated, indices, strict=True)))
            for literal in conjunct.literals
        )
        for indices in product(*ranges)
    )


def _indices(conjunct: Conjunct, variable: str, bindings: Bindings, taken: str | None) -> Sequence[int]:
    """The elements that [i] stands for, counted from 1."""
    count = len(_elements(bindings, variable))
    first = 2 if variable in conjunct.from_second else 1
    if variable == taken:
        return range(max(first, count), count + 1)
    return range(first, count + 1)


def _is_unbound(node: Variable, bindings: Bindings) -> bool:
    """A conjunct that mentions an unbound variable is not applied; an aggregate of no events has a value."""
    if node.variable not in bindings:
        return True
    bound = bindings[node.variable]
    if isinstance(node, Attribute | Moment) and node.element not in (Element.CURRENT, Element.PREVIOUS):
        return bound is None or bound == ()
    return False


def _is_true(literal: Expression, bindings: Bindings, stream: Stream, at: Mapping[str, int]) -> bool:
    """A literal is true if it says so, or if it mentions an attribute that the event's type does not have."""
    for node in references(literal):
        if isinstance(node, Attribute) and node.missing_in:
            event = _event(node, bindings, at)
            if event is not None and event.type in node.missing_in:
                return True
    return evaluate(literal, bindings, stream, at) is True


def evaluate(
    expression: Expression, bindings: Bindings, stream: Stream, at: Mapping[str, int] | None = None
) -> Any:
    """The value of an expression; `at` says which element [i] means."""
    at = at or {}
    match expression:
        case Apply(function, arguments):
            values = [evaluate(argument, bindings, stream, at) for argument in arguments]
            try:
                return function(*values)
            except FunctionError as error:
                raise error.about(_told(expression, bindings, at, error.time)) from error.__cause__
        case Constant(value):
            return value
        case Attribute():
            event = _event(expression, bindings, at)
            return None if event is None else stream.value(event, expression.column)
        case Moment():
            event = _event(expression, bindings, at)
            if event is None:
                return None
            return event.start_time if expression.which == "start" else event.end_time
        case Length():
            return len(_elements(bindings, expression.variable))
        case Aggregate():
            return _aggregate(expression, bindings, stream, at)
        case Events():
            return _events(expression, bindings, stream)
        case MatchNumber():
            raise AssertionError("only all matches together have numbers")
        case Duration():
            raise AssertionError("durations are of the algebra")


def _told(expression: Expression, bindings: Bindings, at: Mapping[str, int], time: Any) -> str:
    """The events that an expression is about, in words."""
    nodes = [node for node in references(expression) if isinstance(node, Attribute | Moment)]
    events = {node.variable: event for node in nodes if (event := _event(node, bindings, at)) is not None}
    return "; ".join(told_event(variable, event.type, event.end_time, time) for variable, event in events.items())


def _elements(bindings: Bindings, variable: str) -> tuple[Event, ...]:
    bound = bindings.get(variable)
    return bound if isinstance(bound, tuple) else () if bound is None else (bound,)


def _event(node: Attribute | Moment, bindings: Bindings, at: Mapping[str, int]) -> Event | None:
    elements = _elements(bindings, node.variable)
    if not elements:
        return None
    match node.element:
        case Element.CURRENT:
            return elements[at[node.variable] - 1]
        case Element.PREVIOUS:
            return elements[at[node.variable] - 2]
        case Element.LAST:
            return elements[-1]
    return elements[0]


def _aggregate(node: Aggregate, bindings: Bindings, stream: Stream, at: Mapping[str, int]) -> Any:
    """An aggregate as in SQL: nulls do not count, and of nothing it is null, but for count."""
    if node.variable not in bindings:
        return None
    elements = _elements(bindings, node.variable)
    if node.extent is Extent.SO_FAR:
        elements = elements[: at[node.variable] - 1]
    if node.column is None:
        return len(elements)
    values = [stream.value(event, node.column) for event in elements]
    if node.input_type is not None and node.input_type.kind is Kind.FLOAT:
        values = [None if value is None else float(value) for value in values]
    if node.function in ("first", "last"):
        return None if not values else values[0] if node.function == "first" else values[-1]
    return aggregate(node.function, [value for value in values if value is not None])


def _events(node: Events, bindings: Bindings, stream: Stream) -> Any:
    """A whole variable as rows of the table, or one attribute of each of its events."""
    bound = bindings.get(node.variable)
    if node.column is None:
        return tuple(event.row for event in bound) if isinstance(bound, tuple) else bound and bound.row
    if bound is None:
        return None
    return [stream.value(event, node.column) for event in _elements(bindings, node.variable)]


def bound_events(bindings: Bindings) -> Iterator[Event]:
    """All events that are bound, by variable."""
    for variable in bindings:
        yield from _elements(bindings, variable)
