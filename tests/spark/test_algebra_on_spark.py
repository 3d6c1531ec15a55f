"""Expressions of the algebra on Spark: in batches and streams, alone and in lists, what the interpreter gives."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from spark_events import EVENT_TYPES, SCHEMA, Events, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches

A, B, C = (oz.stream(name) for name in "ABC")
LEFT, RIGHT = A.select("eid", "x").prefixed("a"), B.select("eid", "x").prefixed("b")
RISE = A.select("k", "x").extend(low="x", n="1")
EXPRESSIONS = {
    "next": LEFT.next(RIGHT, where="a.x = b.x"),
    "fold": RISE.fold(
        A.select("k", "x"),
        where="k = k.last",
        step=lambda s: s.extend(n="n.last + 1").where("x >= x.last AND duration() < 40"),
    ).where("n > 2"),
    "all events": oz.stream().where("x = 1 AND y = 2").select("eid", "k"),
    "nested": LEFT.next(RIGHT.next(C.select("x").prefixed("c"), where="b.x < c.x"), where="a.x < c.x"),
    "parameters": A.where("x >= $least").select("eid", "x"),
}
PARAMS = {"parameters": {"least": 2}}
TEXT = "QUERY text PATTERN SEQ(T t, C c) WITHIN 50 RETURN t.x AS x, c.eid AS c"


def frame(spark: SparkSession, events: Events, schema: str = SCHEMA) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], schema).repartition(3)


def expected(events: Events, query: Any, **options: Any) -> Any:
    return oz.match(events, query, types=EVENT_TYPES, **options)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_batch(spark: SparkSession, name: str) -> None:
    events, params = stream(3, 120, 200), PARAMS.get(name)
    found = rows(oz.match(frame(spark, events), EXPRESSIONS[name], params=params))
    assert found
    assert found == rows_of(expected(events, EXPRESSIONS[name], params=params))


def test_a_list_with_texts_that_are_connected(spark: SparkSession) -> None:
    events = stream(4, 80, 120)
    both = [TEXT, A.select("x").next(B.select("y")).into("T")]
    found, reference = oz.match(frame(spark, events), both), expected(events, both)
    assert list(found) == ["text", "query2"]
    for name, table in found.items():
        assert rows(table) == rows_of(reference[name])
    assert list(oz.match(frame(spark, events), [A])) == ["query1"]


def test_explain(spark: SparkSession) -> None:
    told = oz.query(EXPRESSIONS["nested"]).explain(frame(spark, stream(5, 10, 10)))
    assert "query query1, operand 1" in told
    assert "columns: eid, ts, type, x" in told


def test_events_that_last(spark: SparkSession) -> None:
    events = [{"start": row["ts"] - row["ts"] % 4, **row} for row in stream(6, 80, 120)]
    table = frame(spark, events, f"start long, {SCHEMA}")
    for query in (EXPRESSIONS["next"], "PATTERN SEQ(A a, B b) WITHIN 9 RETURN a.eid AS a, b.eid AS b"):
        found = rows(oz.match(table, query, time=("start", "ts")))
        assert found
        assert found == rows_of(expected(events, query, time=("start", "ts")))


def test_events_that_end_before_they_start(spark: SparkSession) -> None:
    events = [{"start": 5, **stream(6, 1, 2)[0]}]
    report = oz.Report()
    table = frame(spark, events, f"start long, {SCHEMA}")
    found = oz.match(table, A, time=("start", "ts"), on_bad="quarantine", report=report)
    assert found.collect() == []
    (row,) = report.quarantined.collect()
    assert row["problem"] == f"column 'start': the event starts at 5, after its end {events[0]['ts']}"


@pytest.mark.parametrize("name", ["next", "fold", "nested"])
def test_a_stream_stopped_and_begun_again(feed: Feed, name: str) -> None:
    events = stream(7, 60, 100)
    for run in ([in_batches(events, 20, 20)[0]], [*in_batches(events, 20, 20)[1:], [END]]):
        feed.add(*run)
        feed.run(EXPRESSIONS[name], watermark=0)
    assert rows(feed.found()) == rows_of(expected(events, EXPRESSIONS[name]))


def test_a_list_on_a_stream_tells_its_queries_apart(feed: Feed) -> None:
    feed.add(stream(8, 20, 30), [END])
    feed.run([EXPRESSIONS["all events"].named("all")], watermark=50)
    found = feed.found()
    assert found.columns == ["query", "all"]
    assert rows(found.select("all.*")) == rows_of(expected(stream(8, 20, 30), EXPRESSIONS["all events"]))
