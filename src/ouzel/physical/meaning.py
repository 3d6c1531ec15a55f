"""Columns by what their values mean: how they are stored (dictionaries, units, widths, views) changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.language.durations import NANOSECONDS
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import Constant
from ouzel.logical.values import Kind, ValueType, decimal_of, from_arrow, to_arrow

Array = np.ndarray[Any, Any]

# Up to here doubles hold every integer and every power of ten: their quotient is rounded once, as Python does.
_EXACT_INTEGER = 2**53
_EXACT_POWER = 22
# So many values are not copied without need.
_MANY = 1 << 18


# ---- one type for values that are stored in several ways -------------------------------------------------


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that Arrow can encode, compare and sort, with the same values."""
    arrow = column.type
    if arrow.id in _PLAIN:
        return column
    if isinstance(arrow, pa.BaseExtensionType):
        return plain(pa.chunked_array([one.storage for one in column.chunks], arrow.storage_type))
    if pa.types.is_dictionary(arrow):
        chunks = [one.dictionary.take(one.indices) for one in column.chunks]
        return plain(pa.chunked_array(chunks, arrow.value_type))
    if pa.types.is_run_end_encoded(arrow):
        return plain(pa.chunked_array([pc.run_end_decode(one) for one in column.chunks], arrow.value_type))
    if pa.types.is_decimal32(arrow) or pa.types.is_decimal64(arrow):
        return column.cast(pa.decimal128(arrow.precision, arrow.scale))
    if pa.types.is_decimal(arrow) and arrow.scale < 0:
        # Arrow computes nothing with digits left out before the point
        return column.cast(to_arrow(decimal_of(arrow.precision - arrow.scale, 0)))
    for is_stored, wanted in _STORED:
        if is_stored(arrow):
            return column.cast(wanted)
    return column


# Most columns are of these, of which each value is stored in one way.
_PLAIN = {one.id for one in (pa.int64(), pa.int32(), pa.float64(), pa.string(), pa.bool_(), pa.timestamp("us"))}
_STORED = (
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_binary_view, pa.binary()),
    (pa.types.is_float16, pa.float32()),
    (pa.types.is_date64, pa.date32()),
    # nulls of some type: there are no others
    (pa.types.is_null, pa.int64()),
)


def encoded(column: pa.ChunkedArray) -> tuple[Array, pa.Array]:
    """Codes of a column, -1 for null, and the values they stand for, each but once."""
    if not len(column):
        # Arrow makes no empty dictionary of some types
        value_type = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        return np.zeros(0, np.int64), _one_chunk(plain(pa.chunked_array([], value_type)))
    is_ours = not pa.types.is_dictionary(column.type)
    if is_ours:
        column = plain(column).dictionary_encode()
    # to join chunks makes their dictionaries one; Arrow's unify_dictionaries would look up what lies under nulls
    whole = _one_chunk(column)
    # places without a sign are not to be filled with -1
    places = whole.indices.cast(pa.int64())
    places = (places.fill_null(-1) if places.null_count else places).to_numpy(zero_copy_only=False)
    if is_ours:
        return places, whole.dictionary
    if not len(whole.dictionary):
        return places, _one_chunk(plain(pa.chunked_array([whole.dictionary])))
    # a dictionary that came in may hold null, and a value several times
    once = _one_chunk(plain(pa.chunked_array([whole.dictionary])).dictionary_encode())
    if len(once.dictionary) == len(whole.dictionary):
        return places, once.dictionary
    numbers = once.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.append(numbers, -1)[places], once.dictionary


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


# ---- numbers and times -----------------------------------------------------------------------------------


def integers(column: pa.ChunkedArray) -> Array:
    """Integers and times as integers of 64 bits; 0 for null.  Unsigned ones wrap around."""
    column = plain(column)
    arrow = column.type
    if pa.types.is_date32(arrow) or pa.types.is_time32(arrow):
        column = column.cast(pa.int32())
    column = column if pa.types.is_integer(arrow) else column.cast(pa.int64())
    values = (column.fill_null(0) if column.null_count else column).to_numpy()
    return owned(values.astype(np.int64, copy=False))


def owned(values: Array) -> Array:
    """Values that Arrow lends, copied unless they are many: Numba compiles again for what may not be written."""
    return values if values.flags.writeable or len(values) > _MANY else values.copy()


def floats(column: pa.ChunkedArray) -> Array:
    """Numbers as doubles, the nearest ones; 0 for null."""
    column = plain(column)
    if pa.types.is_float64(column.type) and not column.null_count:
        return owned(column.to_numpy())
    if not pa.types.is_decimal(column.type):
        return owned(column.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy())
    scale = column.type.scale
    words = _words(column)
    low = words[:, 0]
    small = (words[:, 1:] == (low >> 63)[:, None]).all(axis=1) & (np.abs(low) <= _EXACT_INTEGER)
    small &= 0 <= scale <= _EXACT_POWER
    values: Array = low / 10.0 ** min(max(scale, 0), _EXACT_POWER)
    if not small.all():
        for place in np.flatnonzero(~small):
            values[place] = float(column[place].as_py() or 0)
    return values


def unscaled(column: pa.ChunkedArray) -> Array:
    """Decimals of at most 18 digits as integers: 7.10 is 710; 0 for null."""
    return _words(plain(column))[:, 0].copy()


def limbs(column: pa.ChunkedArray, factor: int) -> tuple[Array, Array]:
    """Exact numbers times a factor as two integers each, which compare as pairs: 128 bits; 0 for null."""
    column = plain(column)
    if pa.types.is_decimal(column.type):
        words = _words(column)
        high, low = words[:, 1].copy(), words[:, 0].copy()
    else:
        low = integers(column)
        high = np.zeros_like(low) if pa.types.is_uint64(column.type) else low >> 63
    if factor != 1:
        high, low = _multiplied(high, low, factor)
    return high, low ^ np.int64(-(2**63))


def _words(column: pa.ChunkedArray) -> Array:
    """The integers of decimals, a row of words of 64 bits each, the lowest first."""
    width = column.type.bit_width // 64
    parts = [np.zeros((0, width), np.int64)]
    for chunk in column.chunks:
        valid, data = chunk.buffers()
        words = np.frombuffer(data, np.int64, width * len(chunk), 8 * width * chunk.offset).reshape(-1, width)
        if valid is not None and chunk.null_count:
            words = np.where(chunk.is_valid().to_numpy(zero_copy_only=False)[:, None], words, 0)
        parts.append(words)
    return np.concatenate(parts)


def _multiplied(high: Array, low: Array, factor: int) -> tuple[Array, Array]:
    """Numbers of 128 bits times a factor, with Python's integers: columns of several scales are rare."""
    word = 2**64 - 1
    pairs = zip(high.tolist(), low.tolist(), strict=True)
    products = [((above << 64) + (below & word)) * factor for above, below in pairs]
    lows = np.array([product & word for product in products], np.uint64).view(np.int64)
    return np.array([product >> 64 for product in products], np.int64), lows


# ---- Python values ---------------------------------------------------------------------------------------


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """A column's values as expressions see them: times as integers, everything else as Python has it."""
    column = plain(column)
    if pa.types.is_date32(column.type) or pa.types.is_time32(column.type):
        column = column.cast(pa.int32())
    elif from_arrow(column.type).unit is not None:
        column = column.cast(pa.int64())
    return column.to_pylist()  # type: ignore[no-any-return]


def arrow_values(values: Sequence[Any], held: ValueType, arrow: pa.DataType) -> pa.Array:
    """Values as expressions see them, in Arrow."""
    if pa.types.is_null(arrow):
        return pa.nulls(len(values))
    if pa.types.is_dictionary(arrow):
        codes = arrow_values(values, held, arrow.value_type).dictionary_encode()
        return pa.DictionaryArray.from_arrays(codes.indices.cast(arrow.index_type), codes.dictionary)
    if held.kind in (Kind.TIMESTAMP, Kind.TIME):
        return times_column(values, arrow)
    if held.kind is Kind.DURATION and held.unit == "d":
        factor = NANOSECONDS["d"] // NANOSECONDS["s"]
        return pc.multiply(pa.array(values, pa.int64()), factor).cast(arrow)
    if held.kind is Kind.DECIMAL and isinstance(values, np.ndarray) and values.dtype == np.int64:
        return _decimals(values, held).cast(arrow)
    return pa.array(values, arrow)


def _decimals(unscaled: Array, held: ValueType) -> pa.Array:
    """Decimals of the integers that count their last digits."""
    low = np.ma.getdata(unscaled)
    words = np.stack([low, low >> 63], axis=1)
    nulls = np.packbits(~np.ma.getmaskarray(unscaled), bitorder="little")
    arrow = pa.decimal128(held.digits, held.scale)
    return pa.Array.from_buffers(arrow, len(low), [pa.py_buffer(nulls), pa.py_buffer(words)])


def times_column(values: Any, arrow: pa.DataType) -> pa.Array:
    """Ticks as values of the time column."""
    if pa.types.is_date32(arrow) or pa.types.is_date64(arrow):
        return pa.array(values, pa.int64()).cast(pa.int32()).cast(pa.date32()).cast(arrow)
    if pa.types.is_time32(arrow):
        return pa.array(values, pa.int64()).cast(pa.int32()).cast(arrow)
    ticks = pa.array(values, pa.int64())
    return ticks if arrow == ticks.type else ticks.cast(arrow)


def key_values(column: pa.ChunkedArray, *, real: bool = False) -> list[Any]:
    """A column's values as keys: equal if they mean the same, whatever their units and widths.

    Where doubles are among the keys (`real`), decimals are doubles too.
    """
    values = python_values(column)
    unit = from_arrow(column.type).unit
    if unit is not None and NANOSECONDS[unit] != 1:
        return [None if value is None else value * NANOSECONDS[unit] for value in values]
    if real and from_arrow(column.type).kind is Kind.DECIMAL:
        return [None if value is None else float(value) for value in values]
    return values


def constant_in(constant: Constant, arrow: pa.DataType) -> pa.Scalar | None:
    """A constant as a value of a type; None if the type does not hold it."""
    arrow = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
    held, value = from_arrow(arrow), constant.value
    try:
        if held.unit is not None:
            ticks, rest = divmod(value * NANOSECONDS[constant.type.unit or "ns"], NANOSECONDS[held.unit])
            narrow = pa.types.is_date32(arrow) or pa.types.is_time32(arrow)
            return None if rest else pa.scalar(ticks, pa.int32() if narrow else pa.int64()).cast(arrow)
        if held.kind is Kind.DECIMAL:
            return pa.scalar(Decimal(value), arrow)
        if held.kind is Kind.FLOAT:
            return pa.scalar(float(value), arrow)
        if held.is_number:
            return pa.scalar(int(value), arrow) if int(value) == value else None
        return pa.scalar(value, arrow)
    except (pa.ArrowException, OverflowError, ValueError):
        return None


def constant_key(test: EquivalenceTest) -> Any:
    """The constant that a test asks for, as a key."""
    assert test.constant is not None
    value, unit = test.constant.value, test.constant.type.unit
    if unit is not None and value is not None:
        return value * NANOSECONDS[unit]
    return float(value) if test.is_real and isinstance(value, Decimal) else value
