"""A Spark session: the one that is there, or one that Ouzel starts, quietly and with the settings it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.ending import starting_java
from ouzel.runtimes.spark.java import java_home
from ouzel.runtimes.spark.log import divert
from ouzel.runtimes.spark.masters import require_answer
from ouzel.runtimes.spark.workers import ROCKSDB, STATE_STORE, trust

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
LOCAL = "local[*]"
LOG_FILE = Path(__file__).with_name("log4j2.properties")
LOG_OPTION = f'"-Dlog4j2.configurationFile={LOG_FILE.as_uri()}"'
"""Tells Java to log what went wrong, and nothing else; in quotes, as Spark takes options."""

CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"
FILE_MANAGER = "FileSystemBasedCheckpointFileManager"
STATE_SETTINGS = {
    STATE_STORE: ROCKSDB,
    "spark.sql.streaming.stateStore.encodingFormat": "avro",
    # Of format 2 Spark asks what the last micro-batch wrote, and fails if it was not computed again after a crash,
    # as the sink had it already.
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "1",
    # A micro-batch then writes what has changed, not all files of the store: it takes half the time.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
"""What a streaming query with state needs: transformWithState works on RocksDB only."""


def local_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """The active session as it is; if there is none, a new one, on this machine or at `master` (spark://…, sc://…)."""
    _require_spark()
    active = active_session()
    if active is not None:
        _require_same(active, master)
        return active
    master = master or os.environ.get("SPARK_REMOTE") or LOCAL
    require_answer(master)
    if master.startswith("sc://"):
        return _connect(master, settings or {})
    return _start(master, {**session_settings(master), **(settings or {})})


def active_session() -> SparkSession | None:
    """The session that is there, made on this thread or on another, of Spark Connect or not."""
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    try:
        active = SparkSession.active()
    except PySparkRuntimeError:
        return None
    return active if is_remote() or active.sparkContext._jsc is not None else None


def session_settings(master: str) -> dict[str, str]:
    """What Ouzel sets in a session that it starts: nothing of it touches a session that is there."""
    settings = {
        "spark.app.name": "ouzel",
        "spark.driver.memory": f"{driver_memory()}g",
        "spark.driver.extraJavaOptions": LOG_OPTION,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Results must not depend on where the machine stands.
        "spark.sql.session.timeZone": "UTC",
        **STATE_SETTINGS,
    }
    if _is_local(master):
        settings |= {
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
            # Spark's default of 200 is meant for clusters; here, every task beyond the cores is only overhead.
            "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
            # Without Hadoop's native library, Spark's default starts a process for every link that it looks at in
            # a checkpoint on a local disk: dozens in a micro-batch, a third of what an empty one takes.
            "spark.sql.streaming.checkpointFileManagerClass": f"{CHECKPOINTING}.{FILE_MANAGER}",
        }
    return settings


def driver_memory() -> int:
    """A quarter of the machine's memory in GiB, 1 at least and 8 at most."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        memory = 0
    return min(8, max(1, memory // (4 << 30)))


def _require_spark() -> None:
    if find_spec("pyspark") is None:
        raise OuzelError(
            "Spark is not installed\n  required: PySpark 4.3 or newer\n  hint: pip install 'ouzel[spark]'"
        )


def _require_same(active: SparkSession, master: str | None) -> None:
    """A process has one session at a time: another one cannot be started beside it."""
    from pyspark.sql.utils import is_remote

    running = "sc://" if is_remote() else str(active.sparkContext.master)
    if master is None or master == running or (is_remote() and master.startswith(running)):
        return
    raise OuzelError(
        f"cannot start a Spark session at '{master}': there is one at '{running}'\n"
        "  required: one session for each process\n  hint: stop it first, or leave out the master to use it"
    )


def _connect(url: str, settings: Mapping[str, str]) -> SparkSession:
    """A session of Spark Connect, with the server's settings and the caller's."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.remote(url).config(map=dict(settings)).getOrCreate()


def _start(master: str, settings: Mapping[str, str]) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    with _environment(master):
        # Java first, and where it writes its log; then the session
        with starting_java():
            SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll(list(settings.items())))
        divert(SparkContext._jvm)
        session = SparkSession.builder.master(master).config(map=dict(settings)).getOrCreate()
    if master.startswith("local"):
        trust(session)
    return session


@contextmanager
def _environment(master: str) -> Iterator[None]:
    """What Spark reads from the environment when it starts, and only then."""
    changes = {"JAVA_HOME": str(java_home())}
    if _is_local(master):
        changes |= {"SPARK_LOCAL_IP": LOOPBACK, "PYSPARK_PYTHON": sys.executable}
    elif "PYSPARK_PYTHON" not in os.environ:
        changes["PYSPARK_PYTHON"] = sys.executable
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _is_local(master: str) -> bool:
    """Whether everything runs on this machine, so that it need not be reachable from others."""
    if master.startswith("local"):
        return True
    host = urlsplit(master).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
