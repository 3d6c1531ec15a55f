"""Rows as dicts: columns with one type each, and the rows whose values do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ouzel.errors import SchemaError
from ouzel.logical.schema import unreadable_field
from ouzel.runtimes.mixed_values import column_of
from ouzel.runtimes.quarantine import Problem


def rows_to_arrow(rows: Sequence[Any]) -> tuple[pa.Table, list[Problem]]:
    """A table of the rows; a value that does not fit its column becomes null and a problem."""
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise SchemaError(f"events: required a list of dicts; row {number} is a {type(row).__name__}")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(f"events: required column names that are strings; got {name!r}")
    problems: list[Problem] = []
    fields, columns = [], []
    for name in names:
        field, column = field_of(name, column_of(name, [row.get(name) for row in rows], problems), len(rows))
        fields.append(field)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(fields)), problems


def field_of(name: str, column: pa.Array | str, rows: int) -> tuple[pa.Field, pa.Array]:
    """A column with its name; one that Arrow has no type for is told to be unreadable."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise SchemaError(f"events: required column names that UTF-8 can write; got {name!r}") from None
    if isinstance(column, str):
        return unreadable_field(name, column), pa.nulls(rows)
    return pa.field(name, column.type), column
