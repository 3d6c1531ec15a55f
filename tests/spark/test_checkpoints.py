"""A checkpoint can be looked at, serves a query that changed in what it returns, and no other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import ouzel as oz
from ouzel.cli.commands import app
from spark_events import expected, rows, stream
from spark_feeds import END, Feed, in_batches

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] AND a.x <= b.x WITHIN {window} RETURN {returned}"
SAME = QUERY.format(window=20, returned="a.eid AS a, b.eid AS b")
EVENTS = stream(7, 200, 300)


def test_the_state_of_a_stream(feed: Feed) -> None:
    feed.add(*in_batches(EVENTS, 80))
    feed.run(SAME, watermark=5)
    result = CliRunner().invoke(app, ["state", str(feed.checkpoint)])
    assert result.exit_code == 0, result.output
    buckets = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["bucket"] for one in buckets] == [0, 1, 2]
    told = feed.metrics[-1]
    assert sum(one["open_runs"] for one in buckets) == told["open_runs"] > 0
    assert sum(one["state_bytes"] for one in buckets) == told["state_bytes"]
    assert {one["watermark"] for one in buckets} == {str(told["watermark"])}
    assert told["watermark"] == max(event["ts"] for event in EVENTS) - 5
    assert all(0 < one["snapshot_bytes"] <= one["state_bytes"] for one in buckets)
    shown = CliRunner().invoke(app, ["state", str(feed.checkpoint), "--format", "table"]).stdout
    assert SAME in shown
    assert f"{told['open_runs']} open runs, events in 3 buckets by k" in " ".join(shown.split())


def test_there_is_no_state(spark: SparkSession, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["state", str(tmp_path)])
    assert isinstance(result.exception, oz.StateError)
    assert "required the checkpoint of a stream that Ouzel matched" in str(result.exception)


@pytest.mark.parametrize(
    ("difference", "query", "buckets"),
    [
        ("window: 20, now 30", SAME.replace("20", "30"), 3),
        ("conditions: a.x <= b.x, now a.x < b.x", SAME.replace("<=", "<"), 3),
        (
            "required events in 3 buckets by k, as it was begun; got in 3 .* by k, y",
            SAME.replace("[k]", "[k, y]"),
            3,
        ),
        ("pattern: Sequence", SAME.replace("SEQ(A a, B b)", "SEQ(A a, C b)"), 3),
        ("required events in 3 buckets by k, as it was begun; got in 4 buckets by k", SAME, 4),
    ],
)
def test_another_query_is_refused(feed: Feed, difference: str, query: str, buckets: int) -> None:
    feed.add(EVENTS[:50])
    feed.run(SAME)
    feed.add([END])
    with pytest.raises(StreamingQueryException, match=difference) as caught:
        feed.run(query, oz.SparkOptions(buckets=buckets))
    assert "StateError" in str(caught.value)


def test_a_new_return_and_new_limits_go_on(feed: Feed) -> None:
    """Nothing is final before the second query, which returns something else, under other limits."""
    for batch, returned, limits in (
        (EVENTS[:100], "a.eid AS a, b.eid AS b", oz.Limits()),
        ([*EVENTS[100:], END], "b.eid AS b, a.eid AS a, b.x - a.x AS more", oz.Limits(max_matches=10_000)),
    ):
        feed.add(batch)
        feed.run(QUERY.format(window=20, returned=returned), limits=limits, watermark=1_000)
    query = QUERY.format(window=20, returned="b.eid AS b, a.eid AS a, b.x - a.x AS more")
    found = rows(feed.spark.read.schema("b string, a string, more long").parquet(str(feed.sink)))
    assert found
    assert found == expected(EVENTS, query)
