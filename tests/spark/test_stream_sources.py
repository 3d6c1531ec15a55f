"""Streams from files and to files, in a few words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ouzel as oz
from ouzel.runtimes.spark.topics import Topic, topic_of
from spark_events import QUERIES, SCHEMA, expected, rows, stream

EVENTS = stream(7, 200, 300)
END = {"eid": "end", "ts": 1_000_000, "type": "D", "k": None, "x": None, "y": None}


def test_there_is_something_to_find() -> None:
    assert expected(EVENTS, QUERIES["keyed"])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    directory = tmp_path / "readings"
    directory.mkdir()
    (directory / "1.json").write_text("\n".join(map(json.dumps, [*EVENTS, END])), encoding="utf-8")
    return directory


def matched(source: Path, to: Path, schema: str | None = SCHEMA, query: str = QUERIES["keyed"]) -> None:
    matches = oz.match(oz.read_stream(source, schema), query, spark=oz.SparkOptions(buckets=2))
    running = oz.write_stream(matches, to, checkpoint=to.with_suffix(".checkpoint"), available_now=True)
    assert running.awaitTermination(120)


def test_json_to_parquet(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    matched(source, tmp_path / "found.parquet")
    assert rows(spark.read.parquet(str(tmp_path / "found.parquet"))) == expected(EVENTS, QUERIES["keyed"])


def test_a_pattern_for_files_that_may_not_be_there_yet(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    (source / "1.json").rename(tmp_path / "later.json")
    matched(source / "*.json", tmp_path / "found.jsonl")
    (tmp_path / "later.json").rename(source / "1.json")
    matched(source / "*.json", tmp_path / "found.jsonl")
    found = spark.read.json(str(tmp_path / "found.jsonl"))
    assert rows(found.select("a", "b", "c")) == expected(EVENTS, QUERIES["keyed"])


def test_parquet_knows_its_schema(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    spark.read.schema(SCHEMA).json(str(source)).coalesce(1).write.parquet(str(tmp_path / "events"))
    matched(tmp_path / "events", tmp_path / "found.parquet", schema=None)
    assert rows(spark.read.parquet(str(tmp_path / "found.parquet"))) == expected(EVENTS, QUERIES["keyed"])


def test_what_is_refused(spark: SparkSession, source: Path, tmp_path: Path) -> None:
    with pytest.raises(
        oz.OuzelError, match=r"write_stream: required a stream of matches, .*; got a batch of them"
    ):
        oz.write_stream(spark.range(1), tmp_path / "found.csv", checkpoint=tmp_path / "checkpoint")
    with pytest.raises(oz.SchemaError, match="required a schema for files of json, such as 'ts timestamp"):
        oz.read_stream(source)
    (source / "2.csv").touch()
    with pytest.raises(oz.OuzelError, match=r"required files of one format; got files of csv, json\n.*/\*\.json'"):
        oz.read_stream(source, SCHEMA)
    with pytest.raises(oz.OuzelError, match=r"elsewhere': required a directory, or a pattern .*; there is none"):
        oz.read_stream(tmp_path / "elsewhere", SCHEMA)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(oz.OuzelError, match="got none that are known"):
        oz.read_stream(tmp_path / "elsewhere", SCHEMA)
    with pytest.raises(oz.SchemaError, match="topic 'readings': required a schema for its values"):
        oz.read_stream("kafka://localhost:9092/readings")
    with pytest.raises(oz.SchemaError, match="schema: required an Avro schema of type 'record'; got 'enum'"):
        oz.read_stream("kafka://localhost:9092/readings", '{"type": "enum"}')
    with pytest.raises(oz.SchemaError, match="schema: required an Avro schema as JSON"):
        oz.read_stream("kafka://localhost:9092/readings", "{type")
    with pytest.raises(oz.OuzelError, match=r"'kafka://readings': required kafka://HOST:PORT/TOPIC"):
        oz.read_stream("kafka://readings", SCHEMA)
    events = oz.read_stream(source / "*.json", SCHEMA)
    with pytest.raises(oz.OuzelError, match=r"'.*found': required a name that ends in \.json, .*; got neither"):
        oz.write_stream(events, tmp_path / "found", checkpoint=tmp_path / "checkpoint")


def test_several_brokers_and_options() -> None:
    written = "kafka://one:9092,two:9092/shop.readings?kafka.security.protocol=SSL&maxOffsetsPerTrigger=10"
    options = {"kafka.security.protocol": "SSL", "maxOffsetsPerTrigger": "10"}
    assert topic_of(written) == Topic("one:9092,two:9092", "shop.readings", options)
