"""Arrow types of what a query returns: attributes keep their column's own type, the rest is computed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import pyarrow as pa

from ouzel.logical.expressions import Aggregate, Attribute, Events, Expression, Moment
from ouzel.logical.pattern import Component
from ouzel.logical.schema import NESTED, Column, TimeColumn
from ouzel.logical.values import to_arrow


def event_fields(component: Component) -> dict[str, Column]:
    """The attributes of what a component binds, over all its types, in the order of the input."""
    fields: dict[str, Column] = {}
    for event_type in component.types:
        for name, column in (event_type.attributes or {}).items():
            # the same attribute in another type and column is another field
            fields.setdefault(name if fields.get(name, column) == column else column.name, column.readable())
    return fields


def struct_type(component: Component) -> pa.DataType:
    """The struct that stands for an event of a component."""
    return pa.struct([pa.field(name, column.arrow) for name, column in event_fields(component).items()])


def output_type(expression: Expression, components: Mapping[str, Component], time: TimeColumn) -> pa.DataType:
    """The Arrow type of a column of RETURN."""
    match expression:
        case Attribute():
            return column_type(components[expression.variable], expression.column)
        case Aggregate(function="first" | "last", column=str() as column):
            return column_type(components[expression.variable], column)
        case Events(column=None):
            event = struct_type(components[expression.variable])
            return pa.list_(event) if components[expression.variable].is_array else event
        case Events(column=str() as column):
            return pa.list_(column_type(components[expression.variable], column))
        case Moment():
            return time.arrow
    return to_arrow(expression.type)


def column_type(component: Component, name: str) -> pa.DataType:
    """The Arrow type of one of a component's columns, or of a field of one."""
    name, *fields = name.split(NESTED)
    for event_type in component.types:
        for column in (event_type.attributes or {}).values():
            if column.name == name:
                return reduce(lambda arrow, field: arrow.field(field).type, fields, column.arrow)
    return pa.null()
