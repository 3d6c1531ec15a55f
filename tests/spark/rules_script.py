"""A stream of events and one of rules, in a process that is killed: it ends when it has seen all files.

python rules_script.py DIRECTORY
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import ouzel as oz
from ouzel.runtimes.spark.session import local_session
from rule_cases import SET
from spark_events import SCHEMA

RULES = "id string, least long, valid_from long, valid_to long"


def main(directory: Path) -> None:
    spark = local_session("local[2]", {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"})
    one = {"maxFilesPerTrigger": 1}
    events = oz.read_stream(directory / "events", SCHEMA, session=spark, **one)
    rules = oz.read_stream(directory / "rules", RULES, session=spark, **one)
    matches = oz.match(events, SET, rules=rules, watermark=10, spark=oz.SparkOptions(buckets=3))
    sink = directory / "sink.parquet"
    running = oz.write_stream(matches, sink, checkpoint=directory / "checkpoint", available_now=True)
    running.awaitTermination()
    found = [row.asDict() for row in spark.read.parquet(str(sink)).collect()]
    (directory / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
