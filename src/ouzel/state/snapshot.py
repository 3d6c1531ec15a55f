"""Snapshots: named arrays, tables and numbers as one Arrow IPC file of one row, never a pickle.

The file's metadata says what it is: the format's version, a checksum, and whatever the writer wants to be known
before the values are read, as JSON.  The checksum is over that and over the values.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import StateError

VERSION = 6
_FORMAT = b"ouzel"
_TEXTS = (b"header", b"kinds", b"shapes")

Value = Any
"""A NumPy array of one or two dimensions, an Arrow table, a list of texts, a text, a whole number or None."""


def write_snapshot(header: Mapping[str, Any], values: Mapping[str, Value]) -> bytes:
    """A snapshot of values under their names.

    >>> header, values = read_snapshot(write_snapshot({"query": "q"}, {"now": 7, "rows": np.arange(3)}))
    >>> header["query"], values["now"], values["rows"]
    ('q', 7, array([0, 1, 2]))
    """
    columns: dict[str, pa.Array] = {}
    shapes: dict[str, list[int]] = {}
    kinds: dict[str, str] = {}
    for name, value in values.items():
        kinds[name], columns[name] = _encoded(value)
        if isinstance(value, np.ndarray) and value.ndim > 1:
            shapes[name] = list(value.shape)
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    texts = {name: json.dumps(value).encode() for name, value in zip(_TEXTS, (header, kinds, shapes), strict=True)}
    metadata = {
        b"format": _FORMAT,
        b"version": str(VERSION).encode(),
        **texts,
        b"checksum": str(_checksum(batch, texts)).encode(),
    }
    schema = batch.schema.with_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch.replace_schema_metadata(metadata))
    result: bytes = sink.getvalue().to_pybytes()
    return result


def read_snapshot(data: bytes) -> tuple[dict[str, Any], dict[str, Value]]:
    """The header and the values of a snapshot; a StateError if it is none, damaged, or of another version."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise StateError(f"snapshot: required bytes; got {type(data).__name__}")
    try:
        reader = pa.ipc.open_file(pa.py_buffer(data))
        metadata = reader.schema.metadata or {}
        if metadata.get(b"format") != _FORMAT:
            raise StateError("snapshot: required one that a matcher has written; got another Arrow file")
        version = int(metadata[b"version"])
        if version != VERSION:
            raise StateError(
                f"snapshot: required version {VERSION} of the format; got {version}\n"
                "  hint: read it with the version of Ouzel that wrote it"
            )
        batch = reader.get_batch(0)
        if int(metadata[b"checksum"]) != _checksum(batch, metadata):
            raise StateError("snapshot: required it as it was written; got one whose values have changed")
        header, kinds, shapes = (json.loads(metadata[name]) for name in _TEXTS)
        values = {name: _decoded(kinds[name], batch.column(name), shapes.get(name)) for name in kinds}
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise StateError(
            f"snapshot: required one that a matcher has written, whole; got {len(data):,} bytes that are not"
        ) from error
    return header, values


def _checksum(batch: pa.RecordBatch, texts: Mapping[bytes, bytes]) -> int:
    """A checksum over texts and values, not over their memory, which need not be laid out in one way only."""
    sum_so_far = 0
    for name in _TEXTS:
        sum_so_far = zlib.crc32(texts[name], sum_so_far)
    for column in batch.columns:
        sink = pa.BufferOutputStream()
        one = pa.RecordBatch.from_arrays([column], names=["c"])
        with pa.ipc.new_stream(sink, one.schema) as writer:
            writer.write_batch(one)
        sum_so_far = zlib.crc32(sink.getvalue(), sum_so_far)
    return sum_so_far


def _encoded(value: Value) -> tuple[str, pa.Array]:
    match value:
        case np.ndarray():
            return "array", _in_one_row(pa.array(np.ascontiguousarray(value).reshape(-1)))
        case pa.Table():
            combined = value.combine_chunks()
            if not value.num_columns:
                return "rows", pa.array([value.num_rows], pa.int64())
            arrays = [_one(column) for column in combined.columns]
            return "table", _in_one_row(pa.StructArray.from_arrays(arrays, fields=list(value.schema)))
        case list():
            return "texts", _in_one_row(pa.array(value, pa.string()))
        case str():
            return "text", pa.array([value], pa.string())
        case None:
            return "nothing", pa.nulls(1)
        case int() | np.integer():
            return "number", pa.array([int(value)], pa.int64())
    raise TypeError(f"a snapshot holds no {type(value).__name__}")


def _in_one_row(values: pa.Array) -> pa.Array:
    return pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    )


def _decoded(kind: str, column: pa.Array, shape: list[int] | None) -> Value:
    match kind:
        case "array":
            # a copy, as what is read from a buffer cannot be changed
            values = np.array(column.flatten().to_numpy(zero_copy_only=False))
            return values if shape is None else values.reshape(shape)
        case "table":
            struct = column.flatten()
            return pa.Table.from_arrays(struct.flatten(), schema=pa.schema(list(struct.type)))
        case "rows":
            return pa.table({"": pa.nulls(column[0].as_py())}).select([])
        case "texts":
            return column.flatten().to_pylist()
    return column[0].as_py()
