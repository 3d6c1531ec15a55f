"""`ouzel run` on Spark: files and tables in, files or rows out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import ouzel as oz
from ouzel.cli.commands import app

QUERY = "PATTERN SEQ(Shelf a, Exit c) WHERE [tag] WITHIN 10 RETURN a.tag, c.ts AS left_at"
ROWS = [(1, "Shelf", 1), (2, "Shelf", 2), (3, "Exit", 2), (30, "Exit", 1)]


@pytest.fixture
def readings(spark: SparkSession, tmp_path: Path) -> Path:
    path = tmp_path / "readings.parquet"
    spark.createDataFrame(ROWS, "ts long, type string, tag long").write.parquet(str(path))
    return path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["run", QUERY, *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_rows_to_stdout(readings: Path) -> None:
    assert json.loads(run("--events", str(readings), "--runtime", "spark")) == {"tag": 2, "left_at": 3}


def test_a_table_of_the_catalog(spark: SparkSession, readings: Path) -> None:
    spark.read.parquet(str(readings)).write.mode("overwrite").saveAsTable("default.readings")
    assert json.loads(run("--events", "default.readings")) == {"tag": 2, "left_at": 3}


def test_files_to_files(spark: SparkSession, readings: Path, tmp_path: Path) -> None:
    csv = tmp_path / "readings.csv"
    csv.write_text("ts,type,tag\n" + "\n".join(",".join(map(str, row)) for row in ROWS) + "\n", encoding="utf-8")
    to = tmp_path / "thefts.parquet"
    run("--events", str(csv), "--runtime", "spark", "--to", str(to))
    assert [row.asDict() for row in spark.read.parquet(str(to)).collect()] == [{"tag": 2, "left_at": 3}]


def test_one_file_per_type(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("Shelf", "Exit"):
        own = [(ts, tag) for ts, kind, tag in ROWS if kind == name]
        spark.createDataFrame(own, "ts long, tag long").write.json(str(tmp_path / f"{name}.jsonl"))
    events = [f"--events={name}={tmp_path / name}.jsonl" for name in ("Shelf", "Exit")]
    assert json.loads(run(*events, "--runtime", "spark")) == {"tag": 2, "left_at": 3}


@pytest.mark.parametrize("by_type", [False, True])
def test_events_that_last(spark: SparkSession, tmp_path: Path, by_type: bool) -> None:
    calls = {"Call": ["1,3,Call,1"], "Ring": ["2,4,Ring,2", "4,9,Ring,3", "5,7,Ring,4"]}
    for name, rows in calls.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["start,end,type,id", *rows]), encoding="utf-8")
    following = oz.stream("Call").select("id").next(oz.stream("Ring").select("id").rename(ring="id"))
    (tmp_path / "next.ozl").write_text(oz.query(following).text, encoding="utf-8")
    files = [f"--events={f'{name}=' if by_type else ''}{tmp_path / name}.csv" for name in calls]
    options = [*files, "--runtime", "spark", "--time", "start,end", "--format", "json"]
    result = CliRunner().invoke(app, ["run", str(tmp_path / "next.ozl"), *options])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"id": 1, "ring": 4, "start": 1, "end": 7}


def test_malformed_events_go_to_a_file(spark: SparkSession, readings: Path, tmp_path: Path) -> None:
    spark.createDataFrame([(None, "Shelf", 3)], "ts long, type string, tag long").write.mode("append").parquet(
        str(readings)
    )
    arguments = ["run", QUERY, "--events", str(readings), "--runtime", "spark", "--format", "json"]
    result = CliRunner().invoke(app, [*arguments, "--quarantine", str(tmp_path / "bad.jsonl")])
    assert json.loads(result.stdout) == {"tag": 2, "left_at": 3}
    assert f"; 1 malformed event set aside to {tmp_path / 'bad.jsonl'}" in result.stderr
    [aside] = spark.read.json(str(tmp_path / "bad.jsonl")).collect()
    assert aside.asDict() == {"type": "Shelf", "tag": 3, "problem": "column 'ts': the event has no time"}
    result = CliRunner().invoke(app, [*arguments, "--on-bad", "quarantine"])
    assert "; 1 malformed event set aside (--quarantine PATH keeps them)" in result.stderr


def test_patterns_several_files_encodings_and_delimiters(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(2):
        lines = [";".join(map(str, row)) for row in ROWS[2 * number : 2 * number + 2]]
        text = "\n".join(["ts;type;tag;näme", *(f"{line};Müller" for line in lines)]) + "\n"
        (tmp_path / f"part{number}.csv").write_text(text, encoding="latin-1")
    options = ["--runtime", "spark", "--delimiter", ";", "--encoding", "latin-1"]
    query = QUERY.replace("RETURN", "RETURN a.`näme` AS name,")
    for events in ([f"{tmp_path}/part*.csv"], [f"{tmp_path}/part0.csv", f"{tmp_path}/part1.csv"]):
        named = [option for one in events for option in ("--events", one)]
        result = CliRunner().invoke(app, ["run", query, *named, *options])
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout) == {"name": "Müller", "tag": 2, "left_at": 3}


def test_what_spark_cannot_read(readings: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["run", QUERY, "--events", "-", "--runtime", "spark"])
    assert (result.exit_code, "is stdin, which Spark cannot read" in result.output) == (2, True)
    (tmp_path / "other.csv").write_text("ts,type\n1,Shelf\n", encoding="utf-8")
    events = ["--events", str(readings), "--events", str(tmp_path / "other.csv")]
    with pytest.raises(
        oz.SchemaError, match=r"other.csv': required the columns of '.*readings.parquet'; got ts, type"
    ):
        CliRunner().invoke(app, ["run", QUERY, *events, "--runtime", "spark"], catch_exceptions=False)
    encoded = ["--events", str(tmp_path / "other.csv"), "--runtime", "spark", "--encoding", "cp1252"]
    result = CliRunner().invoke(app, ["run", QUERY, *encoded])
    assert (result.exit_code, "on Spark, required one of utf-8" in result.output) == (2, True)
    by_rows = ["--events", str(readings), "--runtime", "spark", "--order", "arrival"]
    result = CliRunner().invoke(app, ["run", QUERY, *by_rows])
    assert "'arrival' is not to be had on Spark" in str(result.exception)


def test_times_that_look_like_seconds(spark: SparkSession) -> None:
    rows = [(1_700_000_000 + ts, kind, tag) for ts, kind, tag in ROWS]
    events = spark.createDataFrame(rows, "ts long, type string, tag long")
    with pytest.warns(oz.OuzelWarning, match="they look like seconds"):
        oz.match(events, "PATTERN SEQ(Shelf a, Exit c) WITHIN 10 RETURN a.tag")


def test_files_that_are_not_there_are_told_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ouzel.cli.spark.local_session", lambda master: pytest.fail("started"))
    (tmp_path / "none").mkdir()
    for path, problem in (("nowhere.parquet", "No such file or directory"), ("none", "required files of events")):
        result = CliRunner().invoke(app, ["run", QUERY, "--events", str(tmp_path / path), "--runtime", "spark"])
        assert problem in str(result.exception)
        assert str(tmp_path / path) in str(result.exception)
