"""Rows as numbers: equal ones have one, by what their values mean; null equals null, and NaN equals NaN.

Column by column: each value gets a number, and a row the number of what it has so far and of its next value.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.values import Kind, from_arrow
from ouzel.physical.event_table import Integers
from ouzel.physical.finish.distinct_rows import with_one_form
from ouzel.physical.meaning import encoded, integers, plain


def row_numbers(table: pa.Table) -> Integers:
    """A number for each row of a table, the same for rows that are equal in every column.

    >>> row_numbers(pa.table({"a": [1, 1, 1], "b": [None, 2.0, None]})).tolist()
    [0, 1, 0]
    """
    return _together(with_one_form(table).columns, table.num_rows)


def _together(columns: Iterable[pa.ChunkedArray], count: int) -> Integers:
    numbers, most = np.zeros(count, np.int64), 1
    for values in map(_spread, columns) if count else ():
        many = int(values.max()) + 2
        # such numbers need not be dense until they are too large
        if most * many > _LARGEST:
            numbers, most = _dense(numbers), count
        numbers, most = numbers * many + values + 1, most * many
    return _dense(numbers)


_WIDE, _LARGEST = 1 << 31, 1 << 62
"""The product of two numbers that are so wide has room in 64 bits."""


def _spread(column: pa.ChunkedArray) -> Integers:
    """Numbers of the values of a column, -1 for null; of whole numbers that are not far apart, by themselves."""
    is_whole = pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type)
    if is_whole and not column.null_count:
        values = integers(column)
        least = int(values.min())
        if int(values.max()) - least < _WIDE - 2:
            return values - least
    return _numbers(column)


def _next(numbers: Integers, values: Integers) -> Integers:
    """The numbers of pairs; values are numbers from -1 on."""
    if not len(numbers):
        return numbers
    return _dense(numbers * (int(values.max()) + 2) + values + 1)


def _dense(numbers: Integers) -> Integers:
    """Numbers from 0 on, in the same order."""
    order = np.argsort(numbers)
    ordered = numbers[order]
    dense = np.empty(len(numbers), np.int64)
    dense[order] = np.append(0, np.cumsum(ordered[1:] != ordered[:-1]))[: len(numbers)]
    return dense


def _numbers(column: pa.ChunkedArray) -> Integers:
    """Numbers of the values of a column, -1 for null."""
    arrow = column.type
    if pa.types.is_null(arrow) or not len(column):
        return np.full(len(column), -1, np.int64)
    if pa.types.is_dictionary(arrow) and pa.types.is_nested(arrow.value_type):
        return _numbers(plain(column))
    if pa.types.is_struct(arrow):
        fields = _together(_fields(column), len(column))
        return np.where(column.is_null().to_numpy(), -1, fields)
    if pa.types.is_map(arrow) or isinstance(arrow, _LISTS):
        return _lists(column)
    if from_arrow(arrow).kind is Kind.OTHER and not pa.types.is_binary(arrow):
        values = column.to_pylist()  # nothing is known of such types but what Python says
        column = pa.chunked_array([pa.array([None if one is None else repr(one) for one in values], pa.string())])
    codes, _values = encoded(column)
    return codes.astype(np.int64, copy=False)


_LISTS = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)


def _fields(column: pa.ChunkedArray) -> list[pa.ChunkedArray]:
    """The fields of structs, null where the struct is."""
    arrow = column.type
    parts = [chunk.flatten() for chunk in column.chunks]
    arrays = [pa.chunked_array([one[k] for one in parts], arrow.field(k).type) for k in range(arrow.num_fields)]
    table = pa.table(arrays, names=[str(k) for k in range(arrow.num_fields)]) if arrays else None
    return [] if table is None else with_one_form(table).columns


def _lists(column: pa.ChunkedArray) -> Integers:
    """Lists are equal if they are as long, and have equal elements place by place."""
    if pa.types.is_map(column.type):
        pairs = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
        column = pa.chunked_array([one.cast(pa.list_(pairs)) for one in column.chunks], pa.list_(pairs))
    lengths = pc.list_value_length(column).fill_null(-1).to_numpy().astype(np.int64)
    flat = pa.table({"": pc.list_flatten(column)})
    elements = _numbers(with_one_form(flat).column(0))
    begins = np.cumsum(np.maximum(lengths, 0)) - np.maximum(lengths, 0)
    numbers = _next(np.zeros(len(lengths), np.int64), lengths)
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        # those that are longer are apart from all others already, by their lengths
        numbers[longer] = len(lengths) * (place + 1) + _next(numbers[longer], elements[begins[longer] + place])
    return np.where(lengths < 0, -1, _dense(numbers))
