"""A checkpoint knows its query: another one is refused when its stream is started, before Spark does anything."""

from __future__ import annotations

import json
import shutil

import pytest
from pyspark.errors import StreamingQueryException

import ouzel as oz
from spark_feeds import BUCKETS, END, Feed

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] AND a.x = 1 WITHIN {} RETURN a.eid AS a, b.eid AS b"
A = {"eid": "a", "ts": 1, "type": "A", "k": 1, "x": 1, "y": None}


def run(feed: Feed, query: str, options: oz.SparkOptions = BUCKETS) -> None:
    matches = oz.match(feed.read(), query, spark=options)
    running = oz.write_stream(matches, feed.sink, checkpoint=feed.checkpoint, available_now=True, format="parquet")
    assert running.awaitTermination(120)


def test_another_query_is_refused_at_the_start(feed: Feed) -> None:
    feed.add([A])
    run(feed, QUERY.format("1 hour"))
    with pytest.raises(oz.StateError) as caught:
        run(feed, QUERY.format("2 hours"))
    assert str(caught.value).splitlines() == [
        f"checkpoint '{feed.checkpoint}': required the query that it was begun with; got another",
        "  window: 1 hour, now 2 hours",
        "  hint: go on with that query, or begin a new checkpoint",
    ]
    with pytest.raises(oz.StateError, match=r"conditions: a\.x = 1, now a\.x = 2"):
        run(feed, QUERY.format("1 hour").replace("= 1", "= 2"))
    with pytest.raises(oz.StateError, match="events: in 3 buckets by k, now in 4 buckets by k"):
        run(feed, QUERY.format("1 hour"), oz.SparkOptions(buckets=4))
    with pytest.raises(oz.StateError, match=r"columns: .*, now .*, y int64"):
        run(feed, QUERY.format("1 hour") + ", a.y AS y")
    feed.add([{**A, "eid": "b", "ts": 2, "type": "B"}, END])
    run(feed, QUERY.format("60 minutes"))
    assert [row.asDict() for row in feed.found().collect()] == [{"a": "a", "b": "b"}]


def test_a_stream_that_never_began_can_be_another(feed: Feed) -> None:
    """Nothing was read, so nothing is known."""
    feed.checkpoint.mkdir()
    (feed.checkpoint / "ouzel.json").write_text(json.dumps({"queries": []}), encoding="utf-8")
    feed.add([A, {**A, "eid": "b", "ts": 2, "type": "B"}, END])
    run(feed, QUERY.format("1 hour"))
    assert feed.found().count() == 1


def test_a_stream_started_otherwise_is_refused_by_its_state(feed: Feed) -> None:
    feed.add([A])
    feed.run(QUERY.format("1 hour"))
    assert not (feed.checkpoint / "ouzel.json").exists()
    feed.add([END])
    with pytest.raises(StreamingQueryException) as caught:
        run(feed, QUERY.format("2 hours"))
    assert (
        "ouzel.errors.StateError: checkpoint: required one of the same query; got another\n"
        "  window: 1 hour, now 2 hours\n"
        "  hint: go on with the query that it was begun with, or begin a new checkpoint\n"
    ) in str(caught.value)


def test_files_of_another_checkpoint_are_refused(feed: Feed) -> None:
    feed.add([A], [{**A, "eid": "b", "ts": 2, "type": "B"}, END])
    run(feed, QUERY.format("1 hour"))
    assert feed.found().count() == 1
    older = feed.checkpoint.with_name("older")
    shutil.copytree(feed.checkpoint, older, ignore=shutil.ignore_patterns("1", ".1.crc"))
    for other in (feed.checkpoint.with_name("new"), older):
        feed.checkpoint = other
        with pytest.raises(oz.StateError, match="required a directory without files of a stream"):
            run(feed, QUERY.format("1 hour"))
    assert not feed.checkpoint.with_name("new").exists()
    feed.sink = feed.sink.with_name("elsewhere")
    feed.checkpoint = feed.checkpoint.with_name("new")
    run(feed, QUERY.format("1 hour"))
    assert feed.found().count() == 1
