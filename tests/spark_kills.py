"""Streams in a process of their own, killed and begun again: scripts that write what they found."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from ouzel.runtimes.spark.session import local_session
from spark_events import Events


def write(directory: Path, number: int, rows: Events) -> None:
    directory.mkdir(exist_ok=True)
    path = directory / f"{number:04}.json"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    os.utime(path, (1_000_000_000 + number,) * 2)  # by which Spark orders files


def start(directory: Path, script: Path) -> subprocess.Popen[bytes]:
    """The stream in a process of its own, and those that it starts."""
    paths = [str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(script), str(directory)]
    with (directory / "log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)


def killed_once(directory: Path, script: Path) -> Events:
    """What a stream wrote that was killed after some micro-batches, and then begun again."""
    process = start(directory, script)
    try:
        until = time.monotonic() + 200
        while not (directory / "checkpoint" / "commits" / "2").exists() and time.monotonic() < until:
            assert process.poll() is None, (directory / "log").read_text()
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not (directory / "found.json").exists()
        process = start(directory, script)
        assert process.wait(300) == 0, (directory / "log").read_text()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    found: Events = json.loads((directory / "found.json").read_text())
    return found


# ---- in the process --------------------------------------------------------------------------------------


def small_session() -> SparkSession:
    """Spark in the process of a script."""
    return local_session("local[2]", {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"})


def write_found(directory: Path, matches: DataFrame) -> None:
    """Write what a stream finds in all that there is, and then what it has written."""
    sink = directory / "sink.parquet"
    running = oz.write_stream(matches, sink, checkpoint=directory / "checkpoint", available_now=True)
    running.awaitTermination()
    found = [row.asDict() for row in matches.sparkSession.read.parquet(str(sink)).collect()]
    (directory / "found.json").write_text(json.dumps(found), encoding="utf-8")
