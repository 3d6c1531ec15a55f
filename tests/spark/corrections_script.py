"""A stream of corrected events, reported before they are final, in a process that is killed.

python corrections_script.py DIRECTORY
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ouzel as oz
from correction_cases import BETWEEN
from ouzel.runtimes.spark.session import local_session
from spark_events import SCHEMA


def main(directory: Path) -> None:
    spark = local_session("local[2]", {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"})
    events = oz.read_stream(directory / "events", f"{SCHEMA}, op int", session=spark, maxFilesPerTrigger=1)
    how = oz.SparkOptions(buckets=3)
    changes = oz.match(events, BETWEEN, op="op", speculation="inf", watermark=10, spark=how)
    sink = directory / "sink.parquet"
    running = oz.write_stream(changes, sink, checkpoint=directory / "checkpoint", available_now=True)
    running.awaitTermination()
    found = [row.asDict() for row in spark.read.parquet(str(sink)).collect()]
    (directory / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
