"""Registered functions: values as Python has them in, a value of the declared type out, errors that say where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
Array = np.ndarray[Any, Any]
Said = Sequence[Any] | str
"""What an error says that a function was called with."""

_NUMPY: dict[Kind, Any] = {Kind.BOOLEAN: np.bool_, Kind.INTEGER: np.int64, Kind.FLOAT: np.float64}
# Which arrays are taken as they are; the values of all others are looked at one by one.
_DTYPES = {Kind.BOOLEAN: "b", Kind.INTEGER: "iu", Kind.FLOAT: "fiu", Kind.STRING: ""}


@dataclass(frozen=True)
class Place:
    """Where a function is called: the query, and the place in its text; and in what its events count time."""

    query: str
    source: str
    span: Span
    time: TimeColumn


def prepared(function: Function, types: Sequence[ValueType], result: ValueType, place: Place) -> Function:
    """A registered function for arguments of some types, at a place of a query."""
    call = _Call(function, types, result, place)
    known = Function(function.name, function.result, call.value, original=function.compute)
    if not function.vectorized:
        return known
    return replace(known, compute=call.value_by_arrays, arrays=call.arrays, vectorized=True)


class _Call:
    """A registered function as a query calls it."""

    def __init__(self, function: Function, types: Sequence[ValueType], result: ValueType, place: Place) -> None:
        self.function, self.types, self.result, self.place = function, types, result, place
        self.readers = [_reader(value_type) for value_type in types]
        self.reads = any(one.kind in (Kind.TIMESTAMP, Kind.TIME, Kind.DURATION) for one in types)
        self.expected = _TYPES[result.kind][0]

    def value(self, *arguments: Any) -> Any:
        """Its value for some arguments."""
        values: Sequence[Any] = arguments
        try:
            if self.reads:
                values = [read(value) for read, value in zip(self.readers, arguments, strict=True)]
            found = self.function.compute(*values)
        except Exception as error:
            raise self._failed(f"failed: {type(error).__name__}: {error}", values) from error
        if type(found) is self.expected and self.expected is not int:
            return found
        return self._checked(found, values)

    def arrays(self, *arguments: Array) -> tuple[Array, Array]:
        """Its values for arrays of arguments, and which of them are null."""
        count = len(arguments[0])
        return self._by_arrays(arguments, count, f"{count} rows")

    def value_by_arrays(self, *arguments: Any) -> Any:
        """The value of a function that takes arrays, for some arguments."""
        said = [read(value) for read, value in zip(self.readers, arguments, strict=True)]
        rows = [np.fromiter([value], object, 1) for value in arguments]
        values, nulls = self._by_arrays(rows, 1, said)
        return None if nulls[0] else values.tolist()[0]

    def _by_arrays(self, arguments: Sequence[Array], count: int, said: Said) -> tuple[Array, Array]:
        try:
            given = [_array(one, held) for one, held in zip(arguments, self.types, strict=True)]
            found = self.function.compute(*given)
            nulls = np.array(np.ma.getmaskarray(found)) if isinstance(found, np.ma.MaskedArray) else None
            values = np.asarray(found)
        except Exception as error:
            raise self._failed(f"failed: {type(error).__name__}: {error}", said) from error
        if values.shape != (count,):
            required = f"an array of {count} values, one for each row"
            raise self._failed(f"returned an array of shape {values.shape}", said, required)
        nulls = np.zeros(count, np.bool_) if nulls is None else nulls
        if values.dtype.kind in _DTYPES[self.result.kind]:
            return _settled_arrays(values, nulls, self.result.kind)
        checked = [None if is_null else self._checked(v, said) for v, is_null in zip(values, nulls, strict=True)]
        nulls = np.array([value is None for value in checked], np.bool_)
        if self.result.kind is Kind.STRING:
            return np.fromiter(checked, object, count), nulls
        filled = [0 if value is None else value for value in checked]
        return _settled_arrays(np.array(filled, _NUMPY[self.result.kind]), nulls, self.result.kind)

    def _checked(self, found: Any, said: Said) -> Any:
        result = self.result
        found = found.item() if isinstance(found, np.generic) else found
        if found is None:
            return None
        if not isinstance(found, _TYPES[result.kind]) or isinstance(found, bool) != (result.kind is Kind.BOOLEAN):
            required = f"{result}, as it was registered; got {type(found).__name__}"
            raise self._failed(f"returned {found!r}", said, required)
        return _settled(found, result.kind)

    def _failed(self, message: str, said: Said, required: str | None = None) -> FunctionError:
        place = self.place
        what = f"function '{self.function.name}' in query '{place.query}' {message}"
        error = QueryError(what, place.source, place.span, required=required)
        called = said if isinstance(said, str) else ", ".join(map(repr, said)) or "nothing"
        return FunctionError(str(error), f"called with: {called}", place.time.arrow)


def _settled(value: Any, kind: Kind) -> Any:
    if kind is Kind.FLOAT:
        return float(value)
    if kind is Kind.INTEGER and not -(2**63) <= value < 2**63:
        return None
    return value


def _settled_arrays(values: Array, nulls: Array, kind: Kind) -> tuple[Array, Array]:
    if kind is Kind.INTEGER and values.dtype.kind == "u":
        nulls = nulls | (values > np.uint64(2**63 - 1))
    return values.astype(_NUMPY[kind], copy=False), nulls


def _array(values: Array, held: ValueType) -> Array:
    """Values as NumPy has them: times in the column's unit and in UTC, times of day since midnight."""
    unit = {"d": "D"}.get(held.unit or "ns", held.unit or "ns")
    match held.kind:
        case Kind.TIMESTAMP:
            return values.astype(np.int64).view(f"datetime64[{unit}]")
        case Kind.DURATION | Kind.TIME:
            return values.astype(np.int64).view(f"timedelta64[{unit}]")
        case Kind.UNSIGNED:
            return values.astype(np.uint64)
        case Kind.BOOLEAN | Kind.INTEGER | Kind.FLOAT:
            return values.astype(_NUMPY[held.kind])
    return values


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
