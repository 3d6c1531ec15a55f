"""Stage 2, the algebra: attributes that nothing reads are left where they are.

What an operator names is kept, also if nothing reads it further on: so an expression still means something where
only the columns are there that it needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from ouzel.errors import QueryError
from ouzel.logical.algebra.streams import (
    Base,
    Extend,
    Fold,
    Hole,
    Next,
    Rename,
    Select,
    Stream,
    StreamAttribute,
    Union,
    Where,
)
from ouzel.logical.expressions import Attribute, Expression, references

Names = frozenset[str]


def narrowed(stream: Stream) -> Stream:
    """An expression that gives the same, with no more of the attributes of events than it needs."""
    names = frozenset(one.name for one in stream.attributes)
    return _exactly(_narrow(stream, names), names)


def _narrow(stream: Stream, wanted: Names) -> Stream:
    """A stream with at least the attributes that are wanted."""
    match stream:
        case Base():
            return _base(stream, wanted)
        case Hole():
            return stream
        case Where(of, condition):
            of = _narrow(of, wanted | _read([condition]))
            return Where(of, condition, of.attributes)
        case Select(of, attributes):
            return Select(_narrow(of, frozenset(one.name for one in attributes)), attributes)
        case Rename():
            return _rename(stream, wanted)
        case Extend(of, values):
            of = _narrow(of, wanted | _read(value for _name, value in values) | {name for name, _value in values})
            return _extended(of, stream)
        case Union(left, right):
            left, right = _exactly(_narrow(left, wanted), wanted), _exactly(_narrow(right, wanted), wanted)
            return Union(left, right, _chosen(stream.attributes, wanted))
        case Next(left, right, where):
            needed = wanted | _read([where] if where else ())
            left, right = _narrow(left, needed), _narrow(right, needed)
            both = {one.name: one for one in (*left.attributes, *right.attributes)}
            return Next(left, right, where, tuple(both.values()))
        case Fold():
            return _fold(stream, wanted)


def _base(stream: Base, wanted: Names) -> Stream:
    kept = [pair for pair in zip(stream.attributes, stream.columns, strict=True) if pair[0].name in wanted]
    for one, column in kept:
        column.readable()
        if pa.types.is_union(one.arrow):
            raise QueryError(
                f"stream: the attribute '{one.name}' is {one.type}",
                required="values of one type",
                hint="select the other attributes, or cast the column",
            )
    return Base(stream.types, tuple(one for one, _column in kept), tuple(column for _one, column in kept))


def _rename(stream: Rename, wanted: Names) -> Stream:
    old = {one.name: new for new, one in zip(stream.attributes, stream.of.attributes, strict=True)}
    named = {name for name, new in old.items() if name != new.name and not stream.is_prefix}
    of = _narrow(stream.of, frozenset(named | {name for name, new in old.items() if new.name in wanted}))
    return replace(stream, of=of, attributes=tuple(old[one.name] for one in of.attributes))


def _extended(of: Stream, stream: Extend) -> Extend:
    types = {one.name: one for one in stream.attributes}
    names = dict.fromkeys([*(one.name for one in of.attributes), *(name for name, _value in stream.values)])
    return Extend(of, stream.values, tuple(types[name] for name in names))


def _fold(stream: Fold, wanted: Names) -> Stream:
    """μ reads in every iteration what it may need in the next."""
    needed = wanted | _read([stream.where] if stream.where else ()) | _named_in_step(stream.step)
    left, right = (_exactly(_narrow(one, needed), needed) for one in (stream.left, stream.right))
    attributes = _chosen(stream.attributes, needed)
    return Fold(left, right, stream.where, _step(stream.step, attributes), attributes)


def _named_in_step(step: Stream) -> Names:
    match step:
        case Where(of, condition):
            return _named_in_step(of) | _read([condition])
        case Select(of, attributes):
            return _named_in_step(of) | {one.name for one in attributes}
        case Extend(of, values):
            return _named_in_step(of) | _read(value for _name, value in values) | {name for name, _value in values}
    return frozenset()


def _step(step: Stream, attributes: tuple[StreamAttribute, ...]) -> Stream:
    match step:
        case Where(of, condition):
            of = _step(of, attributes)
            return Where(of, condition, of.attributes)
        case Select(of, kept):
            return Select(_step(of, attributes), kept)
        case Extend(of):
            return _extended(_step(of, attributes), step)
    return Hole(attributes)


def _read(expressions: Iterable[Expression]) -> Names:
    """The attributes that formulas read."""
    nodes = (node for one in expressions for node in references(one))
    return frozenset(node.column for node in nodes if isinstance(node, Attribute))


def _chosen(attributes: tuple[StreamAttribute, ...], names: Names) -> tuple[StreamAttribute, ...]:
    return tuple(one for one in attributes if one.name in names)


def _exactly(stream: Stream, names: Names) -> Stream:
    """A stream with no other attributes than these."""
    attributes = _chosen(stream.attributes, names)
    return stream if attributes == stream.attributes else Select(stream, attributes)
