"""A driver for a cluster, as a user would write it: run as a script, so that no worker can import it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

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


def streamed(spark: SparkSession, directory: Path, schema: str, query: str) -> list[dict[str, Any]]:
    """The matches in the files of `source`, one in a micro-batch; the stream stops and begins again in between."""
    first, second = sorted((directory / "waiting").iterdir())
    (directory / "source").mkdir()
    sink = directory / "sink.parquet"
    for file in (first, second):
        file.rename(directory / "source" / file.name)
        matches = oz.match(oz.read_stream(directory / "source", schema), query, spark=oz.SparkOptions(buckets=4))
        running = oz.write_stream(matches, sink, checkpoint=directory / "checkpoint", available_now=True)
        assert running.awaitTermination(120)
    return [row.asDict(recursive=True) for row in spark.read.parquet(str(sink)).collect()]


def main(master: str, directory: Path) -> None:
    """Match what `work.json` says; the rows of each query go to `found.json`."""
    work = json.loads((directory / "work.json").read_text(encoding="utf-8"))
    spark = local_session(master, SETTINGS)
    oz.register_function("twice", lambda x: 2 * x, returns="integer")
    rows = spark.createDataFrame([tuple(event.values()) for event in work["events"]], work["schema"])
    rows.repartition(3).write.parquet(str(directory / "events"))
    files = spark.read.parquet(str(directory / "events"))
    found = {}
    for name, query in work["queries"].items():
        for source, events in (("rows", rows), ("files", files)):
            if name in work[source]:
                matches = oz.match(events, query).collect()
                found[f"{name} in {source}"] = [row.asDict(recursive=True) for row in matches]
    # More than the driver would take: executors read it, match it and write it.
    many = spark.range(400_000).selectExpr("id AS ts", "IF(id % 2 = 0, 'A', 'B') AS type", "id DIV 2 AS k")
    matches = oz.match(many, "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 5 RETURN a.ts AS a, b.ts AS b, a.k AS k")
    matches.write.parquet(str(directory / "many"))
    for name in work["streams"]:
        found[f"{name} in streams"] = streamed(spark, directory / name, work["schema"], work["queries"][name])
    (directory / "found.json").write_text(json.dumps(found), encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
