"""`ouzel bench spark` runs in a tiny form, and its contenders find the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ouzel.bench import spark_batch, spark_stream
from ouzel.bench.experiments import EXPERIMENTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_all_rows(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_stream, "FULL", 3)
    monkeypatch.setattr(spark_stream, "EMPTY", 2)
    monkeypatch.setattr(spark_stream, "WARM_UP", 1)
    monkeypatch.setattr(spark_stream, "SOAK", 8)
    monkeypatch.setattr(spark_batch, "FILES", 2)
    monkeypatch.setattr(spark_batch, "QUERIES", 3)
    rows = {(row.varied, row.series): row.figures for row in EXPERIMENTS["spark"].run(40_000, 1)}
    several = ["identity", "Ouzel", "Ouzel, workers read", "Spark SQL"]
    expected = [
        (one, series)
        for series in ("identity", "identity, 3 columns", "Ouzel")
        for one in ("stream", "empty batches")
    ]
    expected += [(f"batch {number}", "Ouzel") for number in (2, 4, 8)]
    expected += [(share, series) for share in ("all relevant", "15% relevant") for series in several]
    expected += [("100 keys", "Ouzel"), ("100,000 keys", "Ouzel")]
    expected += [("3 queries", "bare DataFrames"), ("3 queries", "Ouzel")]
    assert list(rows) == expected
    assert rows["all relevant", "Ouzel"]["matches"] > 0
    assert all(figures["seconds"] > 0 for figures in rows.values())
    assert all(figures["state MB"] > 0 for figures in rows.values() if "state MB" in figures)
