"""A driver for a cluster, as a user would write it: run as a script, so that no worker can import it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import ouzel as oz
from ouzel.runtimes.spark.session import local_session
from ouzel.testing.clusters import QUICK_SETTINGS

# Both executors are there before the first task starts; what tasks return to the driver is not much.
SETTINGS = {
    **QUICK_SETTINGS,
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.driver.maxResultSize": "2m",
    "spark.sql.shuffle.partitions": "4",
}


def streamed(spark: SparkSession, directory: Path, schema: str, queries: dict[str, str]) -> dict[str, Any]:
    """The matches of each query in files, one a micro-batch; the stream stops and begins again in between."""
    first, second = sorted((directory / "waiting").iterdir())
    (directory / "source").mkdir()
    sink = directory / "sink.parquet"
    text = "\n".join(f"QUERY q{number} {query}" for number, query in enumerate(queries.values()))
    for file in (first, second):
        file.rename(directory / "source" / file.name)
        matches = oz.match(oz.read_stream(directory / "source", schema), text, spark=oz.SparkOptions(buckets=4))
        running = oz.write_stream(matches, sink, checkpoint=directory / "checkpoint", available_now=True)
        assert running.awaitTermination(120)
    found = [row.asDict(recursive=True) for row in spark.read.parquet(str(sink)).collect()]
    return {
        f"{name} in streams": [row[f"q{number}"] for row in found if row["query"] == f"q{number}"]
        for number, name in enumerate(queries)
    }


def daemons(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """How many rows came to which of the executors, each of which has a daemon for its workers."""
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows], "daemon": [os.getppid()]})


def main(master: str, directory: Path) -> None:
    """Match what `work.json` says; the rows of each query go to `found.json`."""
    work = json.loads((directory / "work.json").read_text(encoding="utf-8"))
    spark = local_session(master, SETTINGS)
    oz.register_function("twice", lambda x: 2 * x, returns="integer")
    rows = spark.createDataFrame([tuple(event.values()) for event in work["events"]], work["schema"])
    rows.repartition(3).write.parquet(str(directory / "events"))
    files = spark.read.parquet(str(directory / "events"))
    counted = spark.range(0, 1000, 1, 4).mapInArrow(daemons, "rows long, daemon long").collect()
    found: dict[str, Any] = {"counted": sum(row.rows for row in counted)}
    found["executors"] = len({row.daemon for row in counted})
    for name, query in work["queries"].items():
        for source, events in (("rows", rows), ("files", files)):
            if name in work[source]:
                matches = oz.match(events, query).collect()
                found[f"{name} in {source}"] = [row.asDict(recursive=True) for row in matches]
    # More than the driver would take: executors read it, match it and write it.
    many = spark.range(400_000).selectExpr("id AS ts", "IF(id % 2 = 0, 'A', 'B') AS type", "id DIV 2 AS k")
    matches = oz.match(many, "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 RETURN a.ts AS a, b.ts AS b, a.k AS k")
    matches.write.parquet(str(directory / "many"))
    found |= streamed(spark, directory, work["schema"], {name: work["queries"][name] for name in work["streams"]})
    (directory / "found.json").write_text(json.dumps(found), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
