"""A type that no event has is warned of on Spark too, where it costs little to look."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import ouzel as oz
from ouzel.cli.commands import app
from ouzel.runtimes.spark import types_there

ROWS = [(1, "Shelf", 1), (2, "Exit", 1)]
QUERY = "PATTERN SEQ(Shlef a, Exit b) WHERE [tag] WITHIN 10 RETURN a.tag"
MESSAGE = "no event has the type 'Shlef'; did you mean 'Shelf'?"


@pytest.fixture
def readings(spark: SparkSession, tmp_path: Path) -> Path:
    path = tmp_path / "readings.parquet"
    spark.createDataFrame(ROWS, "ts long, type string, tag long").coalesce(1).write.parquet(str(path))
    return path


def test_match_and_explain_say_it(spark: SparkSession, readings: Path) -> None:
    events = spark.read.parquet(str(readings))
    for table in (events, events.where("ts > 0"), events.select("ts", "type", "tag")):
        with pytest.warns(oz.OuzelWarning) as told:
            oz.match(table, QUERY)
        assert [str(one.message) for one in told] == [MESSAGE]
        assert told[0].filename == __file__
    with pytest.warns(oz.OuzelWarning, match="no event has the type 'Shlef'"):
        oz.query(QUERY).explain(events)
    with pytest.raises(oz.QueryError, match="INTO 'Exit', which is a type of the input already"):
        oz.match(events, "PATTERN SEQ(Shelf a, Shelf b) WITHIN 10 RETURN a.tag INTO Exit")


def silent(events: Any, query: str = QUERY, **options: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", oz.OuzelWarning)
        oz.match(events, query, **options)


def test_what_is_not_said(spark: SparkSession, readings: Path) -> None:
    events = spark.read.parquet(str(readings))
    silent(events, QUERY.replace("Shlef", "Shelf"))
    silent(events, types={"Shlef": ["tag"], "Shelf": ["tag"], "Exit": ["tag"]})
    silent(events.where("ts > 5"))  # no events at all
    silent(events.sort("ts").limit(2))  # to look would be to sort twice
    silent(spark.createDataFrame(ROWS, "ts long, type string, tag long"))


def test_many_events(spark: SparkSession, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(types_there, "SMALL", 1)
    events = spark.read.parquet(str(readings))
    silent(events)
    with pytest.warns(oz.OuzelWarning, match="no event has the type 'Shlef'"):
        oz.match(events, QUERY, spark=oz.SparkOptions(looks_at_types=True))
    events.write.json(str(tmp_path / "rows"))
    silent(spark.read.json(str(tmp_path / "rows")), spark=oz.SparkOptions(looks_at_types=True))
    with pytest.warns(oz.OuzelWarning, match="no event has the type 'Shlef'"):
        CliRunner().invoke(app, ["run", QUERY, "--events", str(readings), "--runtime", "spark"])
