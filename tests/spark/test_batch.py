"""Batch on Spark finds what the reference finds: by partitions, by slices of time, in one task, spilled."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from spark_events import QUERIES, SCHEMA, Events, expected, rows, stream


def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


@pytest.mark.parametrize("name", QUERIES)
def test_batch_finds_what_the_reference_finds(spark: SparkSession, name: str) -> None:
    events = stream(7, 240, 400)
    found = rows(oz.match(frame(spark, events), QUERIES[name]))
    assert found
    assert found == expected(events, QUERIES[name])


@pytest.mark.parametrize("name", ["keyed", "closure", "refuted at the end", "apart"])
def test_more_events_than_memory(spark: SparkSession, name: str) -> None:
    events = stream(8, 240, 400)
    options = oz.SparkOptions(tasks=1, memory=2_000)
    assert rows(oz.match(frame(spark, events), QUERIES[name], spark=options)) == expected(events, QUERIES[name])


def test_several_queries(spark: SparkSession) -> None:
    events = stream(9, 100, 100)
    text = f"QUERY one {QUERIES['keyed']}\nQUERY two {QUERIES['slices']}"
    found = oz.match(frame(spark, events), text)
    assert rows(found["one"]) == expected(events, QUERIES["keyed"])
    assert rows(found["two"]) == expected(events, QUERIES["slices"])


def test_composite_events(spark: SparkSession) -> None:
    events = stream(10, 100, 100)
    text = """QUERY pairs PATTERN SEQ(A a, B b) WHERE a.x < b.x WITHIN 5 RETURN a.eid AS a, b.eid AS b INTO Pair
        QUERY whole PATTERN SEQ(Pair p, C last) WITHIN 9 RETURN p.a AS a, p.b AS b, last.eid AS last"""
    found = oz.match(frame(spark, events), text)
    types = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
    reference = oz.match(events, text, engine="reference", types=types)
    for name in ("pairs", "whole"):
        assert rows(found[name]) == sorted(map(json.dumps, reference[name]))


def test_times_and_whole_events(spark: SparkSession) -> None:
    rows_in = [("2026-03-01 10:00:00", "A", 1), ("2026-03-01 10:00:05", "B", 1), ("2026-03-01 11:00:00", "B", 1)]
    events = spark.createDataFrame(rows_in, "ts string, type string, k int").selectExpr(
        "cast(ts AS timestamp) AS ts", "type", "k", "cast(ts AS timestamp_ntz) AS local"
    )
    found = oz.match(events, "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 1 minute").collect()
    assert len(found) == 1
    assert found[0]["start"] == found[0]["a"]["ts"]
    assert found[0]["b"]["local"].isoformat() == "2026-03-01T10:00:05"
    by_local = oz.match(
        events, "PATTERN SEQ(A a, B b) WITHIN 1 minute RETURN b.local - a.local AS after", time="local"
    )
    assert [row["after"].total_seconds() for row in by_local.collect()] == [5.0]


def test_a_hot_key_is_matched_in_one_task(spark: SparkSession) -> None:
    """Keys as Zipf has them: most events are of one key."""
    chance = random.Random(3)
    events = stream(11, 400, 4_000)
    for event in events:
        event["k"] = min(int(chance.paretovariate(1.0)), 50)
    assert rows(oz.match(frame(spark, events), QUERIES["keyed"])) == expected(events, QUERIES["keyed"])


def test_only_what_is_needed_crosses_to_python(spark: SparkSession, tmp_path: Any) -> None:
    path = str(tmp_path / "events")
    frame(spark, stream(12, 50, 100)).write.parquet(path)
    options = oz.SparkOptions(reads_files=False)
    found = oz.match(spark.read.parquet(path), QUERIES["pushed down"], spark=options)
    plan = found._jdf.queryExecution().executedPlan().toString()
    read = next(line for line in plan.splitlines() if "FileScan parquet" in line)
    assert "ReadSchema: struct<eid:string,ts:bigint,type:string,k:bigint,x:bigint,y:bigint>" in read
    assert "In(type, [A])" in plan or "EqualTo(type,A)" in plan
    assert "EqualTo(x,1)" in plan


def test_no_events(spark: SparkSession) -> None:
    none = spark.createDataFrame([], SCHEMA)
    for name in ("keyed", "slices", "one task"):
        found = oz.match(none, QUERIES[name])
        assert found.columns[0] == "a"
        assert found.count() == 0


TOTALS = "WITHIN 9 RETURN count(*) AS n, max(b.x) AS x OUTPUT AGGREGATE"
NOTHING = {
    "no keys": f"PATTERN SEQ(A a, B b) {TOTALS}",
    "keys": f"PATTERN SEQ(A a, B b) WHERE [k] {TOTALS}",
    "windows": f"PATTERN SEQ(A a, B b) {TOTALS} EVERY 5",
}


@pytest.mark.parametrize("name", NOTHING)
def test_totals_of_nothing(spark: SparkSession, name: str) -> None:
    """Without keys it is a row of zeros, as in this process: of no events, and of none that is wanted."""
    unwanted = [{"eid": "e", "ts": 1, "type": "D", "k": 1, "x": 1, "y": 1}]
    none = spark.createDataFrame([], SCHEMA)
    for events, table in (
        ([], none),
        (unwanted, frame(spark, unwanted)),
        ([], none.where("x > 1").repartition(2)),
    ):
        assert rows(oz.match(table, NOTHING[name])) == expected(events, NOTHING[name])
    assert bool(expected([], NOTHING[name])) == (name == "no keys")


def test_errors_are_those_of_match(spark: SparkSession) -> None:
    events = frame(spark, stream(1, 3, 5))
    with pytest.raises(oz.QueryError, match="unknown attribute 'z'"):
        oz.match(events, "PATTERN SEQ(A a, B b) WHERE a.z = 1")
    with pytest.raises(oz.OuzelError, match="mode='compressed' is not to be had on Spark"):
        oz.match(events, QUERIES["keyed"], mode="compressed")
    with pytest.raises(oz.OuzelError, match="tasks: required a whole number of at least 0; got -1"):
        oz.SparkOptions(tasks=-1)


@pytest.mark.parametrize("name", ["keyed", "two keys", "closure", "contiguous", "pushed down", "totals"])
def test_workers_read_plain_files(spark: SparkSession, tmp_path: Any, name: str) -> None:
    events = stream(13, 240, 400)
    path = str(tmp_path / "events")
    frame(spark, events).write.parquet(path)
    table = spark.read.parquet(path)
    fast = oz.match(table, QUERIES[name], spark=oz.SparkOptions(tasks=3))
    slow = oz.match(table, QUERIES[name], spark=oz.SparkOptions(tasks=3, reads_files=False))
    assert rows(fast) == rows(slow) == expected(events, QUERIES[name])
    assert "FileScan" not in fast._jdf.queryExecution().executedPlan().toString()
    assert "FileScan" in slow._jdf.queryExecution().executedPlan().toString()


def test_files_that_are_more_than_files_are_read_by_spark(spark: SparkSession, tmp_path: Any) -> None:
    """Directories that are columns, rows that were filtered, and files whose columns differ."""
    events = stream(14, 60, 60)
    query = QUERIES["keyed"]
    by_key, two = str(tmp_path / "by_key"), tmp_path / "two"
    frame(spark, events).where("k IS NOT NULL").write.partitionBy("k").parquet(by_key)
    frame(spark, events[:30]).coalesce(1).write.parquet(str(two / "a=1"))
    frame(spark, events[30:]).drop("y").coalesce(1).write.parquet(str(two / "a=2"))
    evolved = spark.read.option("recursiveFileLookup", "true").option("mergeSchema", "true").parquet(str(two))
    for table in (spark.read.parquet(by_key), spark.read.parquet(by_key).where("x >= 0"), evolved):
        found = oz.match(table, query.replace("a.x <= b.x", "a.y <= b.y") if table is evolved else query)
        assert "FileScan" in found._jdf.queryExecution().executedPlan().toString()
    with_key = [event for event in events if event["k"] is not None]
    assert rows(oz.match(spark.read.parquet(by_key), query)) == expected(with_key, query)


def test_rows_have_no_order_on_spark(spark: SparkSession) -> None:
    events = frame(spark, stream(9, 10, 10))
    for order in ("arrival", ["ts", "arrival"]):
        with pytest.raises(oz.OuzelError, match="'arrival' is not to be had on Spark, where rows have no order"):
            oz.match(events, QUERIES["keyed"], order=order)
