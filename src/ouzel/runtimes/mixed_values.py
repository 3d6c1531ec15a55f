"""A column of Python values as an array: of one type that holds them all, whichever of them comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.runtimes.quarantine import Problem
from ouzel.runtimes.time_values import TIMES, common_time_type, moment_type, time_type, without_numpy

UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)


def column_of(
    name: str, values: list[Any], problems: list[Problem], *, nan_is_null: bool = False
) -> pa.Array | str:
    """The values as an array, those that do not fit as nulls and problems; or what they are, if Arrow has none.

    The type is that which Arrow finds; where values clash, one for the first and all that are of its kind.
    """
    array = None
    with suppress(*UNFIT):
        array = None if is_fatal(values) else pa.array(values, from_pandas=nan_is_null)
        if array is not None and is_settled(array.type):
            return array
    came = values
    values, classes = _with_nulls(came, nan_is_null)
    array = array if values is came else None
    with suppress(*UNFIT):
        if (array := _trusted(values, classes, array)) is not None:
            return _checked(name, values, array, problems) if pa.types.is_nested(array.type) else array
    values = [None if nan_is_null and _is_nan(value) else without_numpy(value) for value in values]
    held = [value for value in values if value is not None]
    arrow = _common_type(held) if held else pa.null()
    if arrow is None:
        return f"objects of Python's {type(held[0]).__name__}"
    return fitting(name, values, arrow, problems, is_declared=False)


def is_fatal(values: Iterable[Any]) -> bool:
    """Whether Arrow may end the process: it reads other values behind a time of NumPy's as if they were such."""
    return isinstance(next((value for value in values if value is not None), None), np.datetime64)


def is_settled(arrow: pa.DataType) -> bool:
    """Whether Arrow finds this type only for values that it holds, whichever comes first."""
    # behind a float it takes True for 1.0, and behind a time it cuts others down to what that has
    unsure = pa.types.is_floating(arrow) or pa.types.is_temporal(arrow) or pa.types.is_nested(arrow)
    return not unsure


def _with_nulls(values: list[Any], nan_is_null: bool) -> tuple[list[Any], set[type]]:
    """The values with None for what is missing, and their classes.

    NaN is a number to Arrow, and pandas' way to say that a value is missing.  Among values that are no floats
    it can only mean that, as in the rows that pandas makes.
    """
    classes = set(map(type, values)) - {NoneType}
    if any(one.__module__.startswith("pandas.") and one.__name__ in ("NaTType", "NAType") for one in classes):
        values = [None if type(value).__name__ in ("NaTType", "NAType") else value for value in values]
        classes = set(map(type, values)) - {NoneType}
    others = {
        one for one in classes if not issubclass(one, int | float | np.number) or issubclass(one, (bool, *TIMES))
    }
    if others and not nan_is_null and any(issubclass(one, float | np.floating) for one in classes):
        values = [
            None if isinstance(value, float | np.floating) and np.isnan(value) else value for value in values
        ]
        classes = set(map(type, values)) - {NoneType}
    return values, classes


def _is_nan(value: Any) -> bool:
    return (
        value.is_nan()
        if isinstance(value, Decimal)
        else isinstance(value, float | np.floating) and bool(np.isnan(value))
    )


def _trusted(values: list[Any], classes: set[type], array: pa.Array | None) -> pa.Array | None:
    """The values as Arrow reads them; None where it would go by the first of them."""
    arrow = None
    if any(issubclass(one, TIMES) for one in classes) and classes not in ({date}, {timedelta}):
        arrow = moment_type(values, classes) if all(issubclass(one, datetime) for one in classes) else None
        if arrow is None:
            return None
    if any(issubclass(one, bool | np.bool_) for one in classes) and len(classes) > 1:
        return None
    return array if array is not None and arrow in (None, array.type) else pa.array(values, arrow)


def type_of(value: Any) -> pa.DataType | None:
    """The type of a value, None if it is null or Arrow has none."""
    if isinstance(value, TIMES):
        return time_type(value)
    if isinstance(value, str):
        return pa.string()
    if isinstance(value, int) and not isinstance(value, bool):
        return pa.uint64() if 2**63 <= value < 2**64 else pa.int64()
    with suppress(*UNFIT):
        scalar = pa.scalar(value)
        return scalar.type if scalar.is_valid else None
    return None


def _common_type(values: list[Any]) -> pa.DataType | None:
    """The type for the first value, and all that are of its kind; None if there is none."""
    typed = [(value, arrow) for value in values if (arrow := type_of(value)) is not None]
    if not typed:
        return None
    first = typed[0][1]
    alike = [(value, arrow) for value, arrow in typed if _kind(arrow) == _kind(first)]
    if pa.types.is_temporal(first):
        return common_time_type({arrow for _value, arrow in alike})
    held = [value for value, _arrow in alike]
    with suppress(*UNFIT):
        return pa.array(held).type
    if all(pa.types.is_integer(arrow) for _value, arrow in alike):
        with suppress(*UNFIT):
            return pa.array(held, pa.uint64()).type
    with suppress(*UNFIT):  # among decimals, floats are such if they can be
        if any(isinstance(value, Decimal) for value in held):
            return pa.array([value for value in held if not isinstance(value, float | np.floating)]).type
    return first


def _kind(arrow: pa.DataType) -> Any:
    """What values have in common that one type can hold."""
    if _is_number(arrow):
        return "number"
    if pa.types.is_timestamp(arrow) or pa.types.is_date(arrow):
        return "zoned" if getattr(arrow, "tz", None) else "moment"
    return arrow.id


def _is_number(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_integer(arrow) or pa.types.is_floating(arrow) or pa.types.is_decimal(arrow))


# ---- values of a type ----------------------------------------------------------------------------------


def fitting(
    name: str, values: list[Any], arrow: pa.DataType, problems: list[Problem], *, is_declared: bool = True
) -> pa.Array:
    """The values of a column as an array of a type; those that do not fit become nulls and problems.

    An integer is the number of a moment's ticks only where moments are declared.
    """
    good: list[pa.Scalar | None] = []
    for row, value in enumerate(values):
        try:
            is_integer = isinstance(value, int | np.integer) and not isinstance(value, TIMES)
            if is_integer and pa.types.is_temporal(arrow) and not is_declared:
                raise pa.ArrowInvalid
            good.append(_fitted(value, arrow))
        except UNFIT:
            problems.append(_problem(row, name, value, arrow))
            good.append(None)
    if pa.types.is_nested(arrow):  # Arrow appends no nulls of no type in them, other than from Python
        return pa.array([None if one is None else one.as_py() for one in good], arrow)
    return pa.array(good, arrow)


def _fitted(value: Any, arrow: pa.DataType) -> pa.Scalar | None:
    """A value as one of a type; an error if it is none."""
    if value is None:
        return None
    if isinstance(value, int) and pa.types.is_decimal(arrow):  # which Arrow casts to those of 19 digits only
        return pa.scalar(value, arrow)
    held = type_of(value) if isinstance(value, (*TIMES, int)) else None
    if held is None and isinstance(value, TIMES):
        raise pa.ArrowInvalid
    scalar = pa.scalar(value, held)
    if not (scalar.type == arrow or _may_become(scalar.type, arrow)):
        raise pa.ArrowInvalid
    cast = scalar.cast(arrow)
    exact = pa.types.is_temporal(scalar.type) or (pa.types.is_floating(scalar.type) and pa.types.is_decimal(arrow))
    if exact and cast.cast(scalar.type) != scalar:
        raise pa.ArrowInvalid
    return cast


def _may_become(held: pa.DataType, wanted: pa.DataType) -> bool:
    """Which casts are readings of the same value: text parses, numbers widen; a number is no text."""
    if pa.types.is_null(held):
        return True
    if pa.types.is_string(held):
        return not pa.types.is_nested(wanted)
    if pa.types.is_integer(held) and (pa.types.is_timestamp(wanted) or pa.types.is_date(wanted)):
        return True
    if pa.types.is_temporal(held):
        return bool(_kind(held) == _kind(wanted))
    if pa.types.is_nested(held):
        return _widens(held, wanted)
    return _is_number(held) and _is_number(wanted)


def _widens(held: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether lists and structs lose nothing: no field, and nothing of what is in them."""
    if pa.types.is_struct(held) and pa.types.is_struct(wanted):
        fields = {field.name: field.type for field in wanted}
        return all(field.name in fields and _widens(field.type, fields[field.name]) for field in held)
    if pa.types.is_list(held) and pa.types.is_list(wanted):
        return _widens(held.value_type, wanted.value_type)
    return held == wanted or pa.types.is_null(held) or (_is_number(held) and _is_number(wanted))


def _problem(row: int, name: str, value: Any, arrow: pa.DataType) -> Problem:
    zone = ""
    if isinstance(value, datetime) and pa.types.is_timestamp(arrow) and (value.tzinfo is None) == bool(arrow.tz):
        zone = f" with{'' if arrow.tz else 'out'} a zone"
    text = repr(value)
    return Problem(row, name, f"required {arrow}{zone}; got {text if len(text) <= 40 else text[:40] + '…'}")


# ---- times in lists and structs --------------------------------------------------------------------------


def _checked(name: str, values: list[Any], array: pa.Array, problems: list[Problem]) -> pa.Array:
    """Lists and structs as an array; Arrow would cut off what times in them have beyond the first."""
    kinds: dict[tuple[Any, ...], Any] = {}
    bad: list[bool] = []
    for row, value in enumerate(values):
        found = [(path, time_type(one)) for path, one in _times_in(value, ())]
        bad.append(
            any(arrow is None or kinds.setdefault(path, _like(arrow)) != _like(arrow) for path, arrow in found)
        )
        if bad[-1]:
            problems.append(_problem(row, name, value, array.type))
    if not any(bad):
        return array
    return pa.array([None if is_bad else value for value, is_bad in zip(values, bad, strict=True)], array.type)


def _like(arrow: pa.DataType) -> Any:
    return _kind(arrow), arrow.id, getattr(arrow, "unit", None)


def _times_in(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The times in a value, each with its place; elements of a list are in one."""
    if isinstance(value, TIMES):
        yield path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _times_in(one, (*path, key))
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _times_in(one, (*path, None))
