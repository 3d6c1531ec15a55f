"""Runs in a process of its own: a partition larger than the memory that a worker and Java may have.

python memory_script.py BYTES

BYTES is what a task may hold of its events.  Prints the number of matches.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

import ouzel as oz
from ouzel.runtimes.spark.session import local_session

EVENTS = 4_000_000
# beyond what the worker has when it is warm; the events alone are more than that
SPARE = 120 << 20
QUERY = """PATTERN SEQ(A a, B b) WHERE [k] AND a.x = b.x AND a.x % 1000 = 0 WITHIN 10
    RETURN a.ts AS a, b.ts AS b"""


def limited(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Let the worker, which is used again, have little more memory than it has."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    data = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (data + SPARE, data + SPARE))
    yield from batches


def main() -> None:
    """Warm the only worker up, limit it, and match."""
    memory = int(sys.argv[1])
    settings = {"spark.driver.memory": "600m", "spark.sql.shuffle.partitions": "1"}
    spark = local_session("local[1]", settings)
    options = oz.SparkOptions(tasks=1, memory=memory)

    def matches(events: int) -> int:
        columns = ("id AS ts", "1L AS k", "if(id % 2 = 0, 'A', 'B') AS type", "id div 2 AS x")
        found = oz.match(spark.range(events).selectExpr(*columns), QUERY, spark=options)
        return int(found.count())

    matches(100_000)
    spark.range(1).mapInArrow(limited, "id long").collect()
    print("found", matches(EVENTS))


if __name__ == "__main__":
    main()
