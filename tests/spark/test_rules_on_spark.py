"""Rules on Spark: in a stream that is stopped and begun again, each finds what it finds alone in its time."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from ouzel.runtimes.spark import identity
from ouzel.runtimes.spark.checkpoints import read_checkpoint
from rule_cases import FIRST, SET, TEXTS, Rows, alone, changes
from spark_events import EVENT_TYPES, SCHEMA, Events, rows, stream
from spark_feeds import BUCKETS, END, Feed, in_batches

RULES = {
    "least": "id string, least long, valid_from long, valid_to long",
    "query": "id string, query string, valid_from long, valid_to long",
}


COLUMNS = ("id", "least", "valid_from", "valid_to")


class RuleFeed:
    """A stream of rules beside one of events: a file of each for every micro-batch."""

    def __init__(self, feed: Feed, said: str) -> None:
        self.feed, self.said = feed, said
        self.source = feed.source.parent / "rules"
        self.source.mkdir()
        self.count = 0

    def add(self, events: Events, rules: Rows) -> None:
        self.feed.add(events)
        path = self.source / f"{self.count:04}.json"
        path.write_text("\n".join(map(json.dumps, rules)), encoding="utf-8")
        os.utime(path, (1_000_000_000 + self.count,) * 2)
        self.count += 1

    def read(self) -> DataFrame:
        reader = self.feed.spark.readStream.schema(RULES[self.said]).option("maxFilesPerTrigger", 1)
        return reader.json(str(self.source))

    def run(self, query: Any, options: oz.SparkOptions = BUCKETS, **others: Any) -> int:
        """Match all that has been added since; how many rules were refused."""
        self.feed.run(query, options, rules=self.read(), **others)
        return sum(row["refused"] for row in self.feed.metrics)


@pytest.mark.parametrize("said", RULES)
def test_rules_change_in_a_stream_that_is_begun_again(feed: Feed, said: str) -> None:
    events, rules = stream(7, 150, 200), changes(7, 9, 200, texts=said == "query")
    query: Any = SET if said == "least" else [f"QUERY one {TEXTS[0]}"]
    both = RuleFeed(feed, said)
    batches = in_batches(events, 40, 40, 40, disorder=10)
    edges = [-1, *(max(event["ts"] for event in batch) - 10 for batch in batches[:-1])]
    for number, batch in enumerate(batches):
        # those that begin after the batch before it: they come last of all in time
        later = edges[number + 1] if number + 1 < len(edges) else 10**6
        both.add(batch, [rule for rule in rules if edges[number] < rule["valid_from"] <= later])
        if number % 2:
            assert both.run(query, watermark=10) == 0
    both.add([END], [])
    both.run(query, watermark=10)
    first = [{"id": "one", "query": TEXTS[0], "valid_from": None, "valid_to": None}] if said == "query" else FIRST
    expected = alone(events, [*first, *rules], types=EVENT_TYPES)
    assert expected
    assert rows(feed.found()) == expected


def pair(k: int, ts: int) -> Events:
    """An A and a B."""
    return [
        {**END, "eid": f"{type_}{at}", "ts": at, "type": type_, "k": k} for type_, at in (("A", ts), ("B", ts + 1))
    ]


def rule(id_: str, query: str | None, since: int | None = None) -> dict[str, Any]:
    return {"id": id_, "query": query, "valid_from": since, "valid_to": None}


def test_rules_that_are_late_or_wrong(feed: Feed, spark: SparkSession) -> None:
    """A late one counts from the time of the stream; a wrong one changes nothing, and can be had."""
    both = RuleFeed(feed, "query")
    wrong = [rule("good", "PATTERN"), rule("keyless", "PATTERN A a"), rule("into", f"{TEXTS[0]} INTO T")]
    both.add([*pair(1, 10), *pair(2, 20)], [rule("good", TEXTS[0], 15), *wrong])
    both.add(pair(1, 30), [rule("late", TEXTS[0], 5)])
    both.add(pair(3, 40), [rule("good", None)])
    both.add([END], [])
    report = oz.Report()
    options = oz.SparkOptions(buckets=3, keys=["k"])
    assert both.run([], options, report=report) == 3
    found = [(row.query, json.loads(row.match)["a"]) for row in feed.found().collect()]
    assert sorted(found) == [("good", "A20"), ("late", "A30"), ("late", "A40")]
    refused = report.refused_rules.writeStream.format("memory").queryName("refused_rules")
    running = refused.trigger(availableNow=True).start()
    assert running.awaitTermination(120)
    told = {row.id: row.problem for row in spark.table("refused_rules").collect()}
    assert set(told) == {"good", "keyless", "into"}
    assert "required an equivalence test, [k]" in told["keyless"]
    assert told["good"].startswith("the query ends too early")


def test_tables_of_rules(feed: Feed, spark: SparkSession) -> None:
    """In a batch, and beside a stream that they rule from its beginning."""
    events, rules = stream(3, 150, 200), changes(3, 9, 200)
    table = spark.createDataFrame([tuple(rule[name] for name in COLUMNS) for rule in rules], RULES["least"])
    expected = alone(events, [*FIRST, *rules], types=EVENT_TYPES)
    frame = spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)
    assert rows(oz.match(frame, SET, rules=table)) == expected
    feed.add(*in_batches(events, 70), [END])
    feed.run(SET, rules=table)
    assert rows(feed.found()) == expected
    feed.add([{**END, "ts": 1_000_001}])
    with pytest.raises(StreamingQueryException, match=r"rules: rows \w+, now rows \w+"):
        feed.run(SET, rules=table.limit(3))


def test_rules_that_come_but_once_are_rows_of_the_set(feed: Feed) -> None:
    more = [{"id": "more", "least": 1, "valid_from": 3, "valid_to": None}]
    matches = oz.match(feed.read(), SET, rules=more)
    assert matches.columns == ["id", "a", "b"]
    assert len(identity._streams[matches].task.params) == 1
    assert not identity._streams[matches].ruled


def test_what_is_wrong_with_rules_is_said(feed: Feed, spark: SparkSession) -> None:
    both = RuleFeed(feed, "query")
    with pytest.raises(oz.SchemaError, match="rules: required a column 'least'; got id, query"):
        oz.match(feed.read(), SET, rules=both.read())
    with pytest.raises(oz.OuzelError, match="rules: required a set of queries"):
        oz.match(feed.read(), TEXTS[0], rules=both.read())
    with pytest.raises(oz.OuzelError, match="the events are no stream; got a stream"):
        oz.match(spark.createDataFrame([], SCHEMA), SET, rules=both.read())
    with pytest.raises(oz.SchemaError, match="column 'valid_to': required int64; got string"):
        oz.match(feed.read(), SET, rules=both.read().selectExpr("id", "1L AS least", "query AS valid_to"))


def test_a_checkpoint_knows_its_first_rules_and_can_be_looked_at(feed: Feed, spark: SparkSession) -> None:
    both = RuleFeed(feed, "query")
    both.add([*pair(1, 1), END], [rule("r", TEXTS[0])])

    def run(query: Any) -> None:
        matches = oz.match(feed.read(), query, rules=both.read())
        options: dict[str, Any] = {"checkpoint": feed.checkpoint, "available_now": True, "format": "parquet"}
        assert oz.write_stream(matches, feed.sink, **options).awaitTermination(120)

    run([TEXTS[1]])
    assert rows(feed.found().where("query = 'r'")) == [
        '{"query": "r", "match": "{\\"a\\": \\"A1\\", \\"b\\": \\"B2\\"}"}'
    ]
    assert TEXTS[1] in read_checkpoint(feed.checkpoint, spark).query
    with pytest.raises(oz.StateError, match="required the query that it was begun with"):
        run([TEXTS[2]])
