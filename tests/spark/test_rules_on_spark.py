"""Rules on Spark: in a stream that is stopped and begun again, each finds what it finds alone in its time."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from pyspark.sql import DataFrame

import ouzel as oz
from rule_cases import FIRST, SET, TEXTS, Rows, alone, changes
from spark_events import EVENT_TYPES, Events, rows, stream
from spark_feeds import BUCKETS, END, Feed, in_batches

RULES = {
    "least": "id string, least long, valid_from long, valid_to long",
    "query": "id string, query string, valid_from long, valid_to long",
}


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
    events, rules = stream(21, 150, 200), changes(21, 9, 200, texts=said == "query")
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
