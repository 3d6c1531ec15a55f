"""Times of text files, as far as Arrow's readers leave something to do.

The JSON reader leaves fractions of a second as text, one bad time makes text of a whole CSV column, and the
unit depends on how the times happen to be written.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa

from ouzel.runtimes.quarantine import Problem

UNITS = ("ms", "us", "ns")
ZONES = (None, "UTC")
WHOLE = (pa.int64(), *(pa.timestamp(unit, zone) for unit in UNITS for zone in ZONES))
EACH = (pa.int64(), *(pa.timestamp("ns", zone) for zone in ZONES))


def parse_times(table: pa.Table, time: str, name: str) -> tuple[pa.Table, list[Problem]]:
    """Parse a time column of text; what is no time becomes null and a problem."""
    if time not in table.column_names or not pa.types.is_string(table.schema.field(time).type):
        return table, []
    column = table.column(time)
    parsed = _parse_whole(column)
    problems: list[Problem] = []
    if parsed is None:
        parsed, problems = _parse_each(column, time, name)
    return table.set_column(table.column_names.index(time), time, parsed), problems


def coarsen(table: pa.Table, times: Collection[str]) -> pa.Table:
    """Give timestamps the unit that they need: milliseconds, or finer where there are finer ones.

    `times` are the columns that say when an event is, which have one unit.
    """
    names = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
    shared = [name for name in names if name in times]
    for together in (shared, *([name] for name in names if name not in times)):
        fitting = (_in_unit(table, together, unit) for unit in UNITS)
        table = next(one for one in fitting if one is not None)
    return table


def _in_unit(table: pa.Table, names: Collection[str], unit: str) -> pa.Table | None:
    """The table with timestamps in a unit, if they fit in it."""
    for name in names:
        number = table.column_names.index(name)
        column = _cast(table.column(number), pa.timestamp(unit, table.schema.field(number).type.tz))
        if column is None:
            return None
        table = table.set_column(number, name, column)
    return table


def _parse_whole(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    parsed = (_cast(column, arrow) for arrow in WHOLE)
    return next((one for one in parsed if one is not None), None)


def _parse_each(column: pa.ChunkedArray, time: str, name: str) -> tuple[pa.Array, list[Problem]]:
    """Parse value by value, all as the type of the first that is a time."""
    valid = (value for value in column if value.is_valid)
    arrow = next((arrow for value in valid for arrow in EACH if _cast(value, arrow) is not None), None)
    if arrow is None:
        return column, []
    parsed = [_cast(value, arrow) for value in column]
    problems = [
        Problem(row, time, f"required a time; got '{value}'", name)
        for row, (value, one) in enumerate(zip(column, parsed, strict=True))
        if one is None and value.is_valid
    ]
    return pa.array(parsed, arrow), problems


def _cast(value: Any, arrow: pa.DataType) -> Any:
    try:
        return value.cast(arrow)
    except pa.ArrowInvalid:
        return None
