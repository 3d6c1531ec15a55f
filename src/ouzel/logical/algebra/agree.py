"""Stage 2, the algebra: attributes of two streams that are to be one must be of one type, and are made so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ouzel.errors import QueryError, Span
from ouzel.logical.algebra.streams import Extend, Stream, StreamAttribute
from ouzel.logical.coercion import to_float, to_unit
from ouzel.logical.expressions import Attribute, Element, Expression
from ouzel.logical.values import FLOAT, Kind, ValueType, finer, to_arrow

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
    """A type for values of both: integers and floats are floats, times are in the finer unit."""
    if left == right or right.kind is Kind.NULL:
        return left
    if left.kind is Kind.NULL:
        return right
    if left.is_open or right.is_open:
        return left if left.is_open else right
    if left.is_number and right.is_number:
        both = {left.kind, right.kind}
        return FLOAT if Kind.FLOAT in both or both == {Kind.INTEGER, Kind.DECIMAL} else None
    if left.kind is not right.kind or left.kind not in _TIMES or (left.zone is None) != (right.zone is None):
        return None
    return replace(left, unit=finer(left.unit or "ns", right.unit or "ns"))


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
    convert: Callable[[Expression], Expression] = (
        to_float if wanted.kind is Kind.FLOAT else lambda one: to_unit(one, wanted.unit or "ns")
    )
    return convert(value)
