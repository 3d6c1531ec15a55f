"""`explain` says how Spark runs a query: how events are spread, who reads them, and what crosses to Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ouzel as oz
from ouzel.runtimes.spark.columns import arrow_schema
from spark_events import SCHEMA, stream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEYED = "PATTERN SEQ(A a, B b) WHERE [k] AND a.x = 1 WITHIN 5 RETURN a.ts AS p"


def explained(events: Any, text: str, **options: Any) -> list[str]:
    """The lines of the section `spark`."""
    lines = oz.query(text).explain(events, spark=oz.SparkOptions(**options)).splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("  spark "))
    after = next(n for n, line in enumerate(lines[begin + 1 :], begin + 1) if not line.startswith(" " * 14))
    return [line[14:] for line in lines[begin:after]]


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Any:
    path = str(tmp_path / "events")
    rows = [tuple(event.values()) for event in stream(1, 9, 9)]
    spark.createDataFrame(rows, SCHEMA).coalesce(1).write.parquet(path)
    return spark.read.parquet(path)


def test_files_that_workers_read(table: Any) -> None:
    assert explained(table, KEYED, tasks=3) == [
        "3 tasks by k; workers read the Parquet files themselves, 1 of them",
        "columns: ts, type, k, x",
        "events that some component may want, by types, a.x = 1",
    ]


def test_rows_that_spark_reads(table: Any) -> None:
    assert explained(table.where("x > 0"), KEYED, tasks=3)[0] == "3 tasks by k; Spark reads the events"
    assert explained(table, KEYED, tasks=3, reads_files=False)[0] == "3 tasks by k; Spark reads the events"


@pytest.mark.parametrize(
    ("text", "spread"),
    [
        ("PATTERN SEQ(A a, B b) WITHIN 5", "by slices of time that overlap by the window"),
        ("PATTERN SEQ(A a, B b)", "one task: without WITHIN a match may be as long as the stream"),
        ("PATTERN SEQ(A a, B b) WITHIN 5 EVENTS", "one task: a window that counts events begins anywhere"),
        ("PATTERN SEQ(A a, B b) WITHIN 5 OUTPUT NON_OVERLAP", "one task: NON_OVERLAP chooses from all matches"),
        ("PATTERN SEQ(A a, B b) WITHIN 5 RETURN count(*) AS n OUTPUT AGGREGATE", "one task: aggregates are over"),
        (
            "PATTERN SEQ(A a, B b) WITHIN 5 RETURN count(*) AS n OUTPUT AGGREGATE EVERY 3",
            "by slices of time that overlap by the window",
        ),
        (
            "PATTERN SEQ(A a, B b) WITHIN 5 RETURN a.ts AS p INTO C2",
            "by slices of time that overlap by the window",
        ),
    ],
)
def test_what_has_no_keys(table: Any, text: str, spread: str) -> None:
    assert explained(table, text)[0].startswith(spread)


def test_slices_of_aggregates(table: Any) -> None:
    text = "PATTERN SEQ(A a, B b) WITHIN 5 RETURN count(*) AS n OUTPUT AGGREGATE EVERY 3"
    assert "a match belongs to the one in which it ends" in " ".join(" ".join(explained(table, text)).split())


def test_what_minds_all_events(table: Any) -> None:
    text = "PATTERN SEQ(A a, B b) WHERE partition_contiguity { [k] } WITHIN 5"
    assert explained(table, text)[-1] == "all events: those that no component wants matter too"


def test_streams(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.readStream.schema(SCHEMA).json(str(tmp_path))
    keyed = explained(events, KEYED, buckets=5)
    assert keyed[0] == "a stream, in 5 buckets by k, each with a matcher in Spark's state"
    without = explained(events, "PATTERN SEQ(A a, B b) WITHIN 5")
    assert without[0] == "a stream, in one bucket: no keys keep the events of all queries apart"


def test_corrections(spark: SparkSession, table: Any, tmp_path: Path) -> None:
    query, path = oz.query(KEYED), str(tmp_path / "changed")
    table.selectExpr("*", "1 AS op").write.parquet(path)
    arriving = spark.readStream.schema(spark.read.parquet(path).schema).parquet(path)

    def words(events: Any, **options: Any) -> str:
        said = query.explain(events, spark=oz.SparkOptions(buckets=4), **options)
        return " ".join(said.partition("corrections")[2].split())

    assert words(arriving) == ""
    way = "partitions, a window around them, are matched again"
    matcher = oz.matcher(query, arrow_schema(arriving), speculation="inf", op="op", time_unit="ms")
    said = " ".join(matcher.explain().partition("corrections")[2].split())
    assert words(arriving, speculation="inf", op="op").startswith(said)
    assert way in said
    assert "withdraw events" not in words(arriving, speculation="5 seconds")
    assert "5,000 ticks after the punctuation" in words(arriving, speculation="5 seconds", time_unit="ms")
    assert "none is withdrawn" in words(arriving, op="op")
    spread = query.explain(arriving, op="op", identity=["eid"])
    assert "a stream, in one bucket" in spread
    assert "all events: a row that withdraws an event must find it" in spread
    assert "what is left is matched" in words(spark.read.parquet(path), op="op")
    with pytest.raises(oz.OuzelError, match="is not to be had where all events are there"):
        query.explain(table, speculation="inf")
