"""Polars frames, as Arrow and back: every column of events keeps its dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ouzel.logical.schema import unreadable_field
from ouzel.runtimes.origins import Origin, Origins


def _polars() -> Any:
    import polars

    return polars


def frame_to_arrow(frame: Any) -> pa.Table:
    """A DataFrame as a table; a column that Arrow has no type for is told to be unreadable."""
    fields, columns = [], []
    for series in frame.get_columns():
        try:
            # of objects Polars hands over bare addresses
            column = None if _holds_objects(series.dtype) else series.to_arrow()
        except pa.ArrowInvalid:
            column = None
        if column is None:
            fields.append(unreadable_field(series.name, f"Polars' {series.dtype}"))
            columns.append(pa.nulls(len(series)))
        else:
            fields.append(pa.field(series.name, column.type))
            columns.append(column)
    return pa.table(columns, schema=pa.schema(fields))


def _holds_objects(dtype: Any) -> bool:
    inner = [getattr(dtype, "inner", None), *(field.dtype for field in getattr(dtype, "fields", ()))]
    return dtype == _polars().Object or any(_holds_objects(one) for one in inner if one is not None)


def frame_from_arrow(table: pa.Table, origins: Origins, dtypes: Mapping[str, Any]) -> Any:
    """A result as a DataFrame, with the dtypes that the columns of events have."""
    pl = _polars()
    frame = pl.from_arrow(table)
    wanted = {name: _dtype(origin, dtypes) for name, origin in origins.items()}
    casts = {
        name: dtype
        for name, held in frame.schema.items()
        if (dtype := wanted.get(name)) is not None and dtype != held
    }
    return frame.cast(casts) if casts else frame


def _dtype(origin: Origin, dtypes: Mapping[str, Any]) -> Any:
    """The dtype of a column of a result; None if one of its columns was no column of events."""
    pl = _polars()
    if any(name not in dtypes for name in origin.columns):
        return None
    if origin.column is not None:
        dtype = dtypes[origin.column]
    else:
        dtype = pl.Struct({name: dtypes[column] for name, column in (origin.fields or {}).items()})
    return pl.List(dtype) if origin.is_list else dtype
