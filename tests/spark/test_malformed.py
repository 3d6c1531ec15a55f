"""Malformed events on Spark: an error that names them, or set aside and to be had, as a batch and as a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors.exceptions.base import PythonException
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from spark_events import QUERIES, SCHEMA, Events, expected, rows, stream
from spark_feeds import Feed

GOOD = stream(3, 60, 60)
TYPES = {name: ["eid", "k", "x", "y"] for name in "ABCD"}
# What is wrong with an event, the options under which it is, and what is said.
NO_TIME: tuple[dict[str, Any], dict[str, Any], str] = (
    {"ts": None, "type": "D"},
    {},
    "column 'ts': the event has no time",
)
WRONG = {
    "no time": NO_TIME,
    "no type": ({"type": None}, {}, "column 'type': the event has no type"),
    "no order": ({"x": None}, {"order": ["ts", "x"]}, "column 'x': the event has no value to order by"),
    "too far off": (
        {"ts": 2**63 - 1, "type": "D"},
        {},
        f"column 'ts': the time {2**63 - 1} is too far off to be counted; required {1 - 2**63} to {2**63 - 2}",
    ),
    "unheard of": (
        {"type": "E"},
        {"types": TYPES},
        "column 'type': unknown event type 'E'; required one of A, B, C, D",
    ),
}
# Spread by keys, by slices of time, over no tasks at all: each has its own way to the checks.
SPREAD = ["keyed", "slices", "one task"]


def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


def some(options: dict[str, Any]) -> Events:
    return [event for event in GOOD if event["x"] is not None] if "order" in options else GOOD


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("spread", [*SPREAD, "files"])
def test_malformed_events_are_refused_or_set_aside(
    spark: SparkSession, tmp_path: Path, spread: str, wrong: str
) -> None:
    change, options, said = WRONG[wrong]
    bad = {**GOOD[0], "eid": "bad", "x": 1, **change}
    events = frame(spark, [*some(options), bad])
    query = QUERIES["keyed" if spread == "files" else spread]
    if spread == "files":
        events.write.parquet(str(tmp_path / "events"))
        events = spark.read.parquet(str(tmp_path / "events"))
    with pytest.raises(PythonException, match=said.split(": ")[1].split(";")[0]):
        oz.match(events, query, **options).collect()
    report = oz.Report()
    found = oz.match(events, query, on_bad="quarantine", report=report, **options)
    assert rows(found) == expected(some(options), query, options.get("order"))
    [aside] = report.quarantined.collect()
    assert aside.asDict() == {**bad, "problem": said}


def test_several_things_are_wrong_with_one_event(spark: SparkSession) -> None:
    events = frame(spark, [{**GOOD[0], "ts": None, "type": None}]).withColumnRenamed("k", "problem")
    report = oz.Report()
    oz.match(events, QUERIES["one task"], on_bad="quarantine", report=report)
    [aside] = report.quarantined.collect()
    assert aside.problem_ == "column 'ts': the event has no time; column 'type': the event has no type"


def test_a_stream_of_malformed_events(spark: SparkSession, feed: Feed, tmp_path: Path) -> None:
    feed.add(GOOD[:30], [*GOOD[30:], {**GOOD[0], "eid": "bad", "type": None}])
    report = oz.Report()
    events = spark.readStream.schema(SCHEMA).json(str(feed.source))
    oz.match(events, QUERIES["keyed"], watermark=100, on_bad="quarantine", report=report)
    running = report.quarantined.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "own"))
    running.trigger(availableNow=True).start(str(tmp_path / "bad")).awaitTermination()
    [aside] = spark.read.parquet(str(tmp_path / "bad")).collect()
    assert (aside.eid, aside.problem) == ("bad", "column 'type': the event has no type")


def test_a_column_that_is_missing_is_told_as_ever(spark: SparkSession) -> None:
    with pytest.raises(oz.OuzelError, match="time column 'ts' is not among the columns"):
        oz.match(frame(spark, GOOD).drop("ts"), QUERIES["keyed"], on_bad="quarantine")
