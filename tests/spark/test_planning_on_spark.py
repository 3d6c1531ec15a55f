"""What `match` asks of Spark to plan many queries: little more than bare DataFrames do, and no job for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from py4j.clientserver import JavaClient  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from ouzel.bench.spark_batch import several_bare, several_queries
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark.task import Task
from ouzel.runtimes.spark.time_slices import Span
from spark_events import PAIR, QUERIES, SCHEMA, Events, expected, rows, stream
from spark_feeds import END


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], int]:
    """Counts what is sent to Java, but for what tells it that Python has forgotten an object."""
    sent: list[str] = []
    send = JavaClient.send_command

    def counting(self: Any, command: str, *rest: Any, **others: Any) -> Any:
        sent.append(command)
        return send(self, command, *rest, **others)

    monkeypatch.setattr(JavaClient, "send_command", counting)

    def count(run: Callable[[], Any]) -> int:
        sent.clear()
        run()
        return sum(not command.startswith("m\n") for command in sent)

    return count


def test_forty_queries_take_little_more_than_bare_dataframes(
    spark: SparkSession, commands: Callable[[Callable[[], Any]], int]
) -> None:
    events = spark.createDataFrame([(1, "E1", 1), (2, "E2", 1)], "ts long, type string, attr1 long")
    oz.match(events, several_queries(-1), time_unit="ms")  # asks the workers and for types, once
    bare = commands(lambda: several_bare(events))
    assert commands(lambda: oz.match(events, several_queries(0), time_unit="ms")) < 1.2 * bare


def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


def jobs(spark: SparkSession, run: Callable[[], Any]) -> int:
    """How many jobs are started."""
    tracker, group = spark.sparkContext.statusTracker(), "planning"
    before = len(tracker.getJobIdsForGroup(group))
    spark.sparkContext.setJobGroup(group, "what match starts")
    try:
        run()
    finally:
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    return len(tracker.getJobIdsForGroup(group)) - before


def test_one_job_finds_where_to_cut_time_for_all_queries(spark: SparkSession) -> None:
    events = frame(spark, stream(21, 40, 1_600))
    each = "PATTERN SEQ(A a, B b) WHERE a.x = {} AND a.x <= b.y WITHIN {} " + PAIR
    text = "\n".join(f"QUERY q{n} {each.format(n % 4, 5 + n)}" for n in range(8))
    oz.match(events, f"QUERY q PATTERN SEQ(A a, B b) WHERE [k] {PAIR}")  # asks the workers
    # with adaptive execution, each stage of a query may be a job: the first is of one stage after a shuffle
    first = jobs(spark, lambda: oz.match(events, f"{each.format(0, 5)}"))
    assert jobs(spark, lambda: oz.match(events, text)) <= first
    assert jobs(spark, lambda: oz.match(events, text)) == 0


@pytest.mark.parametrize("name", ["slices", "slices refuted before", "slices refuted after"])
def test_where_time_is_cut_changes_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """What is known of a DataFrame may be old: events from before and after that are in the outer slices."""

    def span(_events: Any, _narrow: Any, _ticks: Any, _task: Any, conditions: set[str | None]) -> dict[Any, Span]:
        return {condition: Span(100, 260, 50) for condition in conditions}

    monkeypatch.setattr("ouzel.runtimes.spark.given.spans_of", span)
    events = [*stream(22, 160, 400), {**END, "type": "A", "ts": None}]
    found = oz.match(frame(spark, events), QUERIES[name], spark=oz.SparkOptions(tasks=3), on_bad="quarantine")
    assert found.rdd.getNumPartitions() == 6
    assert rows(found) == expected(events[:-1], QUERIES[name])


def test_plans_are_made_once_for_what_is_the_same() -> None:
    schema = pa.schema({"ts": "int64", "type": "string", "x": "int64"})

    def task(value: Any, reading: Reading, schema: pa.Schema, engine: str) -> Task:
        return Task("PATTERN SEQ(A a, B b) WHERE a.x = $x", "", {"x": value}, reading, schema, engine, oz.Limits())

    own = (1, Reading(types={"A": {"x": pa.int64()}, "B": {}}), schema, "auto")
    first = task(*own).compiled
    assert task(*own).compiled is first
    assert replace(task(*own), limits=oz.Limits(max_matches=5), memory=1).compiled is first
    others = [(2, *own[1:]), (1.0, *own[1:]), (Decimal(1), *own[1:]), (*own[:3], "reference")]
    others += [(1, Reading(types={"A": {"x": pa.int32()}, "B": {}}), *own[2:])]
    others += [(*own[:2], schema.append(pa.field("y", "int64")), "auto")]
    assert len({id(task(*other).compiled) for other in [own, *others]}) == 1 + len(others)
    with pytest.raises(oz.QueryError, match="object"):
        _ = task(object(), *own[1:]).compiled
