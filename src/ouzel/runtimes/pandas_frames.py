"""Pandas frames, as Arrow and back: NumPy stays NumPy where that loses nothing, the rest keeps its dtype."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import SchemaError, listed
from ouzel.runtimes.mixed_values import UNFIT, column_of, is_fatal, is_settled
from ouzel.runtimes.origins import Origin, Origins
from ouzel.runtimes.pandas_cells import cells, object_array
from ouzel.runtimes.quarantine import Problem
from ouzel.runtimes.rows import field_of


def _pandas() -> Any:
    import pandas

    return pandas


def frame_to_arrow(frame: Any) -> tuple[pa.Table, list[Problem]]:
    """A DataFrame as a table, without its index; a column that Arrow has no type for is told to be unreadable."""
    names = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(
                f"events: required column names that are strings; got {name!r}\n"
                "  hint: rename the columns, for example with frame.columns = [str(c) for c in frame.columns]"
            )
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SchemaError(f"columns of one name: {listed(repeated)}\n  hint: rename them")
    fields, columns, problems = [], [], list[Problem]()
    for name in names:
        field, column = field_of(name, _to_arrow(frame[name], name, problems), len(frame))
        fields.append(field)
        columns.append(column)
    return pa.table(columns, schema=pa.schema(fields)), problems


def _to_arrow(series: Any, name: str, problems: list[Problem]) -> pa.Array | pa.ChunkedArray | str:
    """The values of a column, or what they are if Arrow cannot hold them."""
    is_objects = series.dtype == object
    try:
        array = None if is_objects and is_fatal(series.array) else pa.Array.from_pandas(series)
    except UNFIT:
        if not is_objects and not isinstance(series.dtype, _pandas().StringDtype):
            return f"pandas' {series.dtype}"
    else:
        if array is not None and (not is_objects or is_settled(array.type)):
            return array
    return column_of(name, series.tolist(), problems, nan_is_null=True)  # it may hold values of several types


def frame_from_arrow(table: pa.Table, origins: Origins, dtypes: Mapping[str, Any]) -> Any:
    """A result as a DataFrame; `dtypes` are those of the columns of events."""
    pd = _pandas()
    computed = _family(dtypes.values())
    columns = {
        name: _column(table.column(name), origins.get(name), dtypes, computed) for name in table.column_names
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(table.num_rows))


def _family(dtypes: Any) -> str:
    """What computed columns are made of: the kind of arrays that all columns of events are, or NumPy's."""
    families = {family for dtype in dtypes if (family := _family_of(dtype)) is not None}
    return families.pop() if len(families) == 1 else "numpy"


def _family_of(dtype: Any) -> str | None:
    """The kind of array; None for times, categories and others that have but one."""
    pd = _pandas()
    if isinstance(dtype, pd.ArrowDtype):
        return "arrow"
    if isinstance(dtype, pd.StringDtype):
        return "nullable" if dtype.na_value is pd.NA else None
    if hasattr(dtype, "numpy_dtype"):
        return "nullable"
    return "numpy" if getattr(dtype, "kind", "") in "iufbO" and not hasattr(dtype, "__from_arrow__") else None


def _column(column: pa.ChunkedArray, origin: Origin | None, dtypes: Mapping[str, Any], computed: str) -> Any:
    """A column of a result."""
    pd = _pandas()
    known = [dtypes.get(name) for name in origin.columns] if origin else []
    if origin is not None and origin.column is not None and not origin.is_list and known[0] is not None:
        found = _as_it_came(column, known[0])
        if found is not None:
            return found
    if all(isinstance(dtype, pd.ArrowDtype) for dtype in known or [None]) or (computed == "arrow" and not known):
        return pd.array(column, dtype=pd.ArrowDtype(column.type))
    arrow = column.type
    if pa.types.is_nested(arrow) or isinstance(arrow, pa.BaseExtensionType):
        return _objects(cells(column, origin, dtypes))
    nullable = _nullable(arrow)
    loses = column.null_count and (pa.types.is_integer(arrow) or pa.types.is_boolean(arrow))
    if nullable is not None and (loses or (computed == "nullable" and not known)):
        return nullable.__from_arrow__(column)
    # categories that are not those of one dtype are in no order
    return column.to_pandas().cat.as_unordered() if pa.types.is_dictionary(arrow) else column.to_pandas()


def _as_it_came(column: pa.ChunkedArray, dtype: Any) -> Any:
    """The values of one column of events, with its dtype; None where NumPy's dtype follows from Arrow's type."""
    pd = _pandas()
    if isinstance(dtype, pd.ArrowDtype):
        return pd.array(column.cast(dtype.pyarrow_dtype), dtype=dtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(column, dtype)
    if getattr(dtype, "kind", "") == "O" and not hasattr(dtype, "__from_arrow__"):
        text = pa.types.is_string(column.type)
        return _objects(column.to_pandas().to_numpy(object) if text else cells(column, None, {}))
    if isinstance(dtype, pd.IntervalDtype) and column.null_count and dtype.subtype.kind in "iu":
        # intervals of integers have no null
        return _objects(cells(column, Origin("it"), {"it": dtype}))
    if not hasattr(dtype, "__from_arrow__"):
        return None
    return dtype.__from_arrow__(column)


def _objects(values: Any) -> Any:
    """A column of objects, which pandas would take for times or texts if it were not told."""
    array = object_array(values) if isinstance(values, list) else values
    return _pandas().Series(array, dtype=object)


def _categorical(column: pa.ChunkedArray, dtype: Any) -> Any:
    """Categories by their places in the dtype, whichever places they have in the dictionaries of the column.

    None if a value is no category, which pandas would make a null.
    """
    pd = _pandas()
    if not pa.types.is_dictionary(column.type):
        found = pd.Categorical(cells(column, None, {}), dtype=dtype)
        return found if (found.codes < 0).sum() == column.null_count else None
    codes = [np.zeros(0, np.int64)]
    categories = Origin("it"), {"it": dtype.categories.dtype}
    for chunk in column.chunks:
        values = object_array(cells(chunk.dictionary, *categories))
        places = np.append(dtype.categories.get_indexer(pd.Index(values)), -1)
        indices = chunk.indices.cast(pa.int64()).fill_null(len(values))
        codes.append(places[indices.to_numpy(zero_copy_only=False)])
    found = np.concatenate(codes)
    return pd.Categorical.from_codes(found, dtype=dtype) if (found < 0).sum() == column.null_count else None


def _nullable(arrow: pa.DataType) -> Any:
    """The dtype of pandas with nulls for numbers, booleans and texts."""
    pd = _pandas()
    if pa.types.is_boolean(arrow):
        return pd.BooleanDtype()
    if pa.types.is_string(arrow) or pa.types.is_large_string(arrow):
        return pd.StringDtype()
    if pa.types.is_integer(arrow):
        return pd.api.types.pandas_dtype(f"{'U' * str(arrow).startswith('u')}Int{arrow.bit_width}")
    if pa.types.is_float32(arrow) or pa.types.is_float64(arrow):
        return pd.api.types.pandas_dtype(f"Float{arrow.bit_width}")
    return None
