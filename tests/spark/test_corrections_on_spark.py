"""Corrections on Spark: of a batch what is left is matched; of a stream, changes leave what a matcher would."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner

import ouzel as oz
from correction_cases import BETWEEN, Rows, corrected, standing
from ouzel.cli.commands import app
from spark_events import QUERIES, SCHEMA, expected, rows, stream
from spark_feeds import END, Feed
from spark_kills import killed_once, write

WITH_OP = f"{SCHEMA}, op int"
LAST = {**END, "op": 1}


def frame(spark: SparkSession, given: Rows) -> DataFrame:
    return spark.createDataFrame([tuple(row.values()) for row in given], WITH_OP).repartition(3)


def changes(feed: Feed) -> Rows:
    return [row.asDict() for row in feed.found().collect()]


@pytest.mark.parametrize("name", ["keyed", "slices"])
def test_what_is_left_of_a_batch(spark: SparkSession, name: str) -> None:
    given, left = corrected(stream(1, 150, 200), 1, 20)
    for identity in (None, ["eid"]):
        found = oz.match(frame(spark, given), QUERIES[name], op="op", identity=identity)
        assert found.columns == [column for column in found.columns if column not in ("op", "match_id")]
        assert rows(found) == expected(left, QUERIES[name])


def test_malformed_rows_of_a_batch(spark: SparkSession) -> None:
    event = stream(1, 1, 9)[0] | {"type": "A", "k": 1}
    given = [{**event, "op": op} for op in (1, -1, -1, 0, None)] + [{**event, "ts": None, "op": 1}]
    query = "PATTERN A a WHERE a.k = 1 RETURN a.eid"
    with pytest.raises(PySparkException, match="column 'op': "):
        oz.match(frame(spark, given), query, op="op").collect()
    report = oz.Report()
    assert oz.match(frame(spark, given), query, op="op", on_bad="quarantine", report=report).collect() == []
    said = "required +1, to insert the event, or -1, to withdraw it; got "
    assert sorted(row.problem for row in report.quarantined.collect()) == [
        "column 'op': it withdraws an event that is not there",
        f"column 'op': {said}0",
        f"column 'op': {said}null",
        "column 'ts': the event has no time",
    ]


def test_speculation_in_a_batch_and_wrong_columns(spark: SparkSession, feed: Feed) -> None:
    given = frame(spark, [LAST])
    with pytest.raises(oz.OuzelError, match="speculation='inf' is not to be had where all events are there"):
        oz.match(given, BETWEEN, op="op", speculation="inf")
    with pytest.raises(oz.SchemaError, match="op: required a column of the schema; there is no 'up'"):
        oz.match(given, BETWEEN, op="up")
    feed.add([END])
    with pytest.raises(oz.SchemaError, match="op: required a column of the schema; there is no 'op'"):
        oz.match(feed.read(), BETWEEN, op="op")


@pytest.mark.parametrize("speculation", [0, 16, "inf"])
def test_a_stream_stopped_and_begun_again(feed: Feed, speculation: Any) -> None:
    feed.schema = WITH_OP
    given, left = corrected(stream(2, 120, 150), 2, 20)
    how: dict[str, Any] = {"op": "op", "identity": ["eid", "k"], "speculation": speculation, "watermark": 20}
    cuts = [given[begin : begin + 40] for begin in range(0, len(given), 40)]
    feed.add(*cuts[:2])
    inserted, metrics = feed.run(BETWEEN, **how)["matches"], feed.metrics
    early = changes(feed)
    feed.add(*cuts[2:], [LAST])
    inserted += feed.run(BETWEEN, **how)["matches"]
    found = changes(feed)
    assert standing(found) == expected(left, BETWEEN)
    assert inserted == sum(row["op"] == 1 for row in found)
    assert sum(one["withdrawn"] for one in metrics + feed.metrics) == sum(row["op"] == -1 for row in found)
    assert any(row["op"] == -1 for row in found) or speculation != "inf"
    assert all(row["op"] == 1 for row in found) or speculation != 0
    assert speculation != "inf" or early
    assert len({row["match_id"] >> 49 for row in found}) > 1


def test_several_queries(feed: Feed) -> None:
    feed.schema = WITH_OP
    given, left = corrected(stream(4, 80, 100), 4, 10)
    feed.add(given[:60], given[60:], [LAST])
    feed.run(f"QUERY p {BETWEEN} QUERY q {QUERIES['keyed']}", op="op", speculation="inf", watermark=10)
    found = changes(feed)
    for name, query in (("p", BETWEEN), ("q", QUERIES["keyed"])):
        own = [row[name].asDict() for row in found if row["query"] == name]
        assert standing(own) == expected(left, query)


def test_killed_and_begun_again(tmp_path: Path) -> None:
    given, left = corrected(stream(6, 900, 240), 6, 10)
    size = -(-len(given) // 9)
    for number in range(9):
        write(tmp_path / "events", number, given[number * size : (number + 1) * size])
    write(tmp_path / "events", 9, [LAST])
    found = killed_once(tmp_path, Path(__file__).parent / "corrections_script.py")
    # four files bring withdrawals; after a kill Spark may take two files at once
    assert any(row["op"] == -1 for row in found)
    assert standing(found) == expected(left, BETWEEN)


def test_the_command_line(feed: Feed) -> None:
    given, left = corrected(stream(6, 80, 100), 6, 10)
    feed.add(given, [LAST])
    arguments = ["run", BETWEEN, "--stream", str(feed.source), "--schema", WITH_OP, "--watermark", "10"]
    arguments += ["--op", "op", "--identity", "eid,k", "--speculation", "inf", "--available-now"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert standing(list(map(json.loads, result.stdout.splitlines()))) == expected(left, BETWEEN)
    assert "withdrawn" in result.stderr or '"op":-1' not in result.stdout
    refused = CliRunner().invoke(app, ["run", BETWEEN, "--events", "x.csv", "--speculation", "5"])
    assert (refused.exit_code, "is for --stream" in refused.output) == (2, True)
