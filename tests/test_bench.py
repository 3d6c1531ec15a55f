"""`ouzel bench` runs, checks its peer's matches, and writes its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ouzel.bench.experiments import EXPERIMENTS
from ouzel.bench.peers import duckdb_join
from ouzel.cli.main import app
from ouzel.testing.papers import sase_stream, stock_stream


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_finds_matches(name: str) -> None:
    run, _events = EXPERIMENTS[name]
    rows = list(run(3_000, 1))
    assert len(rows) >= 3
    assert all(row.seconds > 0 for row in rows)


def test_the_table_and_the_figures(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    result = CliRunner().invoke(app, ["bench", "sase-1", "--quick", "--runs", "1", "--json", str(figures)])
    assert result.exit_code == 0, result.output
    assert "domain 1,000" in result.output
    rows = json.loads(figures.read_text(encoding="utf-8"))["sase-1"]
    assert [row["varied"] for row in rows] == ["domain 100", "domain 1,000", "domain 10,000"]
    assert rows[0]["matches"] > rows[1]["matches"] > 0
    assert rows[0]["peer"] > 0


def test_the_peer_finds_the_same_sequences_of_other_lengths() -> None:
    import ouzel as oz
    from ouzel.bench.experiments import sequence

    stream = sase_stream(4_000, domain=5, types=6)
    for length in (2, 3, 4):
        peer = duckdb_join(stream, length, 60, 1)
        assert peer is not None
        assert peer[0] == oz.match(stream, sequence(length, 60)).num_rows > 0


def test_streams_are_seeded() -> None:
    assert sase_stream(100).equals(sase_stream(100))
    assert not stock_stream(100, seed=1).equals(stock_stream(100, seed=2))
    assert set(stock_stream(1000)["symbol"].to_pylist()) == {1, 2}


def test_an_unknown_experiment() -> None:
    result = CliRunner().invoke(app, ["bench", "sase-99"])
    assert result.exit_code == 2
