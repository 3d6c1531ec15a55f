"""Spark for tests: a shared session, a cluster, Spark Connect, Kafka; each starts when a test first asks for it.

All Spark tests run in one process (`tests/conftest.py` sees to that).  Their modules can be imported in Spark's
Python workers, so a function may stand where its test does.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.connectors import avro_jars, kafka_jars
from ouzel.runtimes.spark.session import local_session
from ouzel.testing.clusters import QUICK_SETTINGS, connect_server, standalone_cluster
from ouzel.testing.kafka import BROKER, kafka_broker
from ouzel.testing.processes import QUICK_START
from spark_feeds import Feed

HERE = Path(__file__).parent


@pytest.fixture(scope="session", autouse=True)
def one_process(tmp_path_factory: pytest.TempPathFactory) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        taken = tmp_path_factory.getbasetemp().parent / "spark-worker"  # a directory that xdist's processes share
        with suppress(FileExistsError), taken.open("x") as file:
            file.write(worker)
        assert taken.read_text() == worker, "all Spark tests run in one process: see tests/conftest.py"


@pytest.fixture(scope="session", autouse=True)
def quick_java() -> Iterator[None]:
    """Every Java that a test starts, in whichever process, is there soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", QUICK_START)
        yield


@pytest.fixture(scope="session")
def importable_tests() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HERE), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def kafka_packages(request: pytest.FixtureRequest) -> list[Path] | OuzelError:
    """The jars for Kafka and Avro, if a test of this run asks for Kafka and they can be had; else why not."""
    if not any("kafka" in getattr(item, "fixturenames", ()) for item in request.session.items):
        return OuzelError("no test of this run asks for Kafka")
    try:
        BROKER.fetch()
        return [*kafka_jars(), *avro_jars()]
    except OuzelError as error:
        return error


@pytest.fixture(scope="session")
def spark(
    importable_tests: None, kafka_packages: list[Path] | OuzelError, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """The session that the tests share: two cores of this machine."""
    directory = tmp_path_factory.mktemp("spark")
    jars = [] if isinstance(kafka_packages, OuzelError) else kafka_packages
    settings = {
        **QUICK_SETTINGS,
        "spark.local.dir": str(directory / "local"),
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.jars": ",".join(map(str, jars)),
    }
    session = local_session("local[2]", settings)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cluster(importable_tests: None) -> Iterator[str]:
    """The URL of a standalone cluster; a process has one session at a time, so use it from another process."""
    with standalone_cluster() as master:
        yield master


@pytest.fixture(scope="session")
def connect_url(importable_tests: None) -> Iterator[str]:
    with connect_server() as url:
        yield url


@pytest.fixture
def connect(connect_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[SparkSession]:
    """A session of Spark Connect, for the time of one test in the place of the shared one."""
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # so will Spark, but it does not take it back
    session = SparkSession.builder.remote(connect_url).create()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka(spark: SparkSession, kafka_packages: list[Path] | OuzelError) -> Iterator[str]:
    """The address of a Kafka broker, which the shared session can read and write."""
    if isinstance(kafka_packages, OuzelError):
        pytest.skip(f"Kafka needs packages from Maven's repository: {kafka_packages}")
    with kafka_broker() as address:
        yield address
        spark.sparkContext.setLogLevel("ERROR")  # its producers would complain that the broker is gone


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", 2)
    yield Feed(spark, tmp_path)
    spark.conf.set("spark.sql.shuffle.partitions", str(before))
