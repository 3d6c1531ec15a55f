"""Events that last in a Spark stream: in order, and late, by their end; malformed if they start after it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import ouzel as oz
from spark_events import EVENT_TYPES, PAIR, SCHEMA, Events, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches

TIME = ("start", "ts")
LAST = {"start": END["ts"], **END}
A, B, C = (oz.stream(name).select("eid", "k", "x") for name in "ABC")
QUERIES: dict[str, Any] = {
    "keyed": f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 25 {PAIR}, start(b) AS s, end(a) AS e",
    "refuted": f"PATTERN SEQ(A a, B b, !(C c)) WHERE a.x = b.x AND c.x = 1 WITHIN 30 {PAIR}",
    "tree": f"PATTERN A a & B b WHERE a.k = b.k AND a.x = 1 WITHIN 20 {PAIR}",
    "next": A.prefixed("a").next(B.prefixed("b"), where="a.k = b.k").where("duration() < 60"),
    "fold": A.extend(n="1").fold(A, where="k = k.last", step=lambda s: s.extend(n="n.last + 1")).where("n < 4"),
    "nested": A.prefixed("a").next(B.prefixed("b").next(C.prefixed("c"), where="b.x <= c.x"), where="a.x < c.x"),
}


@pytest.fixture
def calls(feed: Feed) -> Feed:
    feed.schema = f"start long, {SCHEMA}"
    return feed


def lasting(seed: int, count: int, span: int) -> Events:
    return [{"start": row["ts"] - row["ts"] * 7 % 11, **row} for row in stream(seed, count, span)]


def expected(events: Events, query: Any) -> list[str]:
    return rows_of(oz.match(events, query, types=EVENT_TYPES, time=TIME, engine="reference"))


@pytest.mark.parametrize("name", ["refuted", "next", "fold"])
def test_stopped_and_begun_again(calls: Feed, name: str) -> None:
    """Ends come in order, starts do not: nothing is late, however long events last."""
    events = lasting(21, 90, 120)
    parts = in_batches(events, 30, 30)
    for batches in ([parts[0]], [*parts[1:], [LAST]]):
        calls.add(*batches)
        assert calls.run(QUERIES[name], time=TIME)["late"] == 0
    found = rows(calls.found())
    assert found
    assert found == expected(events, QUERIES[name])


def test_in_disorder_of_ends_and_several_queries(calls: Feed) -> None:
    events = lasting(22, 120, 150)
    calls.add(*in_batches(events, 40, 40, disorder=12), [LAST])
    texts = {name: f"QUERY {name} {QUERIES[name]}" for name in ("keyed", "tree")}
    both = {**texts, "nested": QUERIES["nested"].named("nested")}
    assert calls.run(list(both.values()), time=TIME, watermark=12)["late"] == 0
    found = calls.found()
    for name in both:
        own = rows(found.where(f"query = '{name}'").select(f"{name}.*"))
        assert own
        assert own == expected(events, QUERIES[name])


@pytest.mark.parametrize("name", ["keyed", "next"])
def test_late_is_what_ends_too_early(calls: Feed, name: str) -> None:
    query = QUERIES[name]
    first = {"start": 80, "eid": "a", "ts": 100, "type": "A", "k": 1, "x": 1, "y": None}
    later = {**first, "eid": "b", "start": 112, "ts": 114, "type": "B"}
    late = {**first, "eid": "late", "start": 103, "ts": 103}
    in_time = {**first, "eid": "in time", "start": 1, "ts": 104}
    calls.add([first, later], [late, in_time, {**late, "type": "D"}], [LAST])
    numbers = calls.run(query, oz.SparkOptions(buckets=2, late=True), time=TIME, watermark=10)
    assert (numbers["late"], numbers["malformed"]) == (1, 0)
    found = calls.found()
    assert rows(found.where("query = 'query1'").select("query1.*")) == expected([first, later, in_time], query)
    [row] = found.where("query = 'late'").select("late.eid", "late.start", "late.ts").collect()
    assert tuple(row) == ("late", 103, 103)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "backwards": ({"start": 60}, "column 'start': the event starts at 60, after its end 50"),
    "no start": ({"start": None}, "column 'start': the event has no start"),
    "no end": ({"ts": None}, "column 'ts': the event has no end"),
    "too far off": ({"start": -(2**63)}, f"column 'start': the time {-(2**63)} is too far off to be counted"),
}


@pytest.mark.parametrize(("wrong", "type_"), [("backwards", "A"), ("backwards", "D"), ("too far off", "D")])
def test_malformed_events_stop_the_stream(calls: Feed, wrong: str, type_: str) -> None:
    """Also those of types that the query does not want."""
    change, said = WRONG[wrong]
    good = {"start": 40, "eid": "a", "ts": 50, "type": type_, "k": 1, "x": 1, "y": None}
    calls.add([{**good, **change}])
    with pytest.raises(StreamingQueryException, match=f"row 0, {said}"):
        calls.run(QUERIES["keyed"], time=TIME)


@pytest.mark.parametrize("name", ["keyed", "next"])
def test_malformed_events_are_set_aside(spark: SparkSession, calls: Feed, tmp_path: Path, name: str) -> None:
    """They are counted and can be had; and they make no time pass: what comes after them is not late."""
    query = QUERIES[name]
    first = {"start": 40, "eid": "a", "ts": 50, "type": "A", "k": 1, "x": 1, "y": None}
    second = {**first, "eid": "b", "start": 55, "ts": 56, "type": "B"}
    bad = [{**first, "eid": wrong, **change} for wrong, (change, _said) in WRONG.items()]
    far = {**first, "eid": "far", "start": 3_000, "ts": 2_000}
    calls.add([first, *bad, far], [second], [LAST])
    numbers = calls.run(query, time=TIME, on_bad="quarantine")
    assert numbers == {"matches": 1, "late": 0, "malformed": 5}
    assert rows(calls.found()) == expected([first, second], query)
    report = oz.Report()
    oz.match(calls.read(), query, time=TIME, on_bad="quarantine", report=report)
    writer = report.quarantined.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "own"))
    assert writer.trigger(availableNow=True).start(str(tmp_path / "bad")).awaitTermination(120)
    told = {row.eid: row.problem for row in spark.read.parquet(str(tmp_path / "bad")).collect()}
    assert told.keys() == {*WRONG, "far"}
    assert all(told[wrong].startswith(said) for wrong, (_change, said) in WRONG.items())


def test_times_with_a_zone(calls: Feed) -> None:
    calls.schema = "start timestamp, ts timestamp, type string, k int"
    clocks = (("09:00:00", "10:00:00", "A"), ("10:00:01", "10:30:00", "B"), ("12:00:00", "12:00:00", "D"))
    days = [("2026-03-01T" + start + "Z", "2026-03-01T" + end + "Z", kind) for start, end, kind in clocks]
    calls.add([{"start": start, "ts": end, "type": kind, "k": 1} for start, end, kind in days])
    calls.run(oz.stream("A").next(oz.stream("B")).extend(d="duration()"), time=TIME, watermark="1 minute")
    [row] = calls.found().selectExpr("unix_micros(start) AS start", "unix_micros(end) AS end", "d").collect()
    assert row.end - row.start == 5_400_000_000 == row.d - 1


def test_a_checkpoint_knows_how_events_last(calls: Feed) -> None:
    first, second = lasting(23, 2, 9)
    calls.add([first])
    calls.run(QUERIES["next"], time=TIME)
    calls.add([{**second, "ts": 50}])
    with pytest.raises(StreamingQueryException, match="time: start to ts, now ts"):
        calls.run(QUERIES["next"])
