"""What the language has beyond patterns, on Spark: the same as in this process, batch and streaming."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz

EPOCH = datetime(2026, 3, 1, 20, tzinfo=UTC)
SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us", "UTC"),
        "type": pa.string(),
        "x": pa.int64(),
        "s": pa.string(),
        "at": pa.struct({"city": pa.string(), "pos": pa.struct({"x": pa.int64()})}),
    }
)


def event(number: int) -> dict[str, Any]:
    place = {"city": ["Rome", "Oslo", None][number % 3], "pos": {"x": number * 5 % 7}}
    return {
        "ts": EPOCH + timedelta(minutes=7 * number),
        "type": "AAB"[number % 3 if number % 4 else 2],
        "x": number * 3 % 5,
        "s": ["50%", "50x", "a\nb", None][number % 4],
        "at": None if number % 11 == 10 else place,
    }


EVENTS = pa.Table.from_pylist([event(number) for number in range(60)], SCHEMA)
PAIR = "PATTERN SEQ(A a, B b)"
QUERIES = {
    "a nested key": f"{PAIR} WHERE [at.city] WITHIN 3 hours RETURN a.at.city, a.ts AS a, b.ts AS b",
    "nested fields": f"{PAIR} WHERE a.at.city = 'Rome' AND a.at.pos.x < b.at.pos.x WITHIN 1 hour "
    "RETURN a.at.pos.x AS p, a.at AS place, b.ts",
    "text patterns": f"{PAIR} WHERE b.s LIKE '50!%' ESCAPE '!' AND a.s RLIKE '^[a-z]' WITHIN $w RETURN a.s, b.ts",
    "everything": f"{PAIR} WHERE [x] WITHIN 2 hours RETURN *, a.s AS again",
    "parts of times": f"{PAIR} WHERE hour(a.ts) = 22 AND date_trunc('hour', a.ts) = date_trunc('hour', b.ts) "
    "WITHIN 1 hour RETURN weekday(a.ts) AS d, date_trunc('day', b.ts) AS day, b.ts - a.ts < $w AS soon",
    "spread": "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [x] AND stddev(a[].at.pos.x) > 1 } "
    "WITHIN 9 hours RETURN stddev(a[].at.pos.x) AS d, count(distinct a[].s) AS n, b.ts",
    "a function": f"{PAIR} WHERE [x] AND late_hour(a.ts) WITHIN 3 hours RETURN a.ts, late_hour(b.ts) AS l",
}
NUMBERED = {
    "numbers by key": f"{PAIR} WHERE [x] WITHIN 2 hours RETURN match_number() AS n, a.ts AS a, b.ts AS b",
    "numbers": f"{PAIR} WHERE a.x > b.x WITHIN 1 hour RETURN match_number() AS n, a.ts AS a, b.ts AS b",
}
PARAMS = {"w": "50 minutes"}


@pytest.fixture(autouse=True)
def functions() -> None:
    oz.register_function(
        "late_hour", lambda moment: moment.hour >= 22 and moment.tzinfo is not None, returns="boolean"
    )
    oz.register_function("broken", lambda moment: moment.nothing, returns="boolean")


def rows(found: Any) -> list[str]:
    """Rows in an order of their own; Spark's times without a zone."""
    table = found.toArrow() if isinstance(found, DataFrame) else found
    return sorted(json.dumps(row, default=_shown) for row in table.to_pylist())


def _shown(value: Any) -> str:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else str(value)


def params(query: str) -> dict[str, Any]:
    return PARAMS if "$w" in query else {}


@pytest.mark.parametrize("name", [*QUERIES, *NUMBERED])
def test_batch(spark: SparkSession, name: str) -> None:
    query = {**QUERIES, **NUMBERED}[name]
    expected = rows(oz.match(EVENTS, query, params=params(query), engine="reference"))
    assert expected
    frame = spark.createDataFrame(EVENTS).repartition(3)
    assert rows(oz.match(frame, query, params=params(query), spark=oz.SparkOptions(tasks=2))) == expected


@pytest.mark.parametrize("name", ["a nested key", "nested fields", "everything", "numbers by key"])
def test_files(spark: SparkSession, tmp_path: Path, name: str) -> None:
    query = {**QUERIES, **NUMBERED}[name]
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    found = oz.match(
        spark.read.parquet(str(tmp_path)), query, params=params(query), spark=oz.SparkOptions(tasks=2)
    )
    assert rows(found) == rows(oz.match(EVENTS, query, params=params(query), engine="reference"))


def test_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """All queries at once, spread over buckets by a nested key where there is one alone."""
    end = pa.Table.from_pylist([{**event(0), "ts": EPOCH + timedelta(days=9), "type": "C"}], SCHEMA)
    source = tmp_path / "source"
    source.mkdir()
    for number, part in enumerate((EVENTS.slice(0, 31), EVENTS.slice(31), end)):
        pq.write_table(part, source / f"{number}.parquet")
    for number, names in enumerate((["a nested key"], [name for name in QUERIES if name != "a nested key"])):
        text = "\n".join(f"QUERY q{place} {QUERIES[name]}" for place, name in enumerate(names))
        events = spark.readStream.schema(spark.read.parquet(str(source)).schema).parquet(str(source))
        found = oz.match(events, text, params=params(text), spark=oz.SparkOptions(buckets=2))
        sink = tmp_path / f"sink{number}"
        writer = found.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / f"state{number}"))
        running = writer.trigger(availableNow=True).start(str(sink))
        try:
            assert running.awaitTermination(120)
        finally:
            running.stop()
        written = spark.read.parquet(str(sink))
        for place, name in enumerate(names):
            own = written if len(names) == 1 else written.where(f"query = 'q{place}'").select(f"q{place}.*")
            expected = oz.match(EVENTS, QUERIES[name], params=params(QUERIES[name]), engine="reference")
            assert rows(own) == rows(expected), name


def test_how_events_are_spread_is_told(spark: SparkSession) -> None:
    frame = spark.createDataFrame(EVENTS)
    assert "tasks by at.city" in oz.query(QUERIES["a nested key"]).explain(frame)
    assert "one task: match_number() counts all matches" in oz.query(NUMBERED["numbers"]).explain(frame)
    words = oz.query(QUERIES["text patterns"], PARAMS).explain(frame)
    assert "RLIKE" not in words.split("events that some component may want, by")[1].splitlines()[0]


def test_a_stream_has_no_match_numbers(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(EVENTS, tmp_path / "events.parquet")
    events = spark.readStream.schema(spark.read.parquet(str(tmp_path)).schema).parquet(str(tmp_path))
    with pytest.raises(oz.OuzelError, match=r"match_number\(\): required all events at once"):
        oz.match(events, NUMBERED["numbers by key"])


def test_a_function_that_fails(spark: SparkSession) -> None:
    found = oz.match(spark.createDataFrame(EVENTS), "QUERY q PATTERN A a WHERE broken(a.ts)")
    with pytest.raises(Exception, match="function 'broken' in query 'q' failed: AttributeError"):
        found.collect()
