"""Registered functions: values as Python has them in, a value of the declared type out, errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from ouzel.errors import FunctionError, QueryError, Span
from ouzel.language.durations import NANOSECONDS
from ouzel.logical.functions import Function
from ouzel.logical.schema import TimeColumn
from ouzel.logical.values import Kind, ValueType
from ouzel.logical.zones import zone_of

_TYPES: dict[Kind, tuple[type, ...]] = {
    Kind.BOOLEAN: (bool,),
    Kind.INTEGER: (int,),
    Kind.FLOAT: (float, int),
    Kind.STRING: (str,),
}


@dataclass(frozen=True)
class Place:
    """Where a function is called: the query, and the place in its text; and in what its events count time."""

    query: str
    source: str
    span: Span
    time: TimeColumn


def prepared(function: Function, types: Sequence[ValueType], result: ValueType, place: Place) -> Function:
    """A registered function for arguments of some types, at a place of a query."""
    readers = [_reader(value_type) for value_type in types]

    def failed(message: str, values: Sequence[Any], required: str | None = None) -> FunctionError:
        said = f"function '{function.name}' in query '{place.query}' {message}"
        error = QueryError(said, place.source, place.span, required=required)
        called = ", ".join(map(repr, values)) or "nothing"
        return FunctionError(str(error), f"called with: {called}", place.time.arrow)

    def compute(*arguments: Any) -> Any:
        values: Sequence[Any] = arguments
        try:
            values = [read(value) for read, value in zip(readers, arguments, strict=True)]
            found = function.compute(*values)
        except Exception as error:
            raise failed(f"failed: {type(error).__name__}: {error}", values) from error
        found = found.item() if isinstance(found, np.generic) else found
        if found is None:
            return None
        if not isinstance(found, _TYPES[result.kind]) or isinstance(found, bool) != (result.kind is Kind.BOOLEAN):
            required = f"{result}, as it was registered; got {type(found).__name__}"
            raise failed(f"returned {found!r}", values, required)
        return _settled(found, result.kind)

    return Function(function.name, function.result, compute)


def _settled(value: Any, kind: Kind) -> Any:
    if kind is Kind.FLOAT:
        return float(value)
    if kind is Kind.INTEGER and not -(2**63) <= value < 2**63:
        return None
    return value


def _reader(value_type: ValueType) -> Callable[[Any], Any]:
    """How a value becomes what Python calls it; what is finer than microseconds is cut off."""
    unit, zone = value_type.unit, value_type.zone
    if value_type.kind is Kind.TIMESTAMP and unit == "d":
        return lambda days: date(1970, 1, 1) + timedelta(days=days)
    nanoseconds = NANOSECONDS.get(unit or "ns", 1)
    if value_type.kind is Kind.TIME:
        midnight = datetime(1970, 1, 1)
        return lambda ticks: (midnight + timedelta(microseconds=ticks * nanoseconds // 1_000)).time()
    if value_type.kind is Kind.DURATION:
        return lambda ticks: timedelta(microseconds=ticks * nanoseconds // 1_000)
    if value_type.kind is not Kind.TIMESTAMP:
        return lambda value: value
    clock = None if zone is None else zone_of(zone) or UTC
    epoch = datetime(1970, 1, 1, tzinfo=None if clock is None else UTC)

    def moment(ticks: int) -> datetime:
        found = epoch + timedelta(microseconds=ticks * nanoseconds // 1_000)
        return found if clock is None else found.astimezone(clock)

    return moment
