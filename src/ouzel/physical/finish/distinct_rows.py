"""Rows of results that are made of attributes: in order, and each of equal ones once, as streams are sets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.physical.event_table import Integers, content_ranks, sortable
from ouzel.physical.match_table import Flags

_DOUBLE = pa.float64()


def distinct_in_order(rows: pa.Table, starts: Integers, ends: Integers) -> Integers:
    """The same, each of equal ones once."""
    return rows_in_order(rows, starts, ends, distinct=True)


def rows_in_order(rows: pa.Table, starts: Integers, ends: Integers, *, distinct: bool) -> Integers:
    """The places of rows by end, start, and the values of attributes from left to right; of equal ones all or one.

    Null equals null, and what is no number equals what is no number.
    """
    order: Integers = np.lexsort((starts, ends))
    same = (starts[order[1:]] == starts[order[:-1]]) & (ends[order[1:]] == ends[order[:-1]])
    if not same.any():
        return order
    tied = order[np.append(same, False) | np.append(False, same)]
    # all that is tied stays among itself: places of ties are filled with ties
    content = np.zeros(len(order), np.int64)
    content[tied] = content_ranks(rows, tied)
    order = np.lexsort((content, starts, ends))
    if not distinct:
        return order
    equal = np.flatnonzero(same)
    repeated = equal[_are_equal(rows, order[equal], order[equal + 1])] + 1
    return np.delete(order, repeated)


def with_one_form(rows: pa.Table) -> pa.Table:
    """The rows with one form of what is equal in all columns."""
    for place, name in enumerate(rows.column_names):
        column = rows.column(place)
        once = one_form(column)
        rows = rows if once is column else rows.set_column(place, name, once)
    return rows


def one_form(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with 0.0 in the place of -0.0, and one NaN: which of what is equal was there must not matter."""
    is_encoded = pa.types.is_dictionary(column.type)
    value_type = column.type.value_type if is_encoded else column.type
    if not pa.types.is_floating(value_type):
        return column
    chunks = [_encoded_in_one_form(one) if is_encoded else _in_one_form(one) for one in column.chunks]
    return pa.chunked_array(chunks, column.type)


def _in_one_form(values: pa.Array) -> pa.Array:
    if values.type == _DOUBLE and not values.null_count:  # of few of them NumPy makes less ado
        found = values.to_numpy() + 0.0
        is_none = np.isnan(found)
        if is_none.any():
            found[is_none] = np.nan
        return pa.array(found)
    if pa.types.is_float16(values.type):  # with which Arrow does not compute
        return _in_one_form(values.cast(pa.float32())).cast(pa.float16())
    found = pc.add(values, pa.scalar(0.0, values.type))
    return pc.if_else(pc.is_nan(found), pa.scalar(np.nan, values.type), found)


def _encoded_in_one_form(values: pa.DictionaryArray) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        values.indices, _in_one_form(values.dictionary), ordered=values.type.ordered
    )


def _are_equal(rows: pa.Table, some: Integers, others: Integers) -> Flags:
    """Which of some rows equal others in all columns."""
    equal = np.ones(len(some), np.bool_)
    for column in rows.columns:
        values = sortable(column.take(pa.array(np.concatenate([some, others]))))
        left, right = values[: len(some)], values[len(some) :]
        same = pc.equal(left, right).fill_null(False)
        same = pc.or_(same, pc.and_(pc.is_null(left, nan_is_null=True), pc.is_null(right, nan_is_null=True)))
        if pa.types.is_floating(values.type):
            # a null is not what is no number
            same = pc.and_(same, pc.equal(pc.is_valid(left), pc.is_valid(right)))
        equal &= (
            same.to_numpy(zero_copy_only=False).astype(np.bool_) if isinstance(same, pa.Array) else same.to_numpy()
        )
    return equal
