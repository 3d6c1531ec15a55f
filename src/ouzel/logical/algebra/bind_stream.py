"""Stage 2, the algebra: operators as written become operators over attributes that are known and typed."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ouzel.errors import QueryError, did_you_mean, listed
from ouzel.language import algebra_tree as algebra
from ouzel.logical.algebra.agree import agreed, made
from ouzel.logical.algebra.bind_fold import bind_fold
from ouzel.logical.algebra.bind_formula import Context, Scope, named
from ouzel.logical.algebra.bind_unary import bind_unary
from ouzel.logical.algebra.bound import Bound
from ouzel.logical.algebra.streams import Base, Next, StreamAttribute, Union
from ouzel.logical.schema import INFERRED, Column, EventType, Schema
from ouzel.logical.values import UNKNOWN


def bind_stream(context: Context, written: algebra.Stream) -> Bound:
    """Bind an expression."""
    match written:
        case algebra.Events(name):
            return _events(context.schema, name)
        case algebra.Union(left, right):
            return _union(bind_stream(context, left), bind_stream(context, right))
        case algebra.Next(left, right, where):
            return _next(context, bind_stream(context, left), bind_stream(context, right), where)
        case algebra.Fold(left, right):
            return bind_fold(context, bind_stream(context, left), bind_stream(context, right), written)
        case algebra.Hole():
            raise QueryError("a hole outside the step of a fold", required="events: oz.stream(…)")
    return bind_unary(context, written, bind_stream(context, written.of))


# ---- streams of events -----------------------------------------------------------------------------------


def _events(schema: Schema, name: str | None) -> Bound:
    types = _types(schema, name)
    if any(one.attributes is None for one in types):
        return Bound(Base(types, (), ()), is_open=True)
    columns: dict[str, Column] = {}
    for one in types:
        for attribute, column in data_attributes(one, schema).items():
            if columns.setdefault(attribute, column) != column:
                raise QueryError(
                    f"stream(): '{attribute}' differs between the types of events",
                    required=f"one type of value; got {columns[attribute].type} and {column.type}",
                    hint="name a type: oz.stream('…'), or cast the columns to one type",
                )
    attributes = tuple(StreamAttribute(key, one.type, one.arrow) for key, one in columns.items())
    return Bound(Base(types, attributes, tuple(columns.values())))


def _types(schema: Schema, name: str | None) -> tuple[EventType, ...]:
    """The types of a name; of no name those of all events that come in: of any type, that is the default one."""
    if name is None:
        declared = tuple(one for one in schema.types.values() if not one.composite)
        return (schema.default,) if schema.default is not None else declared
    found = schema.event_type(name) if name != INFERRED else None
    if found is None:
        raise QueryError(
            f"stream: unknown event type '{name}'",
            required=f"one of {listed(schema.types)}",
            hint=did_you_mean(name, schema.types),
        )
    return (found,)


def data_attributes(event_type: EventType, schema: Schema) -> dict[str, Column]:
    """The attributes of a base stream: all columns but time and type; those of composite events are all data."""
    own = event_type.attributes or {}
    if event_type.composite:
        return dict(own)
    others = {schema.time.name, schema.time.start, schema.type_column}
    return {name: column for name, column in own.items() if column.name not in others}


# ---- ∪ and ;θ --------------------------------------------------------------------------------------------


def _union(left: Bound, right: Bound) -> Bound:
    if left.is_open or right.is_open:
        kept = right.attributes if left.is_open else left.attributes
        return Bound(Union(left.stream, right.stream, kept), is_open=left.is_open and right.is_open)
    for one, other, side in ((left, right, "right"), (right, left, "left")):
        for name in one.names:
            if name not in other.names:
                raise QueryError(
                    f"union: '{name}' is no attribute of the {side} operand",
                    required=f"the same attributes on both sides; the {side} has {named(other.names)}",
                    hint=_same_names(name, other.names),
                )
    attributes = agreed("union", left.attributes, right.attributes)
    return Bound(Union(made(left.stream, attributes), made(right.stream, attributes), attributes))


def _same_names(name: str, others: Sequence[str]) -> str:
    return did_you_mean(name, others) or "select or rename, so that the names are the same"


def _next(context: Context, left: Bound, right: Bound, where: algebra.Formula | None) -> Bound:
    """In a concatenation (2.2) the right attributes overwrite the left ones, or come last.

    Of what an open stream on the right overwrites, no type is known.
    """
    before = [StreamAttribute(one.name, UNKNOWN, pa.null()) if right.is_open else one for one in left.attributes]
    attributes = tuple({one.name: one for one in (*before, *right.attributes)}.values())
    is_open = left.is_open or right.is_open
    scope = Scope.of(attributes, is_open=is_open)
    condition = None if where is None else context.condition(where, scope, "next")
    return Bound(Next(left.stream, right.stream, condition, attributes), is_open)
