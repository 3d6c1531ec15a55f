"""What rules change: parts of a pattern, each put together again in its normal form, and components."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ouzel.logical.pattern import Component, Operator, Pattern, Step, flattened
from ouzel.logical.query import BoundQuery
from ouzel.logical.rewrites.conditions import on_more_types


def changed(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """A pattern in which every part has been changed, the inner ones first."""
    if isinstance(pattern, Step):
        return change(pattern)
    return change(combined(type(pattern), tuple(changed(item, change) for item in pattern.items)))


def combined(operator: Operator, items: Iterable[Pattern]) -> Pattern:
    """Operands under an operator, all of them flat; one alone needs none."""
    flat = flattened(operator, items)
    return flat[0] if len(flat) == 1 else operator(flat)


def is_negative(pattern: Pattern) -> bool:
    """Whether a pattern is a negative component."""
    return isinstance(pattern, Step) and pattern.component.negative


def absorbed(query: BoundQuery, into: Component, gone: Component) -> BoundQuery:
    """A query in which one component takes the events of another, too, which is gone with its conditions."""
    known = into.type_names
    types = (*into.types, *(one for one in gone.types if one.name not in known))
    component = replace(into, types=types)

    def change(pattern: Pattern) -> Pattern:
        if isinstance(pattern, Step):
            return Step(component) if pattern.component is into else pattern
        left = tuple(item for item in pattern.items if not (isinstance(item, Step) and item.component is gone))
        return combined(type(pattern), left)

    return replace(
        query,
        pattern=changed(query.pattern, change),
        components=tuple(component if one is into else one for one in query.components if one is not gone),
        conjuncts=tuple(
            on_more_types(one, into, component) if into.variable in one.variables else one
            for one in query.conjuncts
            if gone.variable not in one.variables
        ),
    )
