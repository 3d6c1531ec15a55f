"""Small inputs become few tasks, also where the session would have 200; and every key stays in one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from ouzel.runtimes.spark.sizes import LARGE, SMALL, estimated_bytes, tasks_for
from spark_events import QUERIES, SCHEMA, expected, rows, stream

EVENTS = stream(5, 400, 300)
FEW = 8


@pytest.fixture(params=["true", "false"], ids=["adaptive", "not adaptive"])
def plain(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """A session as Spark has it by default, or without adaptive execution."""
    changed = {"spark.sql.shuffle.partitions": "200", "spark.sql.adaptive.enabled": str(request.param)}
    before = {name: str(spark.conf.get(name)) for name in changed}
    for name, value in changed.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def tasks_of(found: DataFrame) -> int:
    """How many tasks of the last stage match."""
    return int(found.rdd.getNumPartitions())


@pytest.mark.parametrize("source", ["files", "rows of files", "local rows"])
def test_few_events_are_few_tasks(plain: SparkSession, tmp_path: Path, source: str) -> None:
    local = plain.createDataFrame([tuple(event.values()) for event in EVENTS], SCHEMA)
    events: Any = local
    if source != "local rows":
        local.coalesce(1).write.parquet(str(tmp_path / "events"))
        events = plain.read.parquet(str(tmp_path / "events"))
    if source == "rows of files":
        events = events.where("ts >= 0")
    is_guessed = source == "local rows" and plain.conf.get("spark.sql.adaptive.enabled") == "false"
    found = oz.match(events, QUERIES["keyed"])
    assert tasks_of(found) <= (200 if is_guessed else FEW)
    assert rows(found) == expected(EVENTS, QUERIES["keyed"])
    assert tasks_of(oz.match(events, QUERIES["keyed"], spark=oz.SparkOptions(tasks=5))) == 5


def test_few_slices_are_few_tasks(plain: SparkSession) -> None:
    events = plain.createDataFrame([tuple(event.values()) for event in EVENTS], SCHEMA)
    found = oz.match(events, QUERIES["slices"])
    assert tasks_of(found) <= FEW
    assert rows(found) == expected(EVENTS, QUERIES["slices"])


def test_tasks_by_size(plain: SparkSession) -> None:
    cores = plain.sparkContext.defaultParallelism
    assert cores > 1
    assert tasks_for(0, plain) == tasks_for(SMALL, plain) == 1
    assert tasks_for(cores * SMALL, plain) == tasks_for(cores * LARGE, plain) == cores
    assert tasks_for(cores * LARGE + 1, plain) == cores + 1
    assert tasks_for(2**50, plain) == tasks_for(None, plain) == 200


def test_what_spark_knows_of_sizes(spark: SparkSession) -> None:
    assert estimated_bytes(spark.range(1000)) == 8000
    assert estimated_bytes(spark.createDataFrame([(1,)], "n long")) is None
