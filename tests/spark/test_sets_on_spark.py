"""Sets of queries on Spark: one DataFrame or stream with the id in front, of what each query finds on its own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PythonException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from spark_events import EVENT_TYPES, SCHEMA, Events, rows, rows_of, stream
from spark_feeds import END, Feed, in_batches

PAIR = "RETURN a.eid AS a, b.eid AS b"
ROWS = [
    {"id": name, "least": least, "most": most} for name, least, most in (("p", 0, 2), ("q", 2, 3), ("r", 1, 1))
]
A, B = oz.stream("A"), oz.stream("B")
SETS = {
    "keyed": oz.queries(
        f"PATTERN SEQ(A a, B b) WHERE [k] AND a.x >= $least AND b.x <= $most WITHIN 25 {PAIR}", ROWS
    ),
    "counted": oz.queries(
        f"PATTERN SEQ(A a, B b) WHERE [k] AND a.x >= $least AND b.x <= $most WITHIN $n EVENTS {PAIR}",
        [{**row, "n": 3 + place} for place, row in enumerate(ROWS)],
    ),
    "slices": oz.queries(
        f"PATTERN SEQ(A a, B b, !(C c)) WHERE a.x = $least AND c.x = $most WITHIN 8 {PAIR}", ROWS
    ),
    "windows": oz.queries(
        f"PATTERN SEQ(A a, B b) WHERE a.x = b.y WITHIN $w {PAIR}", [{"rule": w, "w": w} for w in (3, 9)], id="rule"
    ),
    "algebra": oz.queries(
        A.select("eid", "x").prefixed("a").next(B.select("eid", "x").prefixed("b"), where="b.x > $least + a.x"),
        ROWS,
    ),
    "valid": oz.queries(
        f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 25 {PAIR}",
        [{"id": 1, "since": 50, "until": 120}, {"id": 2, "since": None, "until": 90}],
        valid_from="since",
        valid_to="until",
    ),
}


def frame(spark: SparkSession, events: Events) -> DataFrame:
    return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(3)


def expected(events: Events, query: Any) -> Any:
    return oz.match(events, query, types=EVENT_TYPES)


@pytest.mark.parametrize("name", SETS)
def test_batch(spark: SparkSession, name: str) -> None:
    events = stream(3, 150, 200)
    found = oz.match(frame(spark, events), SETS[name])
    assert found.columns[0] == SETS[name].id
    assert rows(found)
    assert rows(found) == rows_of(expected(events, SETS[name]))


def test_files_that_workers_read(spark: SparkSession, tmp_path: Path) -> None:
    events = stream(4, 150, 200)
    pq.write_table(pa.Table.from_pylist(events), tmp_path / "events.parquet")
    found = oz.match(spark.read.parquet(str(tmp_path / "events.parquet")), SETS["keyed"])
    assert rows(found) == rows_of(expected(events, SETS["keyed"]))


def test_a_list_with_sets_and_queries_that_read_them(spark: SparkSession) -> None:
    events = stream(5, 100, 150)
    made = oz.queries("PATTERN SEQ(A a, B b) WHERE [k] AND a.x = $least WITHIN 9 RETURN a.k AS k INTO T", ROWS)
    both = [made, SETS["windows"], "PATTERN SEQ(T t, C c) WHERE [k] WITHIN 30 RETURN t.id, c.eid AS c"]
    found, alone = oz.match(frame(spark, events), both), expected(events, both)
    assert list(found) == ["query1", "query2", "query3"]
    for name, table in found.items():
        assert rows(table) == rows_of(alone[name])


def test_nothing_has_the_same_columns(spark: SparkSession) -> None:
    empty = pa.table(
        {name: pa.array([], kind) for name, kind in (("id", "int32"), ("least", "int64"), ("most", "int64"))}
    )
    none = oz.queries(f"PATTERN SEQ(A a, B b) WHERE a.x >= $least AND b.x <= $most {PAIR}", empty)
    found = oz.match(frame(spark, stream(6, 20, 20)), none)
    assert found.dtypes == [("id", "int"), ("a", "string"), ("b", "string")]
    assert found.collect() == []


def test_each_query_may_have_so_many_matches(spark: SparkSession) -> None:
    events = frame(spark, stream(3, 150, 200))
    sizes = Counter(row["id"] for row in oz.match(events, SETS["algebra"]).collect())
    most = max(sizes.values())
    assert sum(sizes.values()) > most > 3
    whole = oz.match(events, SETS["algebra"], limits=oz.Limits(max_matches=most))
    assert Counter(row["id"] for row in whole.collect()) == sizes
    few = oz.match(events, SETS["algebra"], limits=oz.Limits(max_matches=3, on_limit="shed"))
    assert Counter(row["id"] for row in few.collect()) == {id_: min(size, 3) for id_, size in sizes.items()}
    with pytest.raises(PythonException, match=r"the query '\w' of the set: more than 3 matches"):
        oz.match(events, SETS["algebra"], limits=oz.Limits(max_matches=3)).collect()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("keyed", "tasks by k"),
        ("slices", "by slices of time that overlap by the window"),
        ("windows", "one task: each query of the set has a window of its own"),
        ("counted", "all events: those that no component wants matter too"),
    ],
)
def test_explain(spark: SparkSession, name: str, words: str) -> None:
    assert words in oz.query(SETS[name]).explain(frame(spark, stream(7, 10, 10)))


@pytest.mark.parametrize("name", ["keyed", "counted", "algebra", "valid"])
def test_a_stream_stopped_and_begun_again(feed: Feed, name: str) -> None:
    events = stream(8, 120, 160)
    for batch in [*in_batches(events, 40, 50, disorder=10), [END]]:
        feed.add(batch)
        feed.run(SETS[name], watermark=10)
    assert rows(feed.found()) == rows_of(expected(events, SETS[name]))


def test_a_list_with_a_set_on_a_stream(feed: Feed) -> None:
    events = stream(9, 80, 100)
    both = [SETS["windows"], f"QUERY pairs PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9 {PAIR}"]
    feed.add(*in_batches(events, 30), [END])
    feed.run(both)
    alone, found = expected(events, both), feed.found()
    assert found.columns == ["query", "query1", "pairs"]
    for name in ("query1", "pairs"):
        assert rows(found.where(f"query = '{name}'").select(f"{name}.*")) == rows_of(alone[name])


def test_a_checkpoint_knows_the_rows_of_its_set(feed: Feed) -> None:
    feed.add([END])
    feed.run(SETS["keyed"])
    feed.add([{**END, "ts": 1_000_001}])
    with pytest.raises(StreamingQueryException, match=r"parameters: rows \w+, now rows \w+"):
        feed.run(oz.queries(SETS["keyed"].template, ROWS[:2]))
