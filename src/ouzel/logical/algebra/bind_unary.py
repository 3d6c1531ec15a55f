"""Stage 2, the algebra: σ, π, ρ and α over a stream that is bound."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from ouzel.errors import QueryError
from ouzel.language import algebra_tree as algebra
from ouzel.logical.algebra.bind_formula import Context, named, unknown
from ouzel.logical.algebra.bound import Attributes, Bound
from ouzel.logical.algebra.streams import Extend, Rename, Select, StreamAttribute, Where
from ouzel.logical.expressions import Attribute, Element, Expression
from ouzel.logical.values import UNKNOWN, to_arrow


def bind_unary(context: Context, written: algebra.Unary, of: Bound, last: Attributes | None = None) -> Bound:
    """Bind an operator; `last` are the attributes of the event before, in the step of a fold."""
    where = "step" if last is not None else ""
    match written:
        case algebra.Where(_of, condition):
            bound = context.condition(condition, of.scope(last), where or "where")
            return Bound(Where(of.stream, bound, of.attributes), of.is_open)
        case algebra.Select(_of, names):
            return Bound(Select(of.stream, tuple(_known("select", name, of) for name in names)))
        case algebra.Rename(_of, names):
            return _rename({old: new for new, old in names}, of)
        case algebra.Prefixed(_of, prefix):
            return _renamed([f"{prefix}.{name}" for name in of.names], of, is_prefix=True)
        case algebra.Extend(_of, values):
            scope = of.scope(last)
            computed = [(name, context.value(one, scope, where or "extend")) for name, one in values]
            return Bound(_extended(of, computed, last or ()), of.is_open)


def _known(operator: str, name: str, of: Bound) -> StreamAttribute:
    found = next((one for one in of.attributes if one.name == name), None)
    if found is None and not of.is_open:
        raise unknown(operator, name, of.names)
    return found or StreamAttribute(name, UNKNOWN, pa.null())


def _rename(new: dict[str, str], of: Bound) -> Bound:
    missing = [_known("rename", name, of) for name in new if name not in of.names]
    if missing:  # they will be there once there are data
        of = Bound(Select(of.stream, (*of.attributes, *missing)), is_open=True)
    return _renamed([new.get(name, name) for name in of.names], of)


def _renamed(names: Sequence[str], of: Bound, *, is_prefix: bool = False) -> Bound:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise QueryError(
            f"rename: two attributes would be called '{twice}'",
            required="a name of its own for every attribute",
            hint=f"rename the other one too, or select without it; the attributes are {named(of.names)}",
        )
    pairs = zip(names, of.attributes, strict=True)
    attributes = tuple(StreamAttribute(name, one.type, one.arrow) for name, one in pairs)
    return Bound(Rename(of.stream, attributes, is_prefix), of.is_open)


def _extended(of: Bound, values: Sequence[tuple[str, Expression]], last: Attributes) -> Extend:
    """New attributes come last, others are replaced in place; what shows an attribute keeps its Arrow type."""
    arrows = {(Element.SINGLE, one.name): one.arrow for one in of.attributes}
    arrows |= {(Element.PREVIOUS, one.name): one.arrow for one in last}
    attributes = {one.name: one for one in of.attributes}
    for name, value in values:
        shown = arrows.get((value.element, value.column)) if isinstance(value, Attribute) else None
        attributes[name] = StreamAttribute(name, value.type, shown or to_arrow(value.type))
    return Extend(of.stream, tuple(values), tuple(attributes.values()))
