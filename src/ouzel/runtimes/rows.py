"""Rows as dicts: columns with one type each, and the rows whose values do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ouzel.errors import SchemaError
from ouzel.runtimes.quarantine import Problem


def rows_to_arrow(rows: Sequence[Any]) -> tuple[pa.Table, list[Problem]]:
    """A table of the rows; a value that does not fit its column becomes null and a problem.

    A column has the type that Arrow finds for its values; where they clash, that of the first of them.
    """
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise SchemaError(f"events: required a list of dicts; row {number} is a {type(row).__name__}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(f"events: required column names that are strings; got {name!r}")
    problems: list[Problem] = []
    columns = [column_of(name, [row.get(name) for row in rows], problems) for name in names]
    return pa.Table.from_arrays(columns, names=names), problems


def column_of(name: str, values: list[Any], problems: list[Problem]) -> pa.Array:
    """The values of a column as an array of the type that Arrow finds, or of the first one's."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        types = (type_of(value) for value in values)
        return fitting(name, values, next((arrow for arrow in types if arrow is not None), pa.string()), problems)


def type_of(value: Any) -> pa.DataType | None:
    """The type of a value, None if it is null or beyond what Arrow can hold."""
    try:
        scalar = pa.scalar(value, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None
    return scalar.type if scalar.is_valid else None


def fitting(name: str, values: list[Any], arrow: pa.DataType, problems: list[Problem]) -> pa.Array:
    """The values of a column as an array of a type; those that do not fit become nulls and problems."""
    good: list[Any] = []
    for row, value in enumerate(values):
        try:
            scalar = pa.scalar(value, from_pandas=True)
            if not (scalar.type == arrow or _may_become(scalar.type, arrow)):
                raise pa.ArrowInvalid
            good.append(scalar.cast(arrow).as_py())
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, ValueError):
            problems.append(Problem(row, name, f"required {arrow}; got {_shown(value)}"))
            good.append(None)
    return pa.array(good, arrow)


def _may_become(held: pa.DataType, wanted: pa.DataType) -> bool:
    """Which casts are readings of the same value: text parses, numbers widen; a number is no text."""
    if pa.types.is_null(held):
        return True
    if pa.types.is_string(held):
        return not pa.types.is_nested(wanted)
    number = pa.types.is_integer(held) or pa.types.is_floating(held)
    wants_number = pa.types.is_integer(wanted) or pa.types.is_floating(wanted) or pa.types.is_decimal(wanted)
    if pa.types.is_integer(held) and (pa.types.is_timestamp(wanted) or pa.types.is_date(wanted)):
        return True
    if pa.types.is_temporal(held):
        return bool(pa.types.is_temporal(wanted))
    return bool(number and wants_number)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
