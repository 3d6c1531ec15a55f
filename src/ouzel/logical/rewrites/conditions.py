"""What the conditions of a query say of one of its components, whatever that is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Expression, Variable
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery

# What no variable is called.
_IT = "\0"


def said_of(query: BoundQuery, component: Component) -> list[tuple[Expression, ...]]:
    """The conditions on a component, with its name left out: those on two of them can be compared."""

    def unnamed(node: Variable) -> Variable:
        # which types lack an attribute follows from the types
        told = replace(node, missing_in=frozenset()) if isinstance(node, Attribute) else node
        return replace(told, variable=_IT)

    own = [one for one in query.conjuncts if component.variable in one.variables]
    return [tuple(_with(literal, component, unnamed) for literal in one.literals) for one in own]


def on_more_types(conjunct: Conjunct, before: Component, after: Component) -> Conjunct:
    """A condition on a component that has more types than before, some of which may lack an attribute."""

    def retyped(node: Variable) -> Variable:
        if not isinstance(node, Attribute):
            return node
        return replace(node, missing_in=frozenset(t.name for t in after.types if t.column(node.name) is None))

    literals = tuple(_with(literal, before, retyped) for literal in conjunct.literals)
    component = after if conjunct.component is before else conjunct.component
    return replace(conjunct, literals=literals, component=component)


def _with(expression: Expression, component: Component, change: Callable[[Variable], Variable]) -> Expression:
    """An expression in which the references to a component have been changed."""
    if isinstance(expression, Apply):
        arguments = tuple(_with(one, component, change) for one in expression.arguments)
        return replace(expression, arguments=arguments)
    if isinstance(expression, Variable) and expression.variable == component.variable:
        return change(expression)
    return expression
