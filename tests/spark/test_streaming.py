"""Streams find what the reference finds in all events at once: however they are cut, stopped and begun again."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

import ouzel as oz
from spark_events import EVENT_TYPES, PAIR, QUERIES, expected, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches


@pytest.mark.parametrize("name", ["keyed", "closure", "counted"])
def test_a_stream_finds_what_the_reference_finds(feed: Feed, name: str) -> None:
    events = stream(7, 200, 300)
    feed.add(*in_batches(events, 1, 90), [END])
    numbers = feed.run(QUERIES[name])
    found = rows(feed.found())
    assert found
    assert found == expected(events, QUERIES[name])
    assert numbers == {"matches": len(found), "late": 0, "malformed": 0}
    last = max(event["ts"] for event in events)
    assert [row["watermark"] for row in feed.metrics][-2:] == [last, END["ts"]]
    assert feed.metrics[-2]["open_runs"] > 0
    assert all(row["state_bytes"] > 0 for row in feed.metrics)


def test_several_queries_and_queries_without_keys(feed: Feed) -> None:
    events = stream(9, 150, 200)
    names = ["keyed", "slices", "slices refuted after", "one task", "both"]
    text = "\n".join(f"QUERY q{number} {QUERIES[name]}" for number, name in enumerate(names))
    feed.add(*in_batches(events, 50), [END])
    feed.run(text)
    found = feed.found()
    assert found.columns == ["query", "q0", "q1", "q2", "q3", "q4"]
    for number, name in enumerate(names):
        own = found.where(f"query = 'q{number}'").select(f"q{number}.*")
        assert rows(own) == expected(events, QUERIES[name])
        assert found.where(f"query != 'q{number}' AND q{number} IS NOT NULL").isEmpty()


def test_stopped_and_begun_again_after_every_micro_batch(feed: Feed) -> None:
    """Events come out of order, but not later than the watermark allows: nothing is lost, nothing comes twice."""
    events = stream(11, 200, 300)
    for batch in [*in_batches(events, 60, 70, disorder=30), [END]]:
        feed.add(batch)
        assert feed.run(QUERIES["refuted at the end"], watermark=30)["late"] == 0
    assert rows(feed.found()) == expected(events, QUERIES["refuted at the end"])


def test_killed_between_the_sink_and_the_log_of_what_is_done(feed: Feed) -> None:
    """The sink has the micro-batch, Spark does not know that: it goes on without computing it again."""
    events = stream(11, 200, 300)
    parts = in_batches(events, 60, 70)
    feed.add(*parts[:2])
    feed.run(QUERIES["refuted at the end"])
    for path in feed.checkpoint.glob("commits/*1*"):  # of the second micro-batch, checksums and all
        path.unlink()
    feed.add(*parts[2:], [END])
    feed.run(QUERIES["refuted at the end"])
    assert rows(feed.found()) == expected(events, QUERIES["refuted at the end"])


def test_queries_that_feed_each_other(feed: Feed) -> None:
    """Composite events wait in the state for those that may come before them, and last from start to end."""
    events = stream(13, 150, 200)
    text = """
        QUERY pairs PATTERN SEQ(A a, B b, !(C c)) WHERE [k] WITHIN 12 RETURN a.k AS k, a.eid AS eid INTO Pair
        QUERY after PATTERN SEQ(Pair p, A a) WHERE [k] WITHIN 25 RETURN p.eid AS p, a.eid AS a
        QUERY first PATTERN SEQ(Pair p, Pair q) WHERE skip_till_next_match { [k] } WITHIN 40
            RETURN p.eid AS p, q.eid AS q, end(q) - start(p) AS lasting OUTPUT NON_OVERLAP
    """
    for batch in [*in_batches(events, 60, 70, disorder=10), [END]]:
        feed.add(batch)
        feed.run(text, watermark=10)
    reference = oz.match(events, text, engine="reference", types=EVENT_TYPES)
    found = feed.found()
    for name in ("pairs", "after", "first"):
        own = rows(found.where(f"query = '{name}'").select(f"{name}.*"))
        assert own
        assert own == rows_of(reference[name])


def test_late_events_come_out(feed: Feed) -> None:
    query = f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 50 {PAIR}"
    first = {"eid": "a", "ts": 100, "type": "A", "k": 1, "x": None, "y": None}
    later = {**first, "eid": "b", "ts": 120, "type": "B"}
    late = {**first, "eid": "late", "ts": 109}
    in_time = {**first, "eid": "in time", "ts": 110}
    of_no_interest = {**late, "type": "D"}
    feed.add([first, later], [late, in_time, of_no_interest], [END])
    assert feed.run(query, oz.SparkOptions(buckets=2, late=True), watermark=10) == {
        "matches": 2,
        "late": 1,
        "malformed": 0,
    }
    found = feed.found()
    assert found.columns == ["query", "query1", "late"]
    assert rows(found.where("query = 'query1'").select("query1.*")) == [
        '{"a": "a", "b": "b"}',
        '{"a": "in time", "b": "b"}',
    ]
    [row] = found.where("query = 'late'").select("late.*").collect()
    assert row.asDict() == {name: late[name] for name in ("eid", "ts", "type", "k")}


def test_times_and_whole_events(feed: Feed) -> None:
    """Of events that come as timestamps, in a session of another time zone."""
    first, second, later = (
        {"ts": f"2026-03-01T{time}Z", "type": type_, "k": 1, "local": f"2026-03-01T{time}"}
        for time, type_ in (("10:00:00", "A"), ("10:00:05", "B"), ("12:00:00", "D"))
    )
    feed.add([second], [first], [{**second, "ts": "2026-03-01T10:30:00Z"}], [later])
    feed.spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        read = feed.spark.readStream.schema("ts timestamp, type string, k int, local timestamp_ntz")
        events = read.option("maxFilesPerTrigger", 1).json(str(feed.source))
        query = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 1 minute"
        matches = oz.match(events, query, watermark="10 minutes")
        writer = matches.writeStream.format("parquet").option("checkpointLocation", str(feed.checkpoint))
        assert writer.trigger(availableNow=True).start(str(feed.sink)).awaitTermination(120)
        [row] = (
            feed.found().selectExpr("unix_micros(start) AS start", "unix_micros(a.ts) AS a", "b.local").collect()
        )
    finally:
        feed.spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert row.start == row.a == 1_772_359_200_000_000
    assert row.local.isoformat() == "2026-03-01T10:00:05"


def test_a_checkpoint_serves_the_same_query_only(feed: Feed) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN {} RETURN a.eid AS {}, b.eid AS b"
    a = {"eid": "a", "ts": 1, "type": "A", "k": 1, "x": None, "y": None}
    feed.add([a])
    feed.run(query.format(20, "a"))
    feed.add([{**a, "eid": "b", "ts": 2, "type": "B"}, END])
    with pytest.raises(StreamingQueryException, match="window: 20, now 30"):
        feed.run(query.format(30, "a"))
    feed.run(query.format(20, "renamed"))
    # the files of the first run have other columns: which of them Spark would take is chance
    found = feed.spark.read.schema("renamed string, b string").parquet(str(feed.sink))
    assert rows(found) == ['{"renamed": "a", "b": "b"}']


def test_what_streams_refuse(feed: Feed) -> None:
    with pytest.raises(oz.OuzelError, match="OUTPUT AGGREGATE: required windows on a stream"):
        oz.match(feed.read(), QUERIES["totals"])
    with pytest.raises(oz.OuzelError, match="query 'late': required another name"):
        oz.match(feed.read(), f"QUERY late {QUERIES['keyed']}")
    with pytest.raises(
        oz.OuzelError, match="watermark: required a length of time such as '10 minutes'; got 'soon'"
    ):
        oz.match(feed.read(), QUERIES["keyed"], watermark="soon")
    with pytest.raises(oz.QueryError, match="unknown attribute 'z'"):
        oz.match(feed.read(), "PATTERN SEQ(A a, B b) WHERE a.z = 1")
    with pytest.raises(oz.OuzelError, match="buckets: required a whole number of at least 1; got 0"):
        oz.SparkOptions(buckets=0)
