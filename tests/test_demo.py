from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import ouzel as oz
from ouzel.cli.main import main
from ouzel.testing.retail import retail_readings

READINGS = 20_000
WEEK = retail_readings(READINGS)


def shell(command: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as a user would type it: the installed script, nothing on stdin, no terminal."""
    bin_path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    colourless = {k: v for k, v in os.environ.items() if k not in {"FORCE_COLOR", "GITHUB_ACTIONS"}}
    return subprocess.run(
        ["bash", "-euc", command],
        cwd=path,
        env={**colourless, "PATH": bin_path, "COLUMNS": "80", "PYTHONWARNINGS": "error"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop")


@pytest.fixture(scope="module")
def shown(shop: Path) -> str:
    result = shell(f"ouzel demo --readings {READINGS}", shop)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_the_demo_shows_what_it_finds(shown: str) -> None:
    assert f"{READINGS:,}, in demo/retail.parquet" in shown
    for keyword in ("PATTERN SEQ(Shelf a, !(Register b), Exit c)", "WITHIN  12 hours", "WITHIN  1 hour"):
        assert keyword in shown
    assert "the first 20 of" in shown
    assert len(re.findall(r"20,000 events in \d+\.\d s: [\d,]+ events/s", shown)) == 2


def test_the_demo_finds_exactly_the_stolen_and_the_misplaced_items(shown: str, shop: Path) -> None:
    assert "20 items: exactly those that were stolen." in shown
    assert "12 items: exactly those that were misplaced." in shown
    stolen, misplaced = re.split("exactly those that were stolen", shown)
    assert {int(tag) for tag in re.findall(r"^ *(\d{7}) ", stolen, re.M)} <= set(WEEK.stolen)
    assert {int(tag) for tag in re.findall(r"^ *(\d{7}) ", misplaced, re.M)} == set(WEEK.misplaced)
    readings = pq.read_table(shop / "demo/retail.parquet")
    assert readings == WEEK.readings
    for name, injected in (("shoplifting", WEEK.stolen), ("misplaced", WEEK.misplaced)):
        found = oz.match(readings, (shop / f"demo/{name}.ozl").read_text())
        assert set(found.column("tag_id").to_pylist()) == set(injected)


def test_what_the_demo_suggests_runs(shown: str, shop: Path) -> None:
    commands = re.findall(r"^  (ouzel .*)$", shown, re.M)
    assert [command.split()[1] for command in commands] == ["run", "explain", "run"]
    result = shell("\n".join(commands), shop)
    assert result.returncode == 0, result.stderr
    assert (shop / "thefts.csv").exists()


def test_the_examples_in_the_help_run(shown: str, shop: Path) -> None:
    text = re.sub(" +$", "", shell("ouzel --help", shop).stdout, flags=re.M)
    assert "PATTERN SEQ(Shelf a, !(Register b), Exit c)" in text
    examples = re.search(r"Examples.*?:\n(.*)Exit codes:\n", text, re.DOTALL)
    assert examples is not None
    assert examples[1].count("\n   ouzel ") == 3
    assert all(f" {code}  " in text[examples.end() :] for code in (0, 1, 2, 3, 4, 5, 130, 141))
    result = shell(examples[1], shop)
    assert result.returncode == 0, result.stderr
    assert '"readings": 3' in result.stdout


def test_edited_queries_are_kept_and_the_data_is_made_anew(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "a shop").mkdir()
    edited = tmp_path / "a shop" / "misplaced.ozl"
    edited.write_text("PATTERN Exit a")
    result = shell("ouzel demo --readings 320 --seed 3 --dir 'a shop'", tmp_path)
    assert "ouzel explain 'a shop/misplaced.ozl' --events 'a shop/retail.parquet'" in result.stdout
    assert edited.read_text() == "PATTERN Exit a"
    assert pq.read_table(tmp_path / "a shop" / "retail.parquet") == retail_readings(320, seed=3).readings


def test_a_full_disk_leaves_the_readings_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(table: Any, to: Any, **_options: Any) -> None:
        Path(to).write_text("half")
        raise OSError(28, "No space left on device")

    readings = tmp_path / "retail.parquet"
    readings.write_text("from before")
    monkeypatch.setattr(pq, "write_table", fails)
    with pytest.raises(SystemExit) as end:
        main(["demo", "--readings", "2000", "--dir", str(tmp_path)])
    assert (end.value.code, capsys.readouterr().err) == (5, f"error: {readings}: No space left on device\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("retail.parquet", "from before")]


def test_too_few_readings(tmp_path: Path) -> None:
    result = shell("ouzel demo --readings 10", tmp_path)
    assert result.returncode == 2
    assert "require at least 320 readings; got 10" in re.sub(r"\W*\n\W*", " ", result.stderr)
    assert not (tmp_path / "demo").exists()


def test_a_terminal_gets_tables_and_a_progress_bar(shown: str, shop: Path) -> None:
    spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)"
    result = shell(f"python -c '{spawn}' ouzel run demo/misplaced.ozl --events demo/retail.parquet", shop)
    assert result.returncode == 0
    assert "12 matches" in result.stdout
    assert "matching" in result.stdout
    assert "of 20,000 events" in result.stdout


def test_a_reader_that_goes_away_is_no_error(shown: str, shop: Path) -> None:
    result = shell("ouzel run demo/misplaced.ozl --events demo/retail.parquet | true; echo ${PIPESTATUS[0]}", shop)
    assert (result.stdout, result.stderr) == ("141\n", "")
