"""Packing: a stream's rows become blobs by bucket on the way to the matchers, and blobs become rows after them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.times import BEGINNING
from ouzel.runtimes.ingest import beyond_counting
from ouzel.runtimes.op_column import INSERT
from ouzel.runtimes.spark.blobs import packed, written
from ouzel.runtimes.spark.malformed import Required
from ouzel.runtimes.spark.spreading import bucket_keys

# The column that says for which bucket a row is: none if no query wants the event, which then only tells the time.
BUCKET = "__bucket"
# So many rows go into one blob at the most, whichever task they come from.
ROWS = 200_000

# Rules come from tasks whose numbers are that much lower, so before all events.
RULES = 2**30

# Blobs are empty rather than missing, and times never missing: pandas would make floats of them.
PACKED = pa.schema(
    {
        "bucket": pa.int32(),
        "task": pa.int32(),
        "part": pa.int32(),
        "latest": pa.int64(),
        "blob": pa.binary(),
    }
)
PACKED_DDL = "bucket int, task int, part int, latest long, blob binary"
MATCHED_DDL = "query string, number long, blob binary"


@dataclass(frozen=True)
class Packing:
    """How rows are packed: the events of each bucket as one blob, and for every bucket the latest time."""

    schema: pa.Schema
    time: str
    buckets: int
    required: Required | None = None
    """What makes an event one that tells the time."""
    op: str | None = None
    """The column that says whether an event is inserted: those withdrawn tell no time."""

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the rows of one task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for part, rows in enumerate(_gathered(batches)):
            yield self.part(rows, context.partitionId(), part)

    def part(self, rows: pa.Table, task: int, part: int) -> pa.RecordBatch:
        """Pack some rows of a task."""
        latest = latest_tick(self._times(rows))
        chosen = rows.filter(pc.is_valid(rows.column(BUCKET)))
        numbers = chosen.column(BUCKET).to_numpy()
        blobs = [b""] * self.buckets
        for batch in packed(chosen.select(self.schema.names).cast(self.schema), numbers, self.buckets):
            blobs[batch.column("bucket")[0].as_py()] = batch.column("blob")[0].as_py()
        every = np.ones(self.buckets, np.int64)
        columns = [bucket_keys(self.buckets), task * every, part * every, latest * every, blobs]
        return pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, PACKED, strict=True)], schema=PACKED
        )

    def _times(self, rows: pa.Table) -> pa.ChunkedArray:
        """The times of all events but malformed ones, which must not make others late; the rest of those that no
        query wants is gone, and they were looked at before.
        """
        if self.required is not None:
            is_whole = pc.field(BUCKET).is_null() | ~self.required.broken(pc.field)
            signs = [] if self.op is None else [self.op]
            rows = rows.select(list(dict.fromkeys([BUCKET, *self.required.values, *signs]))).filter(is_whole)
        if self.op is not None:
            rows = rows.filter(pc.field(self.op) == INSERT)
        return rows.column(self.time)


@dataclass(frozen=True)
class RulePacking:
    """How rows of rules are packed: all of them for every bucket."""

    buckets: int

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Pack the rows of one task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for part, rows in enumerate(_gathered(batches)):
            yield self.part(rows, context.partitionId(), part)

    def part(self, rows: pa.Table, task: int, part: int) -> pa.RecordBatch:
        """Pack some rows of a task; they tell no time."""
        every = np.ones(self.buckets, np.int64)
        blobs = [written(rows)] * self.buckets
        columns = [bucket_keys(self.buckets), (task - RULES) * every, part * every, BEGINNING * every, blobs]
        return pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, PACKED, strict=True)], schema=PACKED
        )


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches put together to fewer and larger tables."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if held and sum(one.num_rows for one in held) + batch.num_rows > ROWS:
            yield pa.Table.from_batches(held)
            held = []
        if batch.num_rows:
            held.append(batch)
    if held:
        yield pa.Table.from_batches(held)


def latest_tick(times: pa.ChunkedArray) -> int:
    """The largest of some times as the engines count them; before any time if there is none.

    >>> latest_tick(pa.chunked_array([[3, None, 5, 2**63 - 1]]))
    5
    """
    # an event that cannot be counted must not make time pass
    latest = pc.max(times.filter(pc.invert(beyond_counting(times))))
    if not latest.is_valid:
        return BEGINNING
    whole = latest.cast(pa.int32()) if pa.types.is_date32(latest.type) else latest
    return int(whole.cast(pa.int64()).as_py())


@dataclass(frozen=True)
class Unpacking:
    """How blobs become rows: those of one query as they are, or those of several side by side as structs."""

    outputs: Mapping[str, pa.Schema]
    apart: bool

    def blobs(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Unpack the blobs of one task."""
        for batch in batches:
            for name, blob in zip(batch.column("query").to_pylist(), batch.column("blob"), strict=True):
                # events that are only counted come without a blob
                if blob.as_buffer().size:
                    for rows in pa.ipc.open_stream(blob.as_buffer()):
                        yield self._labelled(name, rows) if self.apart else rows

    def _labelled(self, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns = {"query": pa.array([name] * rows.num_rows, pa.string())}
        for other, schema in self.outputs.items():
            struct = pa.struct(list(schema))
            is_own = other == name
            columns[other] = rows.to_struct_array().cast(struct) if is_own else pa.nulls(rows.num_rows, struct)
        return pa.RecordBatch.from_pydict(columns)
