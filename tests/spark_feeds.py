"""Streams of files for tests: one file for each micro-batch, and a sink of files."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from spark_events import SCHEMA, Events

# Long after everything else, and of no interest to most queries: it makes all matches final.
END = {"eid": "end", "ts": 1_000_000, "type": "D", "k": 9, "x": None, "y": None}
BUCKETS = oz.SparkOptions(buckets=3)


class Feed:
    """A stream of files, one for each micro-batch, and a sink of files."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self.spark = spark
        self.schema = SCHEMA
        self.source, self.sink, self.checkpoint = (directory / name for name in ("source", "sink", "checkpoint"))
        self.source.mkdir()
        self.count = 0
        self.metrics: list[dict[str, int]] = []

    def add(self, *batches: Events) -> None:
        for events in batches:
            path = self.source / f"{self.count:04}.json"
            path.write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
            os.utime(path, (1_000_000_000 + self.count,) * 2)  # by which Spark orders files
            self.count += 1

    def read(self) -> DataFrame:
        return self.spark.readStream.schema(self.schema).option("maxFilesPerTrigger", 1).json(str(self.source))

    def run(self, query: Any, options: oz.SparkOptions = BUCKETS, **others: Any) -> dict[str, int]:
        """Match all that has been added since; the numbers that the query's progress tells."""
        found = oz.match(self.read(), query, spark=options, **others)
        writer = found.writeStream.format("parquet").option("checkpointLocation", str(self.checkpoint))
        running = writer.trigger(availableNow=True).start(str(self.sink))
        try:
            assert running.awaitTermination(120)
        finally:
            running.stop()
        seen = [progress["observedMetrics"].get("ouzel") for progress in running.recentProgress]
        self.metrics = [row.asDict() for row in seen if row]
        names = ("matches", "late", "malformed")
        return {name: sum(row[name] for row in self.metrics) for name in names}

    def found(self) -> DataFrame:
        return self.spark.read.parquet(str(self.sink))


def in_batches(events: Events, *sizes: int, disorder: int = 0, seed: int = 0) -> list[Events]:
    """The events in order of time, each up to `disorder` later than that, cut into batches."""
    chance = random.Random(seed)
    ordered, parts = sorted(events, key=lambda event: event["ts"] + chance.randint(0, disorder)), []
    for size in sizes:
        parts.append(ordered[:size])
        ordered = ordered[size:]
    return [*parts, ordered]
