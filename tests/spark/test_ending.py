"""Java is ended also where PySpark does not know its process yet."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
from pyspark import java_gateway

from ouzel.runtimes.spark import ending
from ouzel.runtimes.spark.ending import at_end, end_at_once, starting_java


@pytest.fixture(autouse=True)
def nothing_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """The session that tests share is not to be ended."""
    monkeypatch.setattr(ending, "_processes", [])
    monkeypatch.setattr(ending, "_tidying", [])


def started() -> subprocess.Popen[bytes]:
    process: subprocess.Popen[bytes] = vars(java_gateway)["Popen"](["sleep", "60"])
    return process


def test_an_interrupted_start() -> None:
    before: Any = vars(java_gateway)["Popen"]
    processes = []

    def interrupted() -> None:
        with starting_java():
            processes.append(started())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert processes[0].wait(10) != 0
    assert vars(java_gateway)["Popen"] is before


def test_the_end_at_once() -> None:
    done: list[str] = []
    at_end(lambda: done.append("tidied"))
    with starting_java():
        process = started()
    end_at_once()
    assert process.wait(10) != 0
    assert done == ["tidied"]
