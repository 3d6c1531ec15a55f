"""What is known of expressions before any event is seen: those that mention no variable have one value."""

from __future__ import annotations

from typing import Any

from ouzel.logical.conjuncts import Place
from ouzel.logical.expressions import Apply, Constant, Expression
from ouzel.logical.query import BoundQuery


def constant_value(expression: Expression) -> Any:
    """The value of an expression that mentions no variable."""
    if isinstance(expression, Apply):
        return expression.function(*map(constant_value, expression.arguments))
    assert isinstance(expression, Constant)
    return expression.value


def can_match(query: BoundQuery) -> bool:
    """Whether the conditions that mention no variable are true: if not, there are no matches."""
    always = [conjunct for conjunct in query.conjuncts if conjunct.place is Place.ALWAYS]
    return all(any(constant_value(literal) is True for literal in conjunct.literals) for conjunct in always)
