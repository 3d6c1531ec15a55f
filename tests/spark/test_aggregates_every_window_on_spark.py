"""OUTPUT AGGREGATE EVERY on Spark: a window's row comes once, however events are spread, cut and begun again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import ouzel as oz
from ouzel.runtimes.spark import time_slices
from spark_events import SCHEMA, Events, expected, rows, stream
from spark_feeds import END, Feed, in_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ITEMS = "RETURN count(*) AS n, sum(a.x) AS x, min(b.y) AS low, max(b.ts) AS last OUTPUT AGGREGATE EVERY 7"
QUERIES = {
    "keyed": f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 {ITEMS}",
    "closure": f"PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match {{ [k] }} WITHIN 9 {ITEMS}",
    "refuted at the end": f"PATTERN SEQ(A a, B b, !(C c)) WHERE [k] AND c.x = 1 WITHIN 15 {ITEMS}",
    "slices": f"PATTERN SEQ(A a, B b) WHERE a.x = b.y WITHIN 6 {ITEMS}",
    "slices refuted before": f"PATTERN SEQ(!(C c), A a, B b) WHERE a.x = b.y AND c.x = 2 WITHIN 8 {ITEMS}",
    "slices refuted after": f"PATTERN SEQ(A a, B b, !(C c)) WHERE a.x = b.y AND c.x = 2 WITHIN 8 {ITEMS}",
    "one task": f"PATTERN SEQ(A a, B b) WHERE a.x = 1 AND b.y = 2 {ITEMS}",
}


@pytest.fixture
def events() -> Events:
    return [{**event, "ts": event["ts"] - 150} for event in stream(5, 600, 300)]


@pytest.fixture
def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


@pytest.mark.parametrize("name", QUERIES)
def test_batches(frame: DataFrame, events: Events, name: str) -> None:
    wanted = expected(events, QUERIES[name])
    assert len(wanted) > 10
    for tasks in (1, 4):
        assert rows(oz.match(frame, QUERIES[name], spark=oz.SparkOptions(tasks=tasks))) == wanted


def test_slices_are_more_than_one(frame: DataFrame, events: Events, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_slices, "WINDOWS_PER_SLICE", 1)
    for name in ("slices", "slices refuted before", "slices refuted after"):
        found = oz.match(frame, QUERIES[name], spark=oz.SparkOptions(tasks=9))
        assert found.rdd.getNumPartitions() > 4
        assert rows(found) == expected(events, QUERIES[name])


def test_what_is_more_than_fits(frame: DataFrame, events: Events) -> None:
    for name in ("keyed", "one task"):
        found = oz.match(frame, QUERIES[name], spark=oz.SparkOptions(tasks=2, memory=2_000))
        assert rows(found) == expected(events, QUERIES[name])
    plain = QUERIES["keyed"].replace(" EVERY 7", "")
    assert rows(oz.match(frame, plain, spark=oz.SparkOptions(tasks=2, memory=2_000))) == expected(events, plain)


def test_times_of_spark(spark: SparkSession) -> None:
    begin = datetime(2026, 3, 1, 9, 50, tzinfo=UTC)
    table = [(begin + timedelta(minutes=n), "AB"[n % 2]) for n in range(30)]
    frame = spark.createDataFrame(table, "ts timestamp, type string")
    query = "PATTERN SEQ(A a, B b) WITHIN 2 minutes RETURN count(*) AS n OUTPUT AGGREGATE EVERY 10 minutes"
    found: Any = oz.match(frame, query, spark=oz.SparkOptions(tasks=3))
    assert [field.dataType.typeName() for field in found.schema] == ["timestamp", "timestamp", "double"]
    told = found.selectExpr("unix_seconds(window_start) AS s", "unix_seconds(window_end) AS e", "n").orderBy("s")
    first = int(begin.timestamp())
    assert [tuple(row) for row in told.collect()] == [(first + s, first + s + 600, 5) for s in (0, 600, 1200)]


@pytest.mark.parametrize("name", ["keyed", "refuted at the end", "slices"])
def test_a_stream_begun_again_after_every_micro_batch(feed: Feed, events: Events, name: str) -> None:
    for part in [*in_batches(events, 160, 200, disorder=20), [END]]:
        feed.add(part)
        assert feed.run(QUERIES[name], watermark=20)["late"] == 0
    assert rows(feed.found()) == expected(events, QUERIES[name])


def test_a_stream_reports_a_window_once_time_has_passed_it(feed: Feed) -> None:
    query = "PATTERN A a WHERE [k] RETURN count(*) AS n OUTPUT AGGREGATE EVERY 10"
    event = {"eid": "e", "ts": 3, "type": "A", "k": 1, "x": None, "y": None}
    feed.add([event, {**event, "ts": 19}])
    assert feed.run(query, watermark=10)["matches"] == 0
    # another key lets time pass for all
    feed.add([{**event, "ts": 20, "k": 2}])
    assert feed.run(query, watermark=10)["matches"] == 1
    assert rows(feed.found()) == ['{"window_start": 0, "window_end": 10, "k": 1, "n": 1.0}']
