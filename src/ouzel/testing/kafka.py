"""A real Kafka broker on loopback."""

from __future__ import annotations

import base64
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.jars import Jars
from ouzel.runtimes.spark.java import find_java
from ouzel.runtimes.spark.session import LOG_FILE
from ouzel.testing.processes import LOOPBACK, QUICK_START, Server, free_port, listens

BROKER = Jars(("org.apache.kafka:kafka_2.13:4.3.1", "org.apache.logging.log4j:log4j-slf4j-impl:2.25.4"))

_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={data}
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


@contextmanager
def kafka_broker() -> Iterator[str]:
    """Run a broker that is its own controller (KRaft); the value is its address, for kafka.bootstrap.servers."""
    jars = BROKER.fetch()
    port, controller = free_port(), free_port()
    java = [str(find_java()), "-Xmx512m", *QUICK_START.split(), f"-Dlog4j2.configurationFile={LOG_FILE.as_uri()}"]
    java += ["-cp", ":".join(map(str, jars))]
    with tempfile.TemporaryDirectory(prefix="ouzel-kafka-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        properties = directory / "server.properties"
        content = _PROPERTIES.format(host=LOOPBACK, port=port, controller=controller, data=directory / "data")
        properties.write_text(content, encoding="utf-8")
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        _format([*java, "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)])
        with Server([*java, "kafka.Kafka", properties], directory / "kafka.log", {}) as running:
            running.wait_until(lambda: listens(port))
            yield f"{LOOPBACK}:{port}"


def _format(command: list[str]) -> None:
    """Prepare the broker's directory."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603
    if ran.returncode:
        raise OuzelError(f"cannot format Kafka's storage: {(ran.stdout + ran.stderr).strip()[-500:]}")
