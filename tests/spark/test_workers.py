"""A session whose workers cannot run Ouzel, or whose streams cannot keep state, is refused at `match`."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ouzel as oz
from ouzel.runtimes.spark import workers
from ouzel.runtimes.spark.workers import ROCKSDB, STATE_STORE
from spark_feeds import Feed

QUERY = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 10"
HIDDEN = """\
import sys
class Hidden:
    def find_spec(self, name, *_):
        if name == "ouzel":
            raise ModuleNotFoundError("No module named 'ouzel'", name="ouzel")
sys.meta_path.insert(0, Hidden())
"""
OLDER = """\
import sys, types
sys.modules["ouzel"] = types.ModuleType("ouzel")
sys.modules["ouzel"].__version__ = "0.0.1"
"""
OTHER_PYTHON = """\
import collections, sys
fields = collections.namedtuple("version_info", "major minor micro releaselevel serial")
sys.version_info = fields(3, 8, *sys.version_info[2:])
"""
NO_ARROW = HIDDEN.replace("ouzel", "pyarrow")


@pytest.fixture
def users_session(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """The shared session, as if a user had made it."""
    monkeypatch.setattr(workers, "_fit", set())
    monkeypatch.setattr(spark.sparkContext, "pythonExec", spark.sparkContext.pythonExec)
    return spark


def python_with(directory: Path, customised: str) -> str:
    """A Python in which something is otherwise than here."""
    (directory / "sitecustomize.py").write_text(customised, encoding="utf-8")
    script = directory / "python"
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="{directory}{os.pathsep}$PYTHONPATH" exec "{sys.executable}" "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return str(script)


def refusal(session: SparkSession, python: str) -> list[str]:
    session.sparkContext.pythonExec = python
    events = session.createDataFrame([(1, "A", 1)], "ts long, type string, k long")
    with pytest.raises(oz.OuzelError, match="the workers of this Spark session cannot run Ouzel") as caught:
        oz.match(events, QUERY)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(
    ("customised", "said"),
    [
        (HIDDEN, f"their Python ({sys.executable}) has no Ouzel: No module named 'ouzel'"),
        (OLDER, f"their Python ({sys.executable}) has Ouzel 0.0.1, and here it is {oz.__version__}"),
        (OTHER_PYTHON, "3.8"),
        (NO_ARROW, "No module named 'pyarrow'"),
    ],
    ids=["no Ouzel", "another Ouzel", "another Python", "no PyArrow"],
)
def test_workers_that_cannot_run_ouzel(
    users_session: SparkSession, tmp_path: Path, customised: str, said: str
) -> None:
    first, required, *hint = refusal(users_session, python_with(tmp_path, customised))
    assert said in first
    python = ".".join(platform.python_version_tuple()[:2])
    assert required == f"  required: Python {python} with Ouzel {oz.__version__} in every worker"
    assert "set PYSPARK_PYTHON in the environment to such a Python" in hint[0]
    assert "spark.pyspark.python), or send one along with spark.archives" in hint[2]


def test_workers_without_any_python(users_session: SparkSession, tmp_path: Path) -> None:
    [first, *_] = refusal(users_session, str(tmp_path / "nowhere"))
    assert str(tmp_path / "nowhere") in first


def test_workers_are_asked_once(users_session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    ask = workers._ask

    def counted(session: SparkSession) -> tuple[str, str, str]:
        asked.append(session)
        return ask(session)

    monkeypatch.setattr(workers, "_ask", counted)
    events = users_session.createDataFrame([(1, "A", 1)], "ts long, type string, k long")
    for _ in range(2):
        oz.match(events, QUERY)
    assert len(asked) == 1


def test_a_state_store_that_cannot_serve(feed: Feed) -> None:
    provider = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    feed.spark.conf.set(STATE_STORE, provider)
    try:
        with pytest.raises(oz.OuzelError) as caught:
            oz.match(feed.read(), QUERY)
    finally:
        feed.spark.conf.set(STATE_STORE, ROCKSDB)
    assert str(caught.value).splitlines() == [
        "this Spark session keeps the state of streams in memory (HDFSBackedStateStoreProvider)",
        "  required: RocksDB",
        "  hint: spark.conf.set('spark.sql.streaming.stateStore.providerClass',",
        "                       'org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider'),",
        "        or begin with oz.spark_session(), which sets it",
    ]
