"""Checkpoints from outside: what Spark's state holds of a stream's matchers, read while nobody runs them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ouzel.errors import StateError
from ouzel.logical.times import BEGINNING
from ouzel.runtimes.spark.spreading import bucket_keys
from ouzel.runtimes.spark.watching import time_text
from ouzel.state import read_snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COLUMNS = pa.schema(
    {
        "bucket": pa.int64(),
        "state_bytes": pa.int64(),
        "snapshot_bytes": pa.int64(),
        "batches_since": pa.int64(),
        "open_runs": pa.int64(),
        "watermark": pa.string(),
    }
)


@dataclass(frozen=True)
class Checkpoint:
    """A stream's state: the query, how its events are spread, and a row for each bucket."""

    query: str
    layout: str
    buckets: pa.Table


def read_checkpoint(path: str | Path, session: SparkSession) -> Checkpoint:
    """Read the state as it was after the last micro-batch."""
    from pyspark.errors import PySparkException

    try:
        heads = _state(session, path, "head").selectExpr("key.bucket", "value.*").collect()
        if not heads:
            raise StateError(f"'{path}': required the checkpoint of a stream with state; it has none yet")
        first = _state(session, path, "snapshot").where(f"key.bucket = {heads[0].bucket}")
        [row] = first.select("value.data").collect()
    except PySparkException as error:
        reason = str(error).splitlines()[0]
        raise StateError(f"'{path}': required the checkpoint of a stream that Ouzel matched; {reason}") from error
    header, values = read_snapshot(bytes(row.data))
    if "matcher" in values:  # one that rules change
        header, values = read_snapshot(values["matcher"].tobytes())
    time = values["schema"].schema.field(header["reading"]["time"]).type
    places = {key: place for place, key in enumerate(bucket_keys(len(heads)))}
    rows = sorted((_bucket(places[head.bucket], head, time) for head in heads), key=itemgetter("bucket"))
    return Checkpoint(header["text"], heads[0].layout, pa.Table.from_pylist(rows, COLUMNS))


def _state(session: SparkSession, path: str | Path, name: str) -> DataFrame:
    return session.read.format("statestore").option("stateVarName", name).load(str(path))


def _bucket(place: int, head: Any, time: pa.DataType) -> dict[str, Any]:
    return {
        "bucket": place,
        "state_bytes": head.snapshot + head.size,
        "snapshot_bytes": head.snapshot,
        "batches_since": head.deltas,
        "open_runs": head.runs,
        "watermark": time_text(head.now if head.now > BEGINNING else None, time),
    }
