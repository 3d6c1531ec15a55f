"""What is seen of Spark at work: tasks of its stages, and errors that came from Ouzel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import ouzel as oz
from ouzel.cli.commands import app
from ouzel.runtimes.spark.watching import own_error, own_errors, watched_tasks


def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    time.sleep(0.4)
    yield from batches


def watched(session: SparkSession) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    rows = session.range(0, 100, 1, 6)
    with watched_tasks(session, lambda done, total: told.append((done, total))):
        assert len(rows.mapInArrow(slow, "id long").collect()) == 100
    return told


def test_tasks_of_stages_are_told(spark: SparkSession) -> None:
    told = watched(spark)
    assert {total for _done, total in told} == {6}
    done = [one for one, _total in told]
    assert done == sorted(done)
    assert done[0] < done[-1]


def test_tasks_are_told_over_connect(connect: SparkSession) -> None:
    told = watched(connect)
    assert (0, 6) in told or any(0 < done < 6 for done, _total in told)


def test_an_error_in_a_worker_is_raised_as_it_was(spark: SparkSession) -> None:
    events = spark.createDataFrame([(None, "A")], "ts long, type string")
    found = oz.match(events, "PATTERN SEQ(A a, B b) WITHIN 5")
    with pytest.raises(oz.DataError, match="the event has no time\n  hint: mend the data") as caught, own_errors():
        found.collect()
    assert "SQLSTATE" not in str(caught.value)
    assert "File" not in str(caught.value)


def test_what_spark_refuses_is_our_error(spark: SparkSession, tmp_path: Path) -> None:
    arguments = ["run", "PATTERN SEQ(A a, B b)", "--events", "no.such_table", "--runtime", "spark"]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, oz.OuzelError)
    assert str(result.exception).startswith("Spark: [TABLE_OR_VIEW_NOT_FOUND]")
    assert str(own_error("")).splitlines()[0] == "Spark: an error without a text"
    told = own_error("An error occurred while calling o1.save.\n: java.io.IOException: no such place\n\tat java")
    assert str(told).splitlines()[0] == "Spark: java.io.IOException: no such place"
