"""A stream whose rules change, killed and begun again: each rule finds what it finds alone in its time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

from rule_cases import FIRST, Rows, alone, changes
from spark_events import EVENT_TYPES, rows_of, stream
from spark_feeds import END, in_batches

SCRIPT = Path(__file__).parent / "rules_script.py"


def write(directory: Path, number: int, rows: Rows) -> None:
    directory.mkdir(exist_ok=True)
    path = directory / f"{number:04}.json"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    os.utime(path, (1_000_000_000 + number,) * 2)  # by which Spark orders files


def start(directory: Path) -> subprocess.Popen[bytes]:
    """The stream in a process of its own, and those that it starts."""
    paths = [str(SCRIPT.parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(SCRIPT), str(directory)]
    with (directory / "log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def test_killed_and_begun_again(tmp_path: Path) -> None:
    events, rules = stream(44, 200, 240), changes(44, 12, 240)
    batches = [*in_batches(events, *[30] * 6, disorder=10), [END]]
    edges = [-1, *(max(event["ts"] for event in batch) - 10 for batch in batches[:-2]), 10**6]
    for number, batch in enumerate(batches):
        write(tmp_path / "events", number, batch)
    for number, (begin, end) in enumerate(pairwise(edges)):
        write(tmp_path / "rules", number, [rule for rule in rules if begin < rule["valid_from"] <= end])
    process = start(tmp_path)
    try:
        until = time.monotonic() + 200
        while not (tmp_path / "checkpoint" / "commits" / "2").exists() and time.monotonic() < until:
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "found.json").exists()
        process = start(tmp_path)
        assert process.wait(300) == 0, (tmp_path / "log").read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    found = json.loads((tmp_path / "found.json").read_text())
    expected = alone(events, [*FIRST, *rules], types=EVENT_TYPES)
    assert expected
    assert rows_of(found) == expected
