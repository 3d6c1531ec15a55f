"""Trees on Spark: spread over tasks in a batch; in the state of a stream, with what they know of events."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import SparkSession

import ouzel as oz
from spark_events import EVENT_TYPES, SCHEMA, Events, expected, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches

QUERIES = {
    "a heap": "PATTERN (A a & B b); C c WHERE [k] AND a.x <= b.x WITHIN 30 "
    "RETURN a.eid AS a, b.eid AS b, c.eid AS c",
    "a group": "PATTERN A a; B+ b; C c WHERE [k] WITHIN 30 RETURN a.eid AS a, b[].eid AS b, c.eid AS c",
    "a heap and no event": "PATTERN (A a & B b); !C c; D d WHERE [k] WITHIN 20 "
    "RETURN a.eid AS a, b.eid AS b, d.eid AS d",
}
ORDERED = (
    "PATTERN A a; B b; C c WHERE a.x <= b.x AND b.x <= c.x WITHIN 20 RETURN a.eid AS a, b.eid AS b, c.eid AS c"
)


@pytest.mark.parametrize("name", QUERIES)
def test_a_batch_spread_over_tasks(spark: SparkSession, name: str) -> None:
    events = stream(21, 240, 300)
    frame = spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)
    options = oz.SparkOptions(tasks=3)
    found = rows(oz.match(frame, QUERIES[name], engine="tree", spark=options))
    assert found
    assert found == expected(events, QUERIES[name])
    assert "3 tasks by k" in oz.query(QUERIES[name]).explain(frame, engine="tree", spark=options)


def test_an_order_of_joins_that_is_fixed(spark: SparkSession) -> None:
    events = stream(23, 200, 300)
    frame = spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA)
    found = oz.match(frame, ORDERED, tuning={"plan": "(a (b c))"})
    assert rows(found) == expected(events, ORDERED)
    assert "order of joins: chosen before any event was seen" in oz.query(ORDERED).explain(frame, engine="tree")
    assert "order of joins: as asked for" in oz.query(ORDERED).explain(frame, tuning={"plan": "(a (b c))"})
    with pytest.raises(oz.OuzelError, match="plan 'left': required left-deep"):
        oz.match(frame, ORDERED, tuning={"plan": "left"})
    with pytest.raises(oz.OuzelError, match="tuning 'plan': it is a switch of the tree, and the engine scan was"):
        oz.match(frame, ORDERED, engine="scan", tuning={"plan": "left-deep"})


@pytest.mark.parametrize("name", QUERIES)
def test_a_stream_begun_again_from_its_checkpoint(feed: Feed, name: str) -> None:
    events = stream(22, 200, 300)
    parts = [*in_batches(events, 60, 70, disorder=10), [END]]
    feed.add(*parts[:2])
    feed.run(QUERIES[name], tuning={"adapt": "off"}, watermark=10)
    feed.add(*parts[2:])
    feed.run(QUERIES[name], tuning={"adapt": "off"}, watermark=10)
    found = rows(feed.found())
    assert found
    assert found == expected(events, QUERIES[name])


def changing(rare: str, begin: int, count: int) -> Events:
    """Events one after the other, of three types, one of which is rare."""
    chance = random.Random(begin)
    weights = [1 if name == rare else 20 for name in "ABC"]
    return [
        {
            "eid": f"e{begin + n}",
            "ts": begin + n,
            "type": chance.choices("ABC", weights)[0],
            "k": 1,
            "x": chance.randrange(4),
            "y": None,
        }
        for n in range(count)
    ]


def test_orders_change_on_a_stream_and_what_is_known_of_events_is_in_its_state(feed: Feed) -> None:
    """Between any two micro-batches it is stopped: rates that were forgotten could not have changed."""
    batches = [changing(rare, 2_000 * number, 2_000) for number, rare in enumerate("CAA")]
    switches = []
    for batch in batches:
        feed.add(batch)
        feed.run(ORDERED, engine="tree")
        switches.append(sum(row["switches"] for row in feed.metrics))
    feed.add([END])
    feed.run(ORDERED, engine="tree")
    events = [event for batch in batches for event in batch]
    found = rows(feed.found())
    assert found == rows_of(oz.match(events, ORDERED, engine="tree", types=EVENT_TYPES))
    assert switches[0] == 0
    assert sum(switches) == 1
    assert all(row["shed"] == 0 for row in feed.metrics)
