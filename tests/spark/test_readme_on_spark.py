"""The README's quick start on Spark is a copy and paste that works, batch and streaming."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from ouzel.cli.commands import app

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_quick_start(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    demo = CliRunner().invoke(app, ["demo", "--readings", "20000", "--runtime", "spark"])
    assert demo.exit_code == 0, demo.output
    assert demo.output.count("exactly those that were") == 2
    blocks = re.findall(r"^```py\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, Any] = {}
    for block in blocks:
        # Java does not follow Python to another directory
        block = block.replace('"demo', f'"{tmp_path}/demo')  # noqa: PLW2901
        exec(compile(block, "README.md", "exec"), names)  # noqa: S102 - our own README
    shown = capsys.readouterr().out
    assert len(re.findall(r"\| *tag_id\|", shown)) == 2
    in_batch = {row["tag_id"] for row in names["oz"].match(names["readings"], names["stolen"]).collect()}
    assert in_batch
    # what ends within the watermark of the latest reading is not final yet
    assert {row["tag_id"] for row in spark.read.parquet(f"{tmp_path}/demo-thefts").collect()} <= in_batch
