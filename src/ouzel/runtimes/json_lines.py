"""Matches as JSON lines: one object per match, times in ISO 8601."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

BATCH = 10_000


def json_lines(table: pa.Table) -> Iterator[str]:
    """The rows of a table, without line ends.

    >>> list(json_lines(pa.table({"at": pa.array([0], pa.timestamp("ms")), "n": [1]})))
    ['{"at": "1970-01-01T00:00:00.000", "n": 1}']
    """
    return (json.dumps(row, ensure_ascii=False, default=bytes.hex) for row in plain_rows(table))


def plain_rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows of a table as dicts of values that JSON can hold; and bytes."""
    for batch in table.to_batches(max_chunksize=BATCH):
        columns = [_plain(column) for column in batch.columns]
        yield from pa.RecordBatch.from_arrays(columns, names=batch.schema.names).to_pylist()


def _plain(array: pa.Array) -> pa.Array:
    """Turn what JSON does not have into text, whole arrays at a time; infinities and NaN become null."""
    arrow = array.type
    if pa.types.is_dictionary(arrow):
        return _plain(array.dictionary_decode())
    if pa.types.is_struct(arrow) and arrow.num_fields:
        fields = [_plain(array.field(number)) for number in range(arrow.num_fields)]
        return pa.StructArray.from_arrays(fields, [field.name for field in arrow], mask=array.is_null())
    if pa.types.is_list(arrow):
        lengths = pc.fill_null(pc.list_value_length(array), 0)
        offsets = pa.concat_arrays([pa.array([0], pa.int32()), pc.cumulative_sum(lengths)])
        return pa.ListArray.from_arrays(offsets, _plain(array.flatten()), mask=array.is_null())
    if pa.types.is_timestamp(arrow):
        iso = pc.replace_substring(array.cast(pa.string()), " ", "T", max_replacements=1)
        return pc.replace_substring_regex(iso, r"([+-]\d\d)(\d\d)$", r"\1:\2")
    if pa.types.is_duration(arrow):
        return iso_durations(array)
    if pa.types.is_floating(arrow):
        return pc.if_else(pc.is_finite(array), array, pa.scalar(None, arrow))
    if pa.types.is_date(arrow) or pa.types.is_time(arrow) or pa.types.is_decimal(arrow):
        return array.cast(pa.string())
    return array


def iso_durations(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Durations in ISO 8601, as seconds.

    >>> iso_durations(pa.array([90_500, None], pa.duration("ms"))).to_pylist()
    ['PT90.500S', None]
    """
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}[array.type.unit]
    ticks = array.cast(pa.int64()).to_pylist()
    return pa.array([None if n is None else f"PT{Decimal(n).scaleb(-digits):f}S" for n in ticks], pa.string())
