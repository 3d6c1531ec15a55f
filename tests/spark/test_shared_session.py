"""What the Spark runtime stands on works here: Arrow batches to Python and back, and state in RocksDB."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ouzel.runtimes.spark.session import active_session, local_session


class Counter(StatefulProcessor):
    """How many rows a key had so far."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.count = handle.getValueState("count", "n long")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: ARG002, N802, N803
        before = self.count.get()
        total = sum(len(batch) for batch in rows) + (before[0] if before else 0)
        self.count.update((total,))
        yield pd.DataFrame({"key": [key[0]], "n": [total]})

    def close(self) -> None:
        pass


def same_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def worker_of(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable]})


def test_the_shared_session_is_the_active_one(spark: SparkSession) -> None:
    assert active_session() is spark
    assert local_session() is spark
    assert local_session("local[2]") is spark


def test_arrow_batches_go_to_python_and_back(spark: SparkSession) -> None:
    rows = spark.range(1000).selectExpr("id", "id * 0.5 AS half", "'s' || id AS name")
    assert rows.mapInArrow(same_batches, rows.schema).sort("id").collect() == rows.collect()


def test_workers_run_this_python(spark: SparkSession) -> None:
    [row] = spark.range(1).mapInArrow(worker_of, "python string").collect()
    assert row.python == sys.executable


def test_the_settings_are_ours(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.execution.arrow.pyspark.enabled") == "true"
    assert spark.sparkContext.uiWebUrl is None
    assert spark.sparkContext.getConf().get("spark.driver.host") == "127.0.0.1"


def test_the_environment_is_left_as_it_was(spark: SparkSession) -> None:
    assert "ouzel-java" not in os.environ.get("JAVA_HOME", "")
    assert "SPARK_LOCAL_IP" not in os.environ


def test_state_is_kept_between_batches(spark: SparkSession, tmp_path: Path) -> None:
    source, schema = tmp_path / "source", "key long, x long"
    counts = []

    def collect(frame: Any, _: int) -> None:
        counts.append({row.key: row.n for row in frame.collect()})

    for number in range(2):  # the second query goes on from the first one's checkpoint
        spark.range(10).selectExpr("id % 2 AS key", f"{number} AS x").write.mode("append").parquet(str(source))
        counted = (
            spark.readStream.schema(schema)
            .parquet(str(source))
            .groupBy("key")
            .transformWithStateInPandas(Counter(), "key long, n long", "Update", "None")
        )
        writer = counted.writeStream.outputMode("update").foreachBatch(collect)
        query = (
            writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
        )
        assert query.awaitTermination(120)
    assert counts == [{0: 5, 1: 5}, {0: 10, 1: 10}]
