"""Stage 2, promises: the condition of a punctuation, over the columns of one event (AFA, Appendix F.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ouzel.errors import QueryError
from ouzel.language import tree
from ouzel.language.parser import parse_alone
from ouzel.language.tree import Strategy
from ouzel.logical.bind_expression import ExpressionBinder
from ouzel.logical.bind_time import TIME_FUNCTIONS
from ouzel.logical.conjuncts import Conjunct, place_conjuncts
from ouzel.logical.expressions import Apply, Attribute, Expression, references
from ouzel.logical.pattern import Binds, Component, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Schema
from ouzel.logical.values import BOOLEAN

_WHERE = "where"


def bind_promise(text: Any, schema: Schema) -> BoundQuery:
    """A query for the single events of which a condition is true; what is null is not."""
    if not isinstance(text, str):
        raise QueryError(f"{_WHERE}: got {text!r}", required="a condition as text, such as \"symbol = 'IBM'\"")
    try:
        return _bound(text, schema)
    except QueryError as error:
        raise error.said_of(_WHERE) from None


def _bound(text: str, schema: Schema) -> BoundQuery:
    types = [one for one in schema.types.values() if not one.composite]
    types = types if schema.default is None else [schema.default]
    known = {name for one in types for name in one.attributes or ()}
    event = Component("e" if "e" not in known else "event", tuple(types), 0, Binds.ONE)
    binder = _PromiseBinder(text, schema, {event.variable: event}, {})
    condition = binder.bind(parse_alone(text))
    if not (condition.type.is_open or condition.type == BOOLEAN):
        binder.fail(
            f"'{text.strip()}' is no condition",
            condition.span,
            required=f"something true or false; got {condition.type}",
        )
    conjuncts = [_asked_of_all(one) for one in place_conjuncts(condition, {event.variable: event}, text)]
    return BoundQuery(
        name=_WHERE,
        source=text,
        schema=schema,
        pattern=Step(event),
        components=(event,),
        strategy=Strategy.SKIP_TILL_ANY_MATCH,
        equivalences=(),
        conjuncts=tuple(conjuncts),
        window=None,
        output=(),
        into=None,
        non_overlap=False,
    )


def columns_of(promise: BoundQuery) -> Iterator[str | None]:
    """The columns that a condition reads; None if it reads what is in no column."""
    for conjunct in promise.conjuncts:
        for literal in conjunct.literals:
            for node in references(literal):
                yield node.column if isinstance(node, Attribute) else None


def _asked_of_all(conjunct: Conjunct) -> Conjunct:
    """A conjunct that is not true of events whose type lacks an attribute: nothing is promised of these."""
    return replace(conjunct, literals=tuple(map(_not_lacking, conjunct.literals)))


def _not_lacking(expression: Expression) -> Expression:
    match expression:
        case Attribute():
            return replace(expression, missing_in=frozenset())
        case Apply():
            return replace(expression, arguments=tuple(map(_not_lacking, expression.arguments)))
    return expression


@dataclass
class _PromiseBinder(ExpressionBinder):
    """Binds the condition of a punctuation."""

    def bind(self, written: tree.Expression) -> Expression:
        if isinstance(written, tree.Equivalence):
            self.fail("an equivalence test", written.span, required="a comparison of columns")
        if isinstance(written, tree.Parameter):
            self.fail(f"the parameter ${written.name}", written.span, required="a value in its place")
        return super().bind(written)

    def _special(self, written: tree.Call) -> Expression:
        if written.function in ("between", "start", "end") or written.function in TIME_FUNCTIONS:
            return super()._special(written)
        return self.fail(
            f"the aggregate '{written.function}'", written.span, required="a condition on the columns of one event"
        )
