"""Stage 2, the algebra: attributes of two streams that are to be one must be of one type, and are made so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ouzel.errors import QueryError, Span
from ouzel.logical.algebra.streams import Extend, Stream, StreamAttribute
from ouzel.logical.coercion import as_number, to_float, to_unit
from ouzel.logical.expressions import Apply, Attribute, Element, Expression
from ouzel.logical.functions import TO_SIGNED
from ouzel.logical.values import FLOAT, INTEGER, Kind, ValueType, common_type, finer, to_arrow

_NOWHERE = Span(0, 0)
_TIMES = (Kind.TIMESTAMP, Kind.DURATION, Kind.TIME)


def agreed(
    operator: str, left: Sequence[StreamAttribute], right: Sequence[StreamAttribute]
) -> tuple[StreamAttribute, ...]:
    """The left attributes; those that are on the right too, in types that hold the values of both."""
    others = {one.name: one for one in right}
    found = []
    for one in left:
        both = _common(one, others[one.name]) if one.name in others else one
        if both is None:
            raise QueryError(
                f"{operator}: type clash: '{one.name}' differs between both sides",
                required=f"one type of value; got {one.type} and {others[one.name].type}",
                hint="give one of them another name with rename, or replace its value with extend",
            )
        found.append(both)
    return tuple(found)


def _common(left: StreamAttribute, right: StreamAttribute) -> StreamAttribute | None:
    """An attribute that holds the values of both, by the name of the first; None if there is none."""
    held = _common_type(left.type, right.type)
    if held is None:
        return None
    if left.arrow == right.arrow or right.type.kind is Kind.NULL:
        arrow = left.arrow
    elif left.type.kind is Kind.NULL:
        arrow = right.arrow
    else:
        arrow = to_arrow(held)
    return StreamAttribute(left.name, held, arrow)


def _common_type(left: ValueType, right: ValueType) -> ValueType | None:
    """A type for values of both: integers and floats are floats, times are in the finer unit.

    Unsigned integers and others are decimals, as in CASE; so are decimals of two scales, which lose nothing.
    """
    if left == right or right.kind is Kind.NULL:
        return left
    if left.kind is Kind.NULL:
        return right
    if left.is_open or right.is_open:
        return left if left.is_open else right
    if left.is_number and right.is_number:
        return _number(left, right)
    if left.kind is not right.kind or left.kind not in _TIMES or (left.zone is None) != (right.zone is None):
        return None
    return replace(left, unit=finer(left.unit or "ns", right.unit or "ns"))


def _number(left: ValueType, right: ValueType) -> ValueType:
    """A type for numbers of both; beside decimals, integers are floats, unless all of them are among those."""
    common = common_type([left, right])
    kinds = {left.kind, right.kind}
    is_exact = Kind.DECIMAL not in kinds or kinds == {Kind.DECIMAL} or common in (left, right)
    return common if is_exact else FLOAT


def signed(
    before: Sequence[StreamAttribute], after: Sequence[StreamAttribute], formulas: Iterable[Expression]
) -> tuple[StreamAttribute, ...]:
    """The attributes before a step; unsigned integers have a sign, of which it computes some that have one.

    But only if formulas do nothing else with them: in arithmetic, what is beyond 63 bits is null anyway.
    """
    as_they_are = {name for one in formulas for name in _read_unsigned(one)}
    types = {one.name: one.type.kind for one in after}
    return tuple(
        StreamAttribute(one.name, INTEGER, to_arrow(INTEGER))
        if one.type.kind is Kind.UNSIGNED and types[one.name] is Kind.INTEGER and one.name not in as_they_are
        else one
        for one in before
    )


def _read_unsigned(formula: Expression) -> Iterator[str]:
    """The attributes that are read as unsigned integers."""
    if isinstance(formula, Attribute) and formula.type.kind is Kind.UNSIGNED:
        yield formula.name
    if isinstance(formula, Apply):
        for one in formula.arguments:
            if formula.function is not TO_SIGNED or not isinstance(one, Attribute):
                yield from _read_unsigned(one)


def made(stream: Stream, wanted: Sequence[StreamAttribute]) -> Stream:
    """A stream whose attributes are of some types, as those of the same names that are wanted."""
    types = {one.name: one for one in wanted}
    attributes = tuple(replace(types.get(one.name, one), name=one.name) for one in stream.attributes)
    if attributes == stream.attributes:
        return stream
    values = tuple(
        (one.name, _converted(one, types[one.name].type))
        for one in stream.attributes
        if one.name in types and one != types[one.name]
    )
    return Extend(stream, values, attributes)


def _converted(attribute: StreamAttribute, wanted: ValueType) -> Expression:
    value = Attribute("", Element.SINGLE, attribute.name, attribute.name, attribute.type, frozenset(), _NOWHERE)
    if attribute.type == wanted or attribute.type.is_open or wanted.is_open:
        return value
    match wanted.kind:
        case Kind.FLOAT:
            return to_float(value)
        case Kind.INTEGER:
            return as_number(value)
        case Kind.DECIMAL:
            return value  # exact numbers are the same in whatever type
    return to_unit(value, wanted.unit or "ns")
