"""Ctrl-C ends `ouzel run` on Spark soon, with one line, and Spark's processes with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SOON = 5.0
COMMAND = """
import sys
from ouzel.cli import spark
from ouzel.cli.main import main
shown = spark.SparkRun.shown
def said(self, *others):
    print(self.session.sparkContext._gateway.proc.pid, flush=True)
    return shown(self, *others)
spark.SparkRun.shown = said
sys.argv = ["ouzel", "run", *sys.argv[1:], "--runtime", "spark"]
main()
"""
QUERY = """PATTERN SEQ(R a, R b, R c, R d) WHERE [k] AND a.x < b.x AND c.x < b.x AND d.x > a.x + b.x + c.x + 3
    WITHIN 3 hours RETURN a.ts"""


def test_the_command_ends_and_spark_with_it(tmp_path: Path) -> None:
    count = 50_000
    x = np.random.default_rng(1).random(count)
    table = pa.table({"ts": np.arange(count), "type": ["R"] * count, "k": np.arange(count) % 2, "x": x})
    pq.write_table(table, tmp_path / "events.parquet")
    command = [sys.executable, "-c", COMMAND, QUERY, "--events", str(tmp_path / "events.parquet")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        java = int(process.stdout.readline())
        time.sleep(3)  # until its workers are at it
        began = time.perf_counter()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 130
        assert time.perf_counter() - began < SOON
        assert process.stderr.read() == "stopped by Ctrl-C\n"  # read to its end: nobody is left to write
    assert is_gone(java)


def test_a_stream_that_is_starting_ends_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder, events = tmp_path / "tmp", tmp_path / "events"
    folder.mkdir()
    events.mkdir()
    pq.write_table(pa.table({"ts": [1], "type": ["R"], "k": [1], "x": [0.5]}), events / "events.parquet")
    command = [sys.executable, "-m", "ouzel.cli.main", "run", QUERY, "--stream", str(events)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stderr is not None
        while not list(folder.glob("tmp*")):  # in which Java will say where it listens
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(SOON) == 130
        assert process.stderr.read() == b"stopped by Ctrl-C\n"  # read to its end: Java is gone, too
    assert list(folder.iterdir()) == []


def is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    # nobody waits for it: it may be left as a name
    return " Z " in Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
