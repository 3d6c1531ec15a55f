"""Streams on Spark: rows a second beside an identity, what an empty micro-batch costs, how large the state is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

import ouzel as oz
from ouzel.bench.measure import Row
from ouzel.bench.sequences import Sequence
from ouzel.bench.spark_batch import COLUMNS, DOMAIN, IDENTITY, RELEVANT, identity
from ouzel.testing.papers import sase_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Matched = Callable[["DataFrame"], "DataFrame"]
FULL, EMPTY, WARM_UP = 20, 15, 5
SOAK = 200
# how many windows pass in a soak
WINDOWS = 20


def streams(events: int, times: int) -> Iterator[Row]:
    """Rows for full and empty micro-batches of an identity and of a sequence; for the state of a long stream."""
    session = oz.spark_session()
    sequence = Sequence(window=DOMAIN)
    contenders: dict[str, Matched] = {
        IDENTITY: identity,
        f"{IDENTITY}, 3 columns": lambda stream: identity(stream.select(*COLUMNS)),
        "Ouzel": lambda stream: oz.match(stream, sequence.query, watermark=0),
    }
    stream = sase_stream(events, DOMAIN, types=RELEVANT["all relevant"]).drop_columns(["attr5"])
    runs: dict[str, list[list[dict[str, Any]]]] = {series: [] for series in contenders}
    for _time in range(times):  # by turns: Java is slow at first, whoever begins
        for series, matched in contenders.items():
            runs[series].append(_batches(session, stream, FULL, EMPTY, matched))
    best = {series: min(some, key=_full_seconds) for series, some in runs.items()}
    for series, batches in best.items():
        full, empty = batches[WARM_UP:FULL], batches[FULL + WARM_UP :]
        seconds, floor = _full_seconds(batches), _full_seconds(best[IDENTITY])
        rows = sum(one["numInputRows"] for one in full)
        figures = {"first call": _seconds(batches[0]), "seconds": seconds, "events/s": rows / seconds}
        yield Row("stream", series, {**figures, "times faster": floor / seconds})
        yield Row("empty batches", series, {"seconds": median(map(_seconds, empty))})
    yield from _soak(session, events // 10)


def _full_seconds(batches: list[dict[str, Any]]) -> float:
    return sum(map(_seconds, batches[WARM_UP:FULL]))


def _soak(session: SparkSession, events: int) -> Iterator[Row]:
    """Many micro-batches, in which many windows pass: what a batch takes and what the state takes must stay."""
    window = max(events // WINDOWS, 1)
    sequence = Sequence(window=window)
    stream = sase_stream(events, window, types=RELEVANT["all relevant"]).select(COLUMNS)
    batches = _batches(session, stream, SOAK, 0, lambda one: oz.match(one, sequence.query, watermark=0))
    for end in (SOAK // 4, SOAK // 2, SOAK):
        last = batches[end - SOAK // 8 : end]
        state = median(_state_size(one) for one in last)
        yield Row(f"batch {end}", "Ouzel", {"seconds": median(map(_seconds, last)), "state MB": state / 1e6})


def _batches(
    session: SparkSession, stream: pa.Table, full: int, empty: int, matched: Matched
) -> list[dict[str, Any]]:
    """Give a stream to Spark, a file in each micro-batch, some empty ones behind; what it says of each."""
    with TemporaryDirectory(prefix="ouzel-bench-") as place:
        directory, checkpoint = Path(place) / "events", Path(place) / "checkpoint"
        directory.mkdir()
        size = -(-len(stream) // full)
        for number in range(full + empty):
            pq.write_table(stream.slice(number * size, size), directory / f"{number:04}.parquet")
        events = session.read.parquet(str(directory)).schema
        source = session.readStream.schema(events).option("maxFilesPerTrigger", 1).parquet(str(directory))
        writer = matched(source).writeStream.format("noop").option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        seen: dict[int, dict[str, Any]] = {}
        while query.isActive:
            query.awaitTermination(1)
            seen |= {one["batchId"]: one for one in map(_plain, query.recentProgress)}
        query.awaitTermination()
        seen |= {one["batchId"]: one for one in map(_plain, query.recentProgress)}
        return [seen[number] for number in sorted(seen)][: full + empty]


def _plain(progress: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(progress.json)
    return found


def _seconds(batch: dict[str, Any]) -> float:
    return float(batch["batchDuration"]) / 1_000


def _state_size(batch: dict[str, Any]) -> float:
    return float(batch["observedMetrics"][oz.SparkOptions().metrics]["state_bytes"])
