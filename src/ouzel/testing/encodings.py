"""The same events stored in other ways: widths, decimals, dictionaries and units, which must change no result.

Needs the package hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import strategies as st

from ouzel.testing.strategies import streams

Rows = list[dict[str, Any]]
Encoding = Callable[[Sequence[Any]], pa.Array]

SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float16(), pa.float32(), pa.float64())
UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
DECIMALS = (
    pa.decimal32(5, 2),
    pa.decimal64(12, 3),
    pa.decimal128(18, 0),
    pa.decimal128(19, 4),
    pa.decimal128(38, 18),
    pa.decimal256(60, 20),
)
WIDE = (pa.uint64(), pa.decimal128(38, 18), pa.decimal256(60, 20))
INDICES = (pa.int8(), pa.int64(), pa.uint8(), pa.uint32())
TEXTS = (pa.string(), pa.large_string(), pa.string_view())
TIMES = (pa.int32(), pa.int64(), pa.uint64(), pa.date32(), pa.date64())
TIMES += tuple(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "Europe/Madrid"))


def numbers(arrow: pa.DataType) -> Encoding:
    """Numbers of a type."""

    def encode(values: Sequence[Any]) -> pa.Array:
        whole = [None if value is None else int(value) for value in values]
        if pa.types.is_decimal(arrow):
            return pa.array([None if value is None else Decimal(value) for value in whole], arrow)
        if pa.types.is_integer(arrow):
            return pa.array(whole, arrow)
        return pa.array(whole, pa.int64()).cast(arrow)

    return encode


def in_dictionary(inner: Encoding, index: pa.DataType) -> Encoding:
    """A dictionary in which every value stands twice, and null once."""

    def encode(values: Sequence[Any]) -> pa.Array:
        distinct = [*dict.fromkeys(value for value in values if value is not None), None]
        places = [
            None if value is None and place % 2 else distinct.index(value) + place % 2 * len(distinct)
            for place, value in enumerate(values)
        ]
        return pa.DictionaryArray.from_arrays(pa.array(places, index), inner([*distinct, *distinct]))

    return encode


def in_runs(inner: Encoding) -> Encoding:
    """Runs of equal values, where Arrow can make them."""

    def encode(values: Sequence[Any]) -> pa.Array:
        try:
            return pc.run_end_encode(inner(values))
        except pa.ArrowNotImplementedError:
            return inner(values)

    return encode


def texts(arrow: pa.DataType) -> Encoding:
    """Strings of a type."""
    return lambda values: pa.array(values, arrow)


def times(arrow: pa.DataType) -> Encoding:
    """Ticks as times of a type; of dates a tick is a day."""

    def encode(values: Sequence[Any]) -> pa.Array:
        if pa.types.is_date(arrow):
            return pa.array(values, pa.int32()).cast(pa.date32()).cast(arrow)
        return pa.array(values, pa.int64()).cast(arrow)

    return encode


@st.composite
def number_encodings(draw: st.DrawFn, values: Sequence[Any]) -> Encoding:
    """A way to store numbers."""
    negative = any(value is not None and value < 0 for value in values)
    if all(value is None for value in values) and draw(st.booleans()):
        return lambda values: pa.nulls(len(values))
    large = any(value is not None and value >= 2**63 for value in values)
    types = WIDE if large else (*SIGNED, *DECIMALS, *(() if negative else UNSIGNED))
    return draw(_wrapped(numbers(draw(st.sampled_from(types)))))


@st.composite
def _wrapped(draw: st.DrawFn, inner: Encoding) -> Encoding:
    wrapping = draw(st.sampled_from(("", "", "dictionary", "runs")))
    if wrapping == "dictionary":
        return in_dictionary(inner, draw(st.sampled_from(INDICES)))
    return in_runs(inner) if wrapping == "runs" else inner


@st.composite
def stored(draw: st.DrawFn, rows: Rows, *, times_too: bool = True) -> pa.Table:
    """A stream of `streams()` as a table whose columns are stored in some way."""
    columns: dict[str, pa.Array] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if name == "ts":
            encode = times(draw(st.sampled_from(TIMES))) if times_too else times(pa.int64())
        elif isinstance(next((value for value in values if value is not None), 0), str):
            encode = draw(_wrapped(texts(draw(st.sampled_from(TEXTS)))))
        else:
            encode = draw(number_encodings(values))
        columns[name] = encode(values)
    return pa.table(columns)


@st.composite
def stored_streams(draw: st.DrawFn, max_events: int = 9, *, in_order: bool = False) -> tuple[Rows, pa.Table]:
    """A stream of events, as plain rows and as a table whose columns are stored in some way."""
    rows = draw(streams(max_events=max_events))
    rows = sorted(rows, key=lambda row: row["ts"]) if in_order else rows
    return rows, draw(stored(rows))
