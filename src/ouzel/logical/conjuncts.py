"""Stage 2: WHERE in conjunctive normal form, each conjunct at the component of its last identifier.

This is step 2 of SASE+ 3.2, with the closures' finer order: a[1], then a[i], then the finished closure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from operator import attrgetter

from ouzel.errors import QueryError, Span
from ouzel.language.names import one_line
from ouzel.logical.expressions import (
    Aggregate,
    Apply,
    Attribute,
    Element,
    Expression,
    Extent,
    Length,
    Moment,
    Variable,
    references,
)
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.pattern import Component
from ouzel.logical.values import BOOLEAN

MAX_CONJUNCTS = 4_096
_NONE: frozenset[str] = frozenset()
_position = attrgetter("position")


class Place(Enum):
    """When a conjunct is decided."""

    ALWAYS = "once, before any event"
    BEGIN = "begin"  # when the component binds its first event
    TAKE = "take"  # for every event that the closure takes
    PROCEED = "proceed"  # when the closure is complete
    NEGATIVE = "negative"  # for an event that might refute the match


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A disjunction of literals; it holds when one of them is true.

    `from_second` are the closures of which it relates an element to earlier ones: there it begins with the second.
    It is `single` if it is about one event, whatever else is bound: of a closure, about each of its events.
    """

    literals: tuple[Expression, ...]
    place: Place
    component: Component | None
    text: str
    from_second: frozenset[str] = _NONE
    span: Span = field(default=Span(0, 0), compare=False)
    is_single: bool = False

    @property
    def variables(self) -> frozenset[str]:
        """The variables it mentions."""
        return frozenset(node.variable for node in self.references)

    @property
    def references(self) -> tuple[Variable, ...]:
        """The nodes that mention a variable."""
        return tuple(node for literal in self.literals for node in references(literal))


def conjunctive_normal_form(expression: Expression) -> list[tuple[Expression, ...]]:
    """The conjuncts of a condition, each a tuple of literals of which one must hold.

    A literal is a predicate or its negation: NOT is never pushed through a comparison, whose negation differs
    on NaN and on attributes that an event does not have.
    """
    return _cnf(expression, negated=False)


def _cnf(expression: Expression, *, negated: bool) -> list[tuple[Expression, ...]]:
    name = expression.function.name if isinstance(expression, Apply) else ""
    if isinstance(expression, Apply) and name == "not":
        return _cnf(expression.arguments[0], negated=not negated)
    if isinstance(expression, Apply) and name in ("and", "or"):
        parts = [_cnf(argument, negated=negated) for argument in expression.arguments]
        if (name == "and") != negated:
            return [clause for part in parts for clause in part]
        return _distributed(parts)
    if negated:
        return [(Apply(BUILT_IN["not"], (expression,), BOOLEAN, expression.span),)]
    return [(expression,)]


def _distributed(parts: list[list[tuple[Expression, ...]]]) -> list[tuple[Expression, ...]]:
    clauses: list[tuple[Expression, ...]] = [()]
    for part in parts:
        if len(clauses) * len(part) > MAX_CONJUNCTS:
            raise _TooManyError
        clauses = [(*left, *right) for left in clauses for right in part]
    return clauses


class _TooManyError(Exception):
    """The normal form explodes."""


def place_conjuncts(where: Expression, components: Mapping[str, Component], source: str) -> list[Conjunct]:
    """Split WHERE into conjuncts and say where each is decided."""
    try:
        clauses = conjunctive_normal_form(where)
    except _TooManyError:
        raise QueryError(
            f"WHERE has more than {MAX_CONJUNCTS:,} conjuncts in conjunctive normal form",
            source,
            where.span,
            hint="split the alternatives into several queries",
        ) from None
    return [_place(clause, components, source) for clause in clauses]


def _place(literals: tuple[Expression, ...], components: Mapping[str, Component], source: str) -> Conjunct:
    nodes = [node for literal in literals for node in references(literal)]
    span = literals[0].span if len(literals) == 1 else literals[0].span.to(literals[-1].span)
    text = " OR ".join([_text(literal, source) for literal in literals])
    if not nodes:
        return Conjunct(literals, Place.ALWAYS, None, text, span=span)
    mentioned = {node.variable: components[node.variable] for node in nodes}
    negatives = [component for component in mentioned.values() if component.negative]
    if len(negatives) > 1:
        raise QueryError(
            f"a conjunct over two negative components, {' and '.join(sorted(one.variable for one in negatives))}",
            source,
            span,
            required="at most one negative component in a conjunct",
            hint="two events that did not happen cannot be compared; compare each with a positive one",
        )
    if negatives:
        component, place = negatives[0], Place.NEGATIVE
    else:
        component = max(mentioned.values(), key=_position)
        place = _own_place(component, nodes)
    from_second = _NONE
    if any(one.is_array for one in mentioned.values()):  # nothing else has several elements
        iterated = {node.variable for node in nodes if is_iterated(node)}
        from_second = frozenset(node.variable for node in nodes if _is_earlier(node) and node.variable in iterated)
        _check_iterators(nodes, component if place in (Place.BEGIN, Place.TAKE) else None, source)
    is_single = len(mentioned) == 1 and all(map(_is_of_one_event, nodes))
    return Conjunct(literals, place, component, text, from_second or _NONE, span, is_single)


def _own_place(component: Component, nodes: list[Variable]) -> Place:
    """The place of a conjunct whose last component is known, by the elements of it that it mentions."""
    if not component.is_array:
        return Place.BEGIN
    own = [node for node in nodes if node.variable == component.variable]
    if any(_is_finished(node) for node in own):
        return Place.PROCEED
    only_first = all(isinstance(node, Attribute | Moment) and node.element is Element.FIRST for node in own)
    return Place.BEGIN if only_first else Place.TAKE


def _is_of_one_event(node: Variable) -> bool:
    return isinstance(node, Attribute | Moment) and node.element in (Element.SINGLE, Element.CURRENT)


def _is_finished(node: Variable) -> bool:
    """Whether a reference has a value only when its closure is complete."""
    match node:
        case Attribute(element=element) | Moment(element=element):
            return element is Element.LAST
        case Aggregate(extent=extent):
            return extent is Extent.ALL
    return isinstance(node, Length)


def is_iterated(node: Variable) -> bool:
    """Whether a reference runs over the elements of a closure, with [i]."""
    match node:
        case Attribute(element=element) | Moment(element=element):
            return element in (Element.CURRENT, Element.PREVIOUS)
        case Aggregate(extent=extent):
            return extent is Extent.SO_FAR
    return False


def _is_earlier(node: Variable) -> bool:
    """Whether a reference means elements before the current one."""
    match node:
        case Attribute(element=element) | Moment(element=element):
            return element in (Element.FIRST, Element.PREVIOUS)
        case Aggregate(extent=extent):
            return extent is Extent.SO_FAR
    return False


def _check_iterators(nodes: list[Variable], last: Component | None, source: str) -> None:
    """a[i-1] and a[..i-1] have a meaning only while their own closure takes events."""
    for node in nodes:
        if not _is_earlier(node) or (isinstance(node, Attribute | Moment) and node.element is Element.FIRST):
            continue
        if last is None or node.variable != last.variable:
            written = source[node.span.start : node.span.end]
            raise QueryError(
                f"'{written}' outside its own closure",
                source,
                node.span,
                required=f"[i-1] and [..i-1] in conjuncts that are decided while '{node.variable}' takes events",
                hint=f"for the finished closure write {node.variable}[{node.variable}.LEN] or an aggregate over "
                f"{node.variable}[]",
            )


def _text(literal: Expression, source: str) -> str:
    if isinstance(literal, Apply) and literal.function.name == "not":
        return f"NOT ({_text(literal.arguments[0], source)})"
    return one_line(source[literal.span.start : literal.span.end])
