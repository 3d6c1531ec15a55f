"""What a session that Ouzel starts is like, and what is refused."""

from __future__ import annotations

import os
import sys

import pytest
from pyspark.sql import SparkSession

from ouzel.errors import OuzelError
from ouzel.runtimes.spark import session
from ouzel.runtimes.spark.session import STATE_SETTINGS, driver_memory, local_session, session_settings


def test_a_second_session_elsewhere_is_refused(spark: SparkSession) -> None:
    with pytest.raises(OuzelError) as caught:
        local_session("spark://127.0.0.1:7077")
    assert str(caught.value).splitlines() == [
        "cannot start a Spark session at 'spark://127.0.0.1:7077': there is one at 'local[2]'",
        "  required: one session for each process",
        "  hint: stop it first, or leave out the master to use it",
    ]


def test_without_spark_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(OuzelError) as caught:
        local_session()
    assert str(caught.value).splitlines() == [
        "Spark is not installed",
        "  required: PySpark 4.3 or newer",
        "  hint: pip install 'ouzel[spark]'",
    ]


@pytest.mark.parametrize("master", ["local", "local[4]", "spark://127.0.0.1:7077", "spark://localhost:1"])
def test_what_runs_on_this_machine_is_on_loopback(master: str) -> None:
    assert session_settings(master)["spark.driver.bindAddress"] == "127.0.0.1"


def test_executors_elsewhere_can_reach_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    master = "spark://spark.example:7077"
    assert not [
        name for name in session_settings(master) if name.startswith(("spark.driver.bind", "spark.driver.host"))
    ]
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    with session._environment(master):
        assert os.environ["PYSPARK_PYTHON"] == "/opt/python"
        assert "SPARK_LOCAL_IP" not in os.environ
    with session._environment("local[*]"):
        assert os.environ["PYSPARK_PYTHON"] == sys.executable
    assert os.environ["PYSPARK_PYTHON"] == "/opt/python"


def test_state_settings_are_known_to_spark(spark: SparkSession) -> None:
    assert {name: spark.conf.get(name) for name in STATE_SETTINGS} == STATE_SETTINGS


def test_the_driver_gets_a_share_of_the_memory() -> None:
    assert 1 <= driver_memory() <= 8
