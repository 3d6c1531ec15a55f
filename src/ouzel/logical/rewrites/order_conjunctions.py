"""`A & B` is `A; B` where conditions say that A ends before B starts: a sequence costs less (ZStream 5.2.1).

The conditions stay: with columns that break ties they say more than the sequence does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Element, Expression, Moment
from ouzel.logical.pattern import Binds, Component, Conjunction, Pattern, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.change import changed, combined, is_negative

Orders = set[tuple[str, str]]
"""Pairs of variables, of which what the first is bound to ends before what the second is bound to starts."""


def order_conjunctions(query: BoundQuery) -> BoundQuery | None:
    """Make sequences of the conjunctions all operands of which are in a known order."""
    orders = {pair for conjunct in query.conjuncts for pair in _ordered_by(conjunct, query)}
    if not orders:
        return None

    def change(pattern: Pattern) -> Pattern:
        return _sequence(pattern, orders) if isinstance(pattern, Conjunction) else pattern

    pattern = changed(query.pattern, change)
    return None if pattern == query.pattern else replace(query, pattern=pattern)


def _sequence(conjunction: Conjunction, orders: Orders) -> Pattern:
    """A conjunction as a sequence, around which its negative operands still look."""
    operands = [item for item in conjunction.items if not is_negative(item)]
    before: dict[int, set[int]] = {
        number: {other for other, one in enumerate(operands) if _is_before(one, operand, orders)}
        for number, operand in enumerate(operands)
    }
    try:
        order = [operands[number] for number in TopologicalSorter(before).static_order()]
    except CycleError:
        return conjunction  # it never matches
    if len(order) < 2 or not all(_is_before(one, other, orders) for one, other in pairwise(order)):
        return conjunction
    negative = (item for item in conjunction.items if is_negative(item))
    return combined(Conjunction, (combined(Sequence, tuple(order)), *negative))


def _is_before(one: Pattern, other: Pattern, orders: Orders) -> bool:
    last, first = _edge(one, -1), _edge(other, 0)
    return last is not None and first is not None and (last.variable, first.variable) in orders


def _edge(pattern: Pattern, place: int) -> Component | None:
    """The component that binds the first or the last event of a pattern, if that is always the same."""
    while isinstance(pattern, Sequence):
        pattern = pattern.items[place]
    if isinstance(pattern, Step) and pattern.component.binds is Binds.ONE:
        return pattern.component
    return None


def _ordered_by(conjunct: Conjunct, query: BoundQuery) -> Iterator[tuple[str, str]]:
    """The two variables that a condition puts in order."""
    match conjunct.literals:
        case [Apply(function=function, arguments=(left, right))] if function.name in ("<", ">"):
            earlier, later = (left, right) if function.name == "<" else (right, left)
            before, after = _moment(earlier, "end", query), _moment(later, "start", query)
            if before is not None and after is not None:
                yield before, after


def _moment(expression: Expression, which: str, query: BoundQuery) -> str | None:
    """The variable of which an expression is the start or the end; what does not last has one time."""
    if not isinstance(expression, Moment | Attribute) or expression.element is not Element.SINGLE:
        return None
    component, time = query.component(expression.variable), query.schema.time
    if isinstance(expression, Moment) and expression.which == which:
        return component.variable
    is_time = isinstance(expression, Moment) or (expression.column, expression.type) == (time.name, time.type)
    return component.variable if is_time and not any(one.composite for one in component.types) else None
