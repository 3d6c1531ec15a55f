"""Real servers on loopback: a standalone cluster, Spark Connect and Kafka."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.session import active_session, local_session

BY_CONNECT = """
import sys
from ouzel.runtimes.spark.session import local_session

print(local_session(sys.argv[1]).range(10).count())
"""


def same_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def test_arrow_batches_go_through_connect(connect: SparkSession) -> None:
    assert active_session() is connect
    rows = connect.range(1000).selectExpr("id", "'s' || id AS name")
    assert rows.mapInArrow(same_batches, rows.schema).sort("id").collect() == rows.collect()


def test_with_connect_no_other_session_is_started(connect: SparkSession, connect_url: str) -> None:
    assert local_session() is connect
    assert local_session(connect_url) is connect
    with pytest.raises(
        OuzelError, match=r"^cannot start a Spark session at 'local\[2\]': there is one at 'sc://'"
    ):
        local_session("local[2]")


def test_connect_needs_no_java(connect_url: str) -> None:
    without = {**os.environ, "JAVA_HOME": "/no/such/place", "PATH": "/no/such/place"}
    command = [sys.executable, "-c", BY_CONNECT, connect_url]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=without)
    assert (ran.stdout, ran.stderr) == ("10\n", "")


def test_the_shared_session_is_back_after_connect(connect_url: str, spark: SparkSession) -> None:
    assert active_session() is spark
    assert spark.range(3).count() == 3


def test_messages_go_through_kafka(spark: SparkSession, kafka: str) -> None:
    broker = {"kafka.bootstrap.servers": kafka}
    sent = [{"id": number, "name": f"n{number}"} for number in range(10)]
    messages = spark.range(10).selectExpr("to_json(struct(id, 'n' || id AS name)) AS value")
    messages.write.format("kafka").options(**broker).option("topic", "smoke").save()
    received = spark.read.format("kafka").options(**broker).option("subscribe", "smoke").load()
    values = [json.loads(row.value) for row in received.selectExpr("CAST(value AS STRING) AS value").collect()]
    assert sorted(values, key=lambda message: message["id"]) == sent
