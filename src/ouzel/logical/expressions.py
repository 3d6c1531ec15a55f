"""Stage 2, expressions with their meaning: every name resolved, every node typed.

`Element` says which event of a variable's binding an attribute is read from; `Extent` which events an
aggregate runs over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any

from ouzel.errors import Span
from ouzel.logical.functions import Function
from ouzel.logical.values import ValueType


class Element(Enum):
    """Which event: the variable's only one, or one of a closure's."""

    SINGLE = ""
    FIRST = "[1]"
    CURRENT = "[i]"
    PREVIOUS = "[i-1]"
    LAST = "[LEN]"
    EVERY = "[every]"  # [i] of a closure that is complete

    # there is one object for each: to hash it by name takes many times as long
    __hash__ = object.__hash__


class Extent(Enum):
    """Which events an aggregate runs over: the whole closure, or what was taken before the current one."""

    ALL = "[]"
    SO_FAR = "[..i-1]"


@dataclass(frozen=True, slots=True)
class Constant:
    """A value known when the query is bound; `exact` is a number that a double does not quite hold.

    `parameter` is the name of the parameter whose value it is: in a set of queries each has its own.
    """

    value: Any
    type: ValueType
    span: Span = field(compare=False)
    exact: Decimal | None = None
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of one bound event; `column` names the column that holds it.

    A predicate that mentions it is true of an event whose type is among `missing_in` (SASE 2.2.2).
    """

    variable: str
    element: Element
    name: str
    column: str
    type: ValueType
    missing_in: frozenset[str]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """start(a) or end(a): the time at which what the variable bound begins or ends."""

    which: str
    variable: str
    element: Element
    type: ValueType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Length:
    """`a.LEN`: how many events the closure bound."""

    variable: str
    type: ValueType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """count, sum, avg, min, max, … over a closure; `column` None counts events."""

    function: str
    variable: str
    extent: Extent
    name: str | None
    column: str | None
    input_type: ValueType | None
    type: ValueType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Events:
    """RETURN of a whole variable (`a`, `a[]`) or of one attribute of each of its events (`a[].price`)."""

    variable: str
    column: str | None
    type: ValueType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """A function or operator on arguments."""

    function: Function
    arguments: tuple[Expression, ...]
    type: ValueType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class MatchNumber:
    """match_number(), alone in a column of RETURN: the place of a match among those of its partition, from 1."""

    type: ValueType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Duration:
    """duration(), in the algebra: how many ticks the event at hand lasts, its first and last among them."""

    type: ValueType
    span: Span = field(compare=False)


Expression = Constant | Attribute | Moment | Length | Aggregate | Events | MatchNumber | Duration | Apply
Variable = Attribute | Moment | Length | Aggregate | Events


def walk(expression: Expression) -> Iterator[Expression]:
    """Every node of an expression, the outer ones first."""
    yield expression
    if isinstance(expression, Apply):
        for argument in expression.arguments:
            yield from walk(argument)


def references(expression: Expression) -> list[Variable]:
    """Every node that mentions a variable, from left to right."""
    if isinstance(expression, Apply):
        return [node for argument in expression.arguments for node in references(argument)]
    return [expression] if isinstance(expression, Variable) else []
