"""The fast path: plain Parquet files are read by the workers themselves, not by Spark.

What costs is Spark's conversion of rows to Arrow and to Python.  Where Spark would only read files as they are,
workers read them with Arrow, drop what no component wants, pack the rest by bucket, and shuffle packed blobs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ouzel.runtimes.ingest import beyond_counting
from ouzel.runtimes.spark.blobs import packed, unpacked
from ouzel.runtimes.spark.columns import type_column
from ouzel.runtimes.spark.task import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# More files than that are not looked at one by one.
MOST_FILES = 1_000


def plain_files(events: DataFrame, schema: pa.Schema) -> list[str] | None:
    """The local Parquet files that a DataFrame is made of, if it is nothing else; None if it may be.

    Safe means: no column of directories, no file whose columns or types differ, nothing done to the rows.
    """
    plan = getattr(events, "_jdf", None)
    if plan is None:
        return None
    analyzed = plan.queryExecution().analyzed()
    if analyzed.getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = analyzed.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return None
    if relation.fileFormat().getClass().getSimpleName() != "ParquetFileFormat":
        return None
    if relation.partitionSchema().length() or relation.bucketSpec().isDefined():
        return None
    files = [urlsplit(file) for file in relation.location().inputFiles()]
    if not files or len(files) > MOST_FILES or any(file.scheme != "file" for file in files):
        return None
    paths = [unquote(file.path) for file in files]
    return paths if all(_is_as_agreed(path, schema) for path in paths) else None


def _is_as_agreed(path: str, schema: pa.Schema) -> bool:
    """Whether a file has the columns, of the types in which Spark would hand them over."""
    try:
        written = pq.read_schema(path)
    except (OSError, pa.ArrowException):
        return False
    return all(
        name in written.names and _same(written.field(name).type, schema.field(name).type) for name in schema.names
    )


def _same(written: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_dictionary(written):
        written = written.value_type
    if pa.types.is_timestamp(written) and pa.types.is_timestamp(wanted):
        return (written.tz is None) == (wanted.tz is None) and written.unit == wanted.unit
    return bool(written == wanted or (pa.types.is_large_string(written) and pa.types.is_string(wanted)))


@dataclass(frozen=True)
class FileTask:
    """Reads row groups, packs what some component wants by bucket; and matches packed events.

    A row group is given by its file and its number in there.  `condition` and `types_condition` are Arrow
    expressions: which events are wanted, and which types.
    """

    task: Task
    groups: tuple[tuple[str, int], ...]
    keys: tuple[str, ...]
    buckets: int
    condition: Any = None
    types_condition: Any = None

    def read(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The numbers of row groups in, packed events out: (bucket, blob)."""
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                table = self._wanted(*self.groups[number])
                yield from packed(table, self._numbers(table), self.buckets)

    def _wanted(self, path: str, group: int) -> pa.Table:
        """The events of a row group that some component wants."""
        names = self.task.schema.names
        types = type_column(self.task) if self.types_condition is not None else None
        file = pq.ParquetFile(path, memory_map=True, read_dictionary=[types] if types else None)
        table = file.read_row_group(group, columns=names).select(names)
        if types:
            is_wanted = _of_types(table.column(types), types, self.types_condition)
            table = table.filter(pc.or_(is_wanted, self._cannot_be_read(table)))
        table = table.cast(self.task.schema)
        return table if self.condition is None else table.filter(self.condition)

    def _cannot_be_read(self, table: pa.Table) -> pa.ChunkedArray:
        """Whether each event is malformed for its time or what else orders it: not to be passed over either."""
        reading = self.task.reading
        beyond = [pc.fill_null(beyond_counting(table.column(name)), True) for name in reading.times]
        flags = reduce(pc.or_, beyond)
        for name in dict.fromkeys((*reading.times, *reading.order)):
            if table.column(name).null_count:
                flags = pc.or_(flags, pc.is_null(table.column(name)))
        if reading.start is not None:
            backwards = pc.greater(table.column(reading.start), table.column(reading.time))
            flags = pc.or_(flags, pc.fill_null(backwards, False))
        return flags

    def _numbers(self, table: pa.Table) -> Any:
        """The bucket of every row: equal keys, equal buckets, in every process."""
        numbers = np.zeros(table.num_rows, np.uint64)
        for key in self.keys:
            numbers = numbers * np.uint64(31) + _hashes(table.column(key))
        return ((numbers ^ (numbers >> np.uint64(29))) % np.uint64(self.buckets)).astype(np.int64)

    def match(self, blobs: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Packed events in, matches out."""
        return self.task.whole(batch for table in unpacked(blobs) for batch in table.to_batches())


def row_groups(files: list[str]) -> tuple[tuple[str, int], ...]:
    """All row groups of some files."""
    return tuple((path, group) for path in files for group in range(pq.ParquetFile(path).num_row_groups))


def match_files(session: SparkSession, reading: FileTask, output: Any) -> DataFrame:
    """The matches in files, as a DataFrame; the row groups are shared out evenly, and so are the buckets."""
    parts = min(len(reading.groups), reading.buckets) or 1
    numbers = session.range(0, len(reading.groups), 1, parts)
    blobs = numbers.mapInArrow(reading.read, "bucket int, blob binary")
    return blobs.repartitionById(reading.buckets, "bucket").mapInArrow(reading.match, output)


def _of_types(column: pa.ChunkedArray, name: str, condition: Any) -> pa.ChunkedArray:
    """Whether each event is of a wanted type, or of none; each type is looked at once, not each event's."""
    chunks, code = [], f"{name} code"
    for chunk in column.chunks:
        types = pa.table({name: chunk.dictionary, code: pa.array(range(len(chunk.dictionary)))})
        is_wanted = np.zeros(len(types) + 1, bool)
        is_wanted[types.filter(condition).column(code)] = True
        is_wanted[-1] = True  # malformed, but not to be passed over
        codes = chunk.indices.fill_null(len(types)) if chunk.null_count else chunk.indices
        chunks.append(pa.array(is_wanted[codes.to_numpy()]))
    return pa.chunked_array(chunks, pa.bool_())


def _hashes(column: pa.ChunkedArray) -> Any:
    """A number for every value that does not depend on the process."""
    if pa.types.is_integer(column.type):
        values = column.fill_null(0).to_numpy().astype(np.int64).view(np.uint64)
        return (values * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(7)
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))  # of -0.0 it makes 0.0, which is equal
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0) if encoded.num_chunks else pa.array([], column.type).dictionary_encode()
    texts = encoded.dictionary.cast(pa.string()).to_pylist()
    known = np.array([_text_hash(text) for text in texts] + [0], np.uint64)
    return known[encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)]


def _text_hash(text: str) -> int:
    data = text.encode()
    return (zlib.crc32(data) << 32 | zlib.adler32(data)) & 0xFFFFFFFFFFFFFFFF
