"""Parquet files as pandas writes them, with times in nanoseconds, which Spark does not have."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import ouzel as oz
from ouzel.cli.commands import app
from ouzel.runtimes.spark.nanoseconds import AS_LONG, read_parquet

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 1 minute RETURN a.ts AS a, b.local AS b"
SECOND = 10**9


@pytest.fixture(autouse=True)
def setting(spark: SparkSession) -> Iterator[None]:
    before = str(spark.conf.get(AS_LONG))
    spark.conf.set(AS_LONG, "false")
    yield
    spark.conf.set(AS_LONG, before)


def write(path: Path, *ticks: int) -> Path:
    """A, B, A, B, … with times as pandas has them, in a zone and without."""
    frame = pd.DataFrame({"type": ["AB"[n % 2] for n in range(len(ticks))], "k": 1})
    frame["ts"] = pd.to_datetime(list(ticks), utc=True)
    frame["local"] = pd.to_datetime(list(ticks))
    frame.to_parquet(path)
    assert pq.read_schema(path).field("ts").type == pa.timestamp("ns", "UTC")
    return path


def test_the_command_reads_them(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "events.parquet", -3 * SECOND, -1 * SECOND)
    result = CliRunner().invoke(app, ["run", QUERY, "--events", str(path), "--runtime", "spark"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"a": "1969-12-31T23:59:57.000000Z", "b": "1969-12-31T23:59:59.000000"}
    assert "warning" not in result.stderr


def test_what_is_cut_is_told(spark: SparkSession, tmp_path: Path) -> None:
    path = write(tmp_path / "events.parquet", -1999, 1_700_000_000_123_456_789)
    with pytest.warns(
        oz.OuzelWarning, match=r"times in nanoseconds \(ts, local\) are cut to microseconds"
    ) as warned:
        table = read_parquet(spark, str(path))
    assert [Path(one.filename).name for one in warned] == [Path(__file__).name], "the place is that of the caller"
    assert table.schema.simpleString() == "struct<type:string,k:bigint,ts:timestamp,local:timestamp_ntz>"
    found = table.selectExpr("unix_micros(ts) AS ts", "cast(local AS string) AS local").collect()
    assert [row.ts for row in found] == [-2, 1_700_000_000_123_456]
    assert [row.local for row in found] == ["1969-12-31 23:59:59.999998", "2023-11-14 22:13:20.123456"]


def test_a_stream_reads_them(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write(source / "events.parquet", 3 * SECOND, 4 * SECOND, 9000 * SECOND)
    events = oz.read_stream(source)
    matches = oz.match(events, QUERY, spark=oz.SparkOptions(buckets=2))
    running = oz.write_stream(
        matches, tmp_path / "found.jsonl", checkpoint=tmp_path / "checkpoint", available_now=True
    )
    assert running.awaitTermination(120)
    [row] = spark.read.json(str(tmp_path / "found.jsonl")).collect()
    assert row.a.startswith("1970-01-01T00:00:03")
    assert row.b.startswith("1970-01-01T00:00:04")


def test_where_the_files_cannot_be_looked_at(spark: SparkSession, tmp_path: Path) -> None:
    """As on another file system; here, as times inside of structs."""
    inside = pa.array([{"ts": 1}], pa.struct({"ts": pa.timestamp("ns")}))
    pq.write_table(pa.table({"s": inside}), tmp_path / "events.parquet")
    with pytest.raises(oz.SchemaError, match="required times in microseconds, as Spark has them; got nanoseconds"):
        read_parquet(spark, str(tmp_path / "events.parquet"))
