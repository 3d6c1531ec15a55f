"""Stage 2, sets of queries: from when until when each query is valid, in ticks of the events' time.

A query sees events from the first tick on that is not before its beginning.  What is too far off to be counted is
before all events, or after them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.language.durations import NANOSECONDS
from ouzel.language.set_tree import QuerySet
from ouzel.logical.schema import TimeColumn
from ouzel.logical.times import BEGINNING, END


def lives_of(written: QuerySet, rows: pa.Table, time: TimeColumn) -> Any:
    """From when until when the query of each row is valid."""
    lives = np.empty((rows.num_rows, 2), np.int64)
    for place, (name, otherwise) in enumerate(zip(written.valid, (BEGINNING, END), strict=True)):
        lives[:, place] = otherwise
        if name is None or pa.types.is_null(rows.schema.field(name).type):
            continue
        column = rows.column(name).combine_chunks()
        there = np.asarray(column.is_valid())
        lives[there, place] = _ticks(column.drop_null(), time.arrow)
    return lives


def check_lives(written: QuerySet, rows: pa.Table, time: TimeColumn) -> None:
    """Refuse columns that hold no times such as those of events, with a zone or without."""
    for name in written.valid:
        arrow = pa.null() if name is None else rows.schema.field(name).type
        if not (pa.types.is_null(arrow) or pa.types.is_integer(arrow) or _is_time(arrow, time.arrow)):
            required = f"times as in the column '{time.name}', {time.arrow}"
            raise OuzelError(f"'{name}': required {required}; got {arrow}")


def within_times(ticks: int) -> int:
    """A time that may be too far off, as one before all events, or after them."""
    return max(BEGINNING, min(ticks, END))


def _is_time(arrow: pa.DataType, wanted: pa.DataType) -> bool:
    both = arrow, wanted
    if not all(pa.types.is_timestamp(one) or pa.types.is_date(one) for one in both):
        return False
    return len({getattr(one, "tz", None) is None for one in both}) == 1


def _ticks(column: pa.Array, arrow: pa.DataType) -> Any:
    """Times without nulls, in ticks of a type: integers are that already."""
    if pa.types.is_uint64(column.type):
        return np.minimum(np.asarray(column), np.uint64(END)).astype(np.int64)
    if pa.types.is_integer(column.type):
        return np.asarray(column.cast(pa.int64()))
    days = pa.types.is_date32(column.type)
    counted = np.asarray(column.cast(pa.int32() if days else pa.int64())).astype(np.int64)
    own, wanted = NANOSECONDS[_unit(column.type)], NANOSECONDS[_unit(arrow)]
    if own < wanted:
        return -(-counted // int(wanted // own))
    factor = int(own // wanted)
    most = END // factor
    ticks = np.clip(counted, -most, most) * factor
    return np.where(counted > most, END, np.where(counted < -most, BEGINNING, ticks))


def _unit(arrow: pa.DataType) -> str:
    if pa.types.is_date32(arrow):
        return "d"
    return "ms" if pa.types.is_date64(arrow) else str(arrow.unit)
