"""Stage 2: functions of times, made for the unit and zone of their argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import QueryError, Span, did_you_mean
from ouzel.language import tree
from ouzel.logical.calendar import PARTS, UNITS, Array, parts, truncated
from ouzel.logical.expressions import Apply, Attribute, Constant, Expression, Moment
from ouzel.logical.functions import Function
from ouzel.logical.schema import Schema
from ouzel.logical.values import INTEGER, UNKNOWN, Kind, ValueType

TIME_FUNCTIONS = (*PARTS, "date_trunc")
_CAST = "cast the column to timestamp, with its zone if it has one"
_HINTS = {Kind.STRING: _CAST, Kind.INTEGER: "only the time column may count in integers: cast it to timestamp"}


def time_function(written: tree.Call, arguments: list[Expression], schema: Schema, source: str) -> Expression:
    """Bind a call of one of them to arguments that are bound."""

    def fail(message: str, span: Span, required: str, hint: str | None = None) -> QueryError:
        return QueryError(message, source, span, required=required, hint=hint)

    name, count = written.function, 2 if written.function == "date_trunc" else 1
    if len(arguments) != count:
        hint = "write date_trunc('hour', a.ts)" if count == 2 else None
        needed = f"{name} takes {count} argument{'s' if count > 1 else ''}; got {len(arguments)}"
        raise fail(f"wrong number of arguments of '{name}'", written.span, needed, hint)
    *units, argument = arguments
    unit = _truncation(units[0], fail) if units else None
    held = _time_type(name, argument, schema)
    if held is None and not argument.type.is_open:
        hint = _HINTS.get(argument.type.kind)
        raise fail(f"type clash in '{name}'", written.span, f"{name} takes a time; got {argument.type}", hint)
    result = argument.type if units else INTEGER
    if held is None or (units and unit is None):
        nothing = Function(name, lambda _types: result, lambda *_arguments: None)
        return Apply(nothing, (argument,), UNKNOWN if units else INTEGER, written.span)
    try:
        function = _made(name, unit, held)
    except pa.ArrowException as error:
        raise fail(f"the zone of '{name}'", argument.span, f"a known zone; {error}") from None
    return Apply(function, (argument,), result, written.span)


def _truncation(unit: Expression, fail: Callable[..., QueryError]) -> str | None:
    """The unit to cut off at; None if it is a parameter that has no value yet, or null."""
    value = unit.value if isinstance(unit, Constant) else 0
    if value is None:
        return None
    if str(value).lower() not in UNITS:
        hint = did_you_mean(value, UNITS) if isinstance(value, str) else None
        raise fail("an unknown unit in 'date_trunc'", unit.span, f"one of {', '.join(UNITS)}", hint)
    return str(value).lower()


def _time_type(name: str, argument: Expression, schema: Schema) -> ValueType | None:
    """The unit and zone of a time; an integer is one only in the time column, and a time of day has no date."""
    if argument.type.kind is Kind.TIME and name in ("hour", "minute", "second"):
        return ValueType(Kind.TIMESTAMP, argument.type.unit)
    if argument.type.kind is Kind.TIMESTAMP:
        return argument.type
    own = isinstance(argument, Attribute) and argument.column == schema.time.name
    if argument.type.kind is Kind.INTEGER and (own or isinstance(argument, Moment)):
        return ValueType(Kind.TIMESTAMP, schema.time.tick)
    return None


def _made(name: str, unit: str | None, held: ValueType) -> Function:
    """The function of ticks in one unit and zone: for one value, and for a column."""
    kind: Any = partial(parts, name) if unit is None else partial(truncated, unit)

    def of_column(ticks: Array) -> tuple[Array, Array]:
        values, outside = kind(ticks, held.unit or "ns", held.zone)
        return values.astype(np.int64, copy=False), outside

    def of_value(ticks: int) -> int | None:
        values, outside = of_column(np.array([ticks], np.int64))
        return None if outside[0] else int(values[0])

    of_value(0)  # the zone may be unknown
    full = name if unit is None else f"{name} {unit}"
    return Function(full, lambda types: types[0], of_value, arrays=of_column)
