"""Real Spark servers on loopback: a standalone cluster of a master and workers, and a Spark Connect server.

They come with PySpark and are started by its scripts, which end in `exec`: the process is the server itself.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from ouzel.runtimes.spark.jars import SPARK_HOME
from ouzel.runtimes.spark.java import java_home
from ouzel.runtimes.spark.session import LOG_OPTION, session_settings
from ouzel.testing.processes import LOOPBACK, QUICK_START, Server, free_port, listens

QUICK_SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": f"{LOG_OPTION} {QUICK_START}",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": QUICK_START,
}
"""For a session that need not be fast, but there soon."""


@contextmanager
def standalone_cluster(workers: int = 2, cores: int = 1, memory: str = "1g") -> Iterator[str]:
    """Run a master and workers; the value is the master's URL, spark://…."""
    port, page = free_port(), free_port()
    master = f"spark://{LOOPBACK}:{port}"
    with _directory() as directory, ExitStack() as stack:

        def run(name: str, role: str, *arguments: str) -> Server:
            script = SPARK_HOME / "bin" / "spark-class"
            command: list[str | Path] = [script, f"org.apache.spark.deploy.{role}", "--host", LOOPBACK, *arguments]
            return stack.enter_context(Server(command, directory / f"{name}.log", _environment(directory)))

        first = run("master", "master.Master", "--port", str(port), "--webui-port", str(page))
        first.wait_until(lambda: listens(port))
        limits = ["--cores", str(cores), "--memory", memory, "--webui-port", "0", "--work-dir", str(directory)]
        started = [run(f"worker{number}", "worker.Worker", *limits, master) for number in range(workers)]
        for worker in started:
            worker.wait_until(lambda: _workers_of(page) == workers)
        yield master


@contextmanager
def connect_server(master: str = "local[2]", settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run a Spark Connect server; the value is its URL, sc://…."""
    port = free_port()
    wanted = {
        **session_settings(master),
        **QUICK_SETTINGS,
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        **(settings or {}),
    }
    command: list[str | Path] = [SPARK_HOME / "bin" / "spark-submit", "--master", master]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    command += [part for name, value in wanted.items() for part in ("--conf", f"{name}={value}")]
    with _directory() as directory, Server(command, directory / "connect.log", _environment(directory)) as running:
        running.wait_until(lambda: listens(port))
        yield f"sc://{LOOPBACK}:{port}"


@contextmanager
def _directory() -> Iterator[Path]:
    """A place for logs and what executors write, until the servers have stopped."""
    with tempfile.TemporaryDirectory(prefix="ouzel-spark-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _environment(directory: Path) -> dict[str, str]:
    return {
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": f"{LOG_OPTION} {QUICK_START}",
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_DIRS": str(directory),
        "SPARK_LOCAL_IP": LOOPBACK,  # the pages of masters and workers too are served on this address only
    }


def _workers_of(page: int) -> int:
    """How many workers a master knows that are alive; 0 while its page is empty, as it is at first."""
    with suppress(OSError, ValueError), urlopen(f"http://{LOOPBACK}:{page}/json/", timeout=5) as answer:
        return int(json.load(answer)["aliveworkers"])
    return 0
