"""Values in cells of a pandas frame: whole events as dicts, lists as NumPy arrays, times as pandas has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.runtimes.origins import Origin


def cells(column: pa.Array | pa.ChunkedArray, origin: Origin | None, dtypes: Mapping[str, Any]) -> list[Any]:
    """Values as Python has them, None for null; `origin` tells the dtypes that they had in the events."""
    if isinstance(column, pa.ChunkedArray):
        return [cell for chunk in column.chunks for cell in cells(chunk, origin, dtypes)]
    arrow = column.type
    dtype: Any = dtypes.get(origin.column) if origin is not None and origin.column is not None else None
    if pa.types.is_dictionary(arrow):
        categories = Origin("it"), {"it": dtype.categories.dtype if hasattr(dtype, "categories") else dtype}
        return list(object_array([*cells(column.dictionary, *categories), None])[_places(column)])
    if pa.types.is_struct(arrow):
        return _dicts(column, origin, dtypes)
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow):
        return _lists(column, origin, dtypes)
    if isinstance(arrow, pa.BaseExtensionType) and hasattr(dtype, "__from_arrow__"):
        valid = dtype.__from_arrow__(pa.chunked_array([column.drop_null()]))
        return _spread(list(valid), column)
    if pa.types.is_timestamp(arrow) or pa.types.is_duration(arrow):
        return _spread(column.drop_null().to_pandas().tolist(), column)
    return column.to_pylist()  # type: ignore[no-any-return]


def object_array(values: list[Any]) -> Any:
    """An array of objects, one for each value, whatever the values are."""
    return np.fromiter(values, object, len(values))


def _dicts(column: pa.StructArray, origin: Origin | None, dtypes: Mapping[str, Any]) -> list[Any]:
    names = [field.name for field in column.type]
    held = (origin.fields if origin is not None else None) or {}
    origins = [Origin(held[name]) if name in held else None for name in names]
    fields = [cells(column.field(place), one, dtypes) for place, one in enumerate(origins)]
    rows = zip(*fields, strict=True) if fields else ([()] * len(column))
    valid = column.is_valid().to_pylist()
    return [
        dict(zip(names, row, strict=True)) if is_valid else None for row, is_valid in zip(rows, valid, strict=True)
    ]


def _lists(column: Any, origin: Origin | None, dtypes: Mapping[str, Any]) -> list[Any]:
    element = Origin(origin.column, origin.fields) if origin is not None and origin.is_list else None
    elements = _elements(column.flatten(), element, dtypes)
    ends = np.cumsum(pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False))
    starts = np.append(0, ends)[:-1]
    valid = column.is_valid().to_pylist()
    return [
        elements[start:end] if is_valid else None for start, end, is_valid in zip(starts, ends, valid, strict=True)
    ]


def _elements(values: pa.Array, origin: Origin | None, dtypes: Mapping[str, Any]) -> Any:
    """The elements of lists as a NumPy array: of numbers or times where it holds all of them, else of objects."""
    arrow = values.type
    naive = pa.types.is_timestamp(arrow) and arrow.tz is None
    if naive or pa.types.is_duration(arrow):
        return values.to_numpy(zero_copy_only=False)
    number = pa.types.is_integer(arrow) or pa.types.is_boolean(arrow) or pa.types.is_floating(arrow)
    if number and (not values.null_count or (pa.types.is_floating(arrow) and not _tells_nulls(origin, dtypes))):
        return values.to_numpy(zero_copy_only=False)
    return object_array(cells(values, origin, dtypes))


def _tells_nulls(origin: Origin | None, dtypes: Mapping[str, Any]) -> bool:
    """Whether the column of events tells null from NaN, as NumPy does not."""
    dtype: Any = dtypes.get(origin.column) if origin is not None and origin.column is not None else None
    return hasattr(dtype, "__from_arrow__")


def _places(column: pa.DictionaryArray) -> Any:
    """The places in the dictionary; those of nulls one beyond it."""
    return pc.fill_null(column.indices.cast(pa.int64()), len(column.dictionary)).to_numpy(zero_copy_only=False)


def _spread(values: list[Any], column: pa.Array) -> list[Any]:
    """The valid values in their places, None in those of nulls."""
    if not column.null_count:
        return values
    rest = iter(values)
    return [next(rest) if is_valid else None for is_valid in column.is_valid().to_pylist()]
