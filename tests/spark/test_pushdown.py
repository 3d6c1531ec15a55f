"""What is dropped before it crosses to Python is what no component wants: on odd values, by Spark and by Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

import ouzel as oz
from ouzel.language.names import quoted
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark.columns import arrow_schema, narrowed
from ouzel.runtimes.spark.pushdown import types_wanted_by_arrow, wanted_by_arrow, wanted_by_spark
from ouzel.runtimes.spark.task import Task
from spark_events import rows, rows_of

BIG = 2**53 + 1
VALUES: dict[str, list[Any]] = {
    "i": [BIG, BIG - 1, -(2**63), 2**63 - 1, 0, -1, None, 7],
    "small": [-128, 127, 0, 1, None, -1, 7, 2],
    "d": [Decimal(one) for one in ("7.10", "7.11", "-0.01", "0", "9007199254740993.01", "7.1", "1")] + [None],
    "f": [float("nan"), -0.0, 0.0, float("inf"), float("-inf"), 7.1, float(2**53), None],
    "s": ["x", "x ", "X", "", "ß", "a\\%b", None, "zz\u0000"],
    "b": [True, False, None, True, False, True, False, None],
    "t": [datetime(2026, 3, 1, 10, 0, 0, n) for n in range(7)] + [None],
    "n": [datetime(2026, 3, 1, 10, 0, 0, n) for n in range(7)] + [None],
    "day": [date(2026, 3, n + 1) for n in range(7)] + [None],
}
TYPES = {
    "i": pa.int64(),
    "small": pa.int8(),
    "d": pa.decimal128(20, 2),
    "f": pa.float64(),
    "s": pa.string(),
    "b": pa.bool_(),
    "t": pa.timestamp("us", "UTC"),
    "n": pa.timestamp("us"),
    "day": pa.date32(),
}
CONDITIONS = [
    *(f"a.i {sign} {BIG}" for sign in ("=", "!=", "<", "<=", ">", ">=")),
    f"a.i = {float(2**53)}",
    f"a.i > {float(2**53)}",
    "a.i < 9223372036854775807",
    "a.i >= -9223372036854775807",
    "a.small < 300",
    "a.small > -129",
    "a.small != 7",
    *(f"a.d {sign} 7.10" for sign in ("=", "!=", "<", ">", ">=")),
    "a.d = 7",
    "a.d < 7.105",
    *(f"a.f {sign} 0" for sign in ("=", "!=", "<", "<=", ">", ">=")),
    *(f"a.f {sign} 7.1" for sign in ("=", "!=", ">")),
    "a.f = a.f",
    *(f"a.s {sign} 'x'" for sign in ("=", "!=", "<", "<=", ">", ">=")),
    "a.s = 'x '",
    "a.s = ''",
    "a.s < 'ß'",
    "a.s LIKE 'a\\%b'",
    "a.s LIKE 'x%'",
    "a.s IN ('x', 'X')",
    "a.b = TRUE",
    "a.b != TRUE",
    "NOT a.b = TRUE",
    "a.i IS NULL",
    "a.s IS NOT NULL",
    "(a.i = 7 OR a.s = 'X')",
    "NOT (a.i = 7 AND a.s = 'X')",
    "a.t > '2026-03-01T10:00:00.000003Z'",
    "a.n <= '2026-03-01T10:00:00.000003'",
    "a.day = '2026-03-02'",
]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    columns = {name: pa.array(values, TYPES[name]) for name, values in VALUES.items()}
    count = len(VALUES["i"])
    times = {"ts": pa.array(range(count), pa.int64()), "type": ["A"] * count, "id": pa.array(range(count))}
    return pa.table({**times, **columns})


@pytest.fixture(scope="module")
def events(spark: SparkSession, table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The table as Spark reads it, in a session that is not in UTC."""
    path = tmp_path_factory.mktemp("odd") / "events.parquet"
    pq.write_table(table, path)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    yield spark.read.parquet(str(path))
    spark.conf.set("spark.sql.session.timeZone", "UTC")


def task_of(events: Any, condition: str) -> Task:
    text = f"PATTERN SEQ(A a, B b) WHERE {condition} RETURN a.id AS id"
    return narrowed(Task(text, "", {}, Reading(), arrow_schema(events), "auto", oz.Limits()))


def by_spark(task: Task, events: Any) -> str:
    condition = wanted_by_spark([plan.query for plan in task.plans], task, events.schema)
    assert condition is not None
    return condition


def test_nothing_is_dropped_that_a_component_wants(events: Any, table: pa.Table) -> None:
    tasks = {condition: task_of(events, condition) for condition in CONDITIONS}
    in_spark = {text: by_spark(task, events) for text, task in tasks.items()}
    flags = [f.expr(condition).alias(f"c{n}") for n, condition in enumerate(in_spark.values())]
    kept = events.select("id", *flags).toArrow().to_pylist()
    for number, (text, task) in enumerate(tasks.items()):
        query = f"PATTERN SEQ(A a) WHERE {text} RETURN a.id AS id"
        right = {row["id"] for row in oz.match(table, query, engine="reference").to_pylist()}
        assert right <= {row["id"] for row in kept if row[f"c{number}"]}, text
        queries = [plan.query for plan in task.plans]
        narrow = table.select([*task.schema.names])
        of_types = types_wanted_by_arrow(queries, task)
        by_arrow = narrow.filter(wanted_by_arrow(queries, task)).filter(of_types)
        assert right <= set(by_arrow.column("id").to_pylist()), text


def test_what_is_beyond_doubt_is_dropped(events: Any) -> None:
    """Of rows that are plainly not wanted, none is left."""
    for condition, count in (("a.i = 7", 1), ("a.s = 'x'", 1), ("a.b = TRUE", 3), ("a.small < 0", 2)):
        task = task_of(events, condition)
        assert events.where(by_spark(task, events)).count() == count


ODD = ["it's", 'say "x"', "back\\slash", "${spark.app.name}", "' OR TRUE --", "\n", "", "\u0000", "`", "ß"]


def test_texts_and_names_that_mean_something_in_sql(spark: SparkSession) -> None:
    """They are compared as they are; a name in which Spark would replace something even so, is not mentioned."""
    table = [(number, "A", text) for number, text in enumerate(ODD)]

    def wanted(name: str, text: str) -> str | None:
        query = f"PATTERN SEQ(A a, B b) WHERE a.{quoted(name)} = $text RETURN a.ts AS id"
        task = narrowed(Task(query, "", {"text": text}, Reading(), arrow_schema(frame(name)), "auto", oz.Limits()))
        return wanted_by_spark([plan.query for plan in task.plans], task, frame(name).schema)

    def frame(name: str) -> Any:
        return spark.createDataFrame(
            table, StructType().add("ts", "long").add("type", "string").add(name, "string")
        )

    name = "o`d.d'"
    conditions = [wanted(name, text) for text in ODD]
    flags = frame(name).select(*(f.expr(condition or "").alias(str(n)) for n, condition in enumerate(conditions)))
    kept = [[number for number, row in enumerate(flags.collect()) if row[n]] for n in range(len(ODD))]
    assert kept == [[number] for number in range(len(ODD))]
    assert wanted("${spark.app.name}", "x") is None


def test_strings_that_spark_compares_otherwise(spark: SparkSession) -> None:
    """With a collation 'x' is 'X' to Spark, and a CHAR is padded: those are compared in Python alone."""
    query = "PATTERN SEQ(A a, B b) WHERE a.s != 'X' WITHIN 5 RETURN a.s AS s"
    plain = spark.sql("SELECT * FROM VALUES (1, 'A', 'x'), (2, 'B', 'X') AS t(ts, type, s)")
    assert rows(oz.match(plain, query)) == ['{"s": "x"}']
    for name in ("s", "type"):
        collated = plain.withColumn(name, f.collate(name, "UTF8_LCASE"))
        assert rows(oz.match(collated, query)) == ['{"s": "x"}']
    spark.sql("DROP TABLE IF EXISTS padded")
    spark.sql("CREATE TABLE padded (ts INT, type STRING, s CHAR(3)) USING parquet")
    spark.sql("INSERT INTO padded VALUES (1, 'A', 'x'), (2, 'B', 'X')")
    assert rows(oz.match(spark.table("padded"), query.replace("'X'", "'x'"))) == ['{"s": "x  "}']


def test_zeros_are_one_key(spark: SparkSession, tmp_path: Path) -> None:
    """0.0 and -0.0 are equal, so they go to one task, whoever reads them."""
    keys = [0.0, -0.0, 1.5, 1.5]
    table = pa.table({"ts": [1, 2, 3, 4], "type": ["A", "B", "A", "B"], "k": keys})
    pq.write_table(table, tmp_path / "events.parquet")
    query = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10 RETURN a.ts AS a, b.ts AS b"
    right = rows_of(oz.match(table, query, engine="reference").to_pylist())
    assert len(right) == 2
    for reads_files in (True, False):
        options = oz.SparkOptions(reads_files=reads_files, tasks=7)
        found = oz.match(spark.read.parquet(str(tmp_path / "events.parquet")), query, spark=options)
        assert rows(found) == right
