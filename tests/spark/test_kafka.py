"""From a Kafka topic to a Kafka topic: events as JSON or Avro, matches as JSON, a restart in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.avro.functions import to_avro

import ouzel as oz
from ouzel.runtimes.spark.sources import needing_kafka
from spark_events import QUERIES, SCHEMA, Events, expected, rows_of, stream

EVENTS = stream(7, 200, 300)
END = {"eid": "end", "ts": 1_000_000, "type": "D", "k": None, "x": None, "y": None}
# All events may come late: which of a topic's two partitions is read first is chance.
OPTIONS: dict[str, Any] = {"watermark": 1_000, "spark": oz.SparkOptions(buckets=3)}
AVRO = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "eid", "type": "string"},
        {"name": "ts", "type": "long"},
        {"name": "type", "type": "string"},
        *({"name": name, "type": ["null", "long"]} for name in ("k", "x", "y")),
    ],
}


class Broker:
    """Topics of one test, on the real broker."""

    def __init__(self, spark: SparkSession, address: str, name: str) -> None:
        self.spark, self.address, self.name = spark, address, name

    def place(self, topic: str) -> str:
        return f"kafka://{self.address}/{self.name}-{topic}"

    def send(self, events: Events, avro: str | None = None) -> None:
        frame = self.spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).coalesce(1)
        columns = "struct(eid, ts, type, k, x, y)"
        values = frame.selectExpr(f"to_json({columns}) AS value")
        if avro:
            values = frame.selectExpr(f"{columns} AS value").select(to_avro("value", avro).alias("value"))
        self.write(values)

    def write(self, values: Any) -> None:
        broker = {"kafka.bootstrap.servers": self.address, "topic": f"{self.name}-in"}
        values.write.format("kafka").options(**broker).save()

    def run(self, schema: str, query: str, checkpoint: Path, **options: Any) -> dict[str, int]:
        events = oz.read_stream(self.place("in"), schema)
        matches = oz.match(events, query, **OPTIONS, **options)
        running = oz.write_stream(matches, self.place("out"), checkpoint=checkpoint, available_now=True)
        assert running.awaitTermination(120)
        seen = [progress["observedMetrics"].get("ouzel") for progress in running.recentProgress]
        return {name: sum(row[name] for row in seen if row) for name in ("matches", "malformed")}

    def received(self) -> Events:
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.address)
        messages = reader.option("subscribe", f"{self.name}-out").load().selectExpr("CAST(value AS STRING)")
        return [json.loads(row.value) for row in messages.collect()]


@pytest.fixture
def broker(spark: SparkSession, kafka: str, tmp_path: Path) -> Broker:
    return Broker(spark, kafka, tmp_path.name.replace("[", "-").replace("]", ""))


@pytest.mark.parametrize("kind", ["json", "avro"])
def test_a_topic_in_and_a_topic_out(broker: Broker, tmp_path: Path, kind: str) -> None:
    schema, avro = SCHEMA, None
    if kind == "avro":
        (tmp_path / "event.avsc").write_text(json.dumps(AVRO), encoding="utf-8")
        schema, avro = str(tmp_path / "event.avsc"), json.dumps(AVRO)
    query = QUERIES["refuted at the end"]
    for part in (EVENTS[:100], [*EVENTS[100:], END]):
        broker.send(part, avro)
        broker.run(schema, query, tmp_path / "checkpoint")
    found = broker.received()
    assert found
    assert rows_of(found) == expected(EVENTS, query)


def test_matches_of_several_queries_are_labelled(broker: Broker, tmp_path: Path) -> None:
    text = f"QUERY one {QUERIES['keyed']}\nQUERY two {QUERIES['closure']}"
    broker.send([*EVENTS, END])
    broker.run(SCHEMA, text, tmp_path / "checkpoint")
    found = broker.received()
    for name, query in (("one", "keyed"), ("two", "closure")):
        assert expected(EVENTS, QUERIES[query])
        own = [message["match"] for message in found if message["query"] == name]
        assert rows_of(own) == expected(EVENTS, QUERIES[query])


def test_messages_that_cannot_be_read(broker: Broker, tmp_path: Path) -> None:
    broker.send([*EVENTS, END])
    broker.write(broker.spark.createDataFrame([("no JSON",), ('{"eid": "no type", "ts": 5}',)], "value string"))
    query = QUERIES["keyed"]
    with pytest.raises(StreamingQueryException, match="malformed"):
        broker.run(SCHEMA, query, tmp_path / "checkpoint")
    numbers = broker.run(SCHEMA, query, tmp_path / "checkpoint", on_bad="quarantine")
    # what a task wrote before another failed comes twice
    once = {json.dumps(message): message for message in broker.received()}
    assert rows_of(list(once.values())) == expected(EVENTS, query)
    assert numbers == {"matches": len(once), "malformed": 2}
    assert once


def test_a_session_that_was_made_without_the_connector() -> None:
    # as Spark says it; the session of these tests has the connector
    said = "Failed to find data source: kafka. Please deploy the application as per the deployment section of …"
    with pytest.raises(oz.OuzelError, match=r"made without it\n  hint: let oz\.read_stream make"), needing_kafka():
        raise AnalysisException(said)
    with pytest.raises(AnalysisException, match="no such column"), needing_kafka():
        raise AnalysisException("no such column")
