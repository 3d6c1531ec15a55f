"""What a session must have before Ouzel can run on it: asked once for each, when something is matched on it."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_IN_MEMORY = "HDFSBackedStateStoreProvider"
_TOLD = "python string, ouzel string, place string"

_fit: set[str] = set()


def trust(session: SparkSession) -> None:
    """Ask this session nothing: its workers run the Python of this process."""
    _fit.add(_name(session))


def check_workers(session: SparkSession) -> None:
    """Refuse a session whose workers have no Ouzel, or another one, or another Python; asked once."""
    name = _name(session)
    if name in _fit:
        return
    _refuse_other(*_ask(session))
    _fit.add(name)


def check_state_store(session: SparkSession) -> None:
    """Refuse a session whose streams cannot keep state as Ouzel needs it."""
    found = str(session.conf.get(STATE_STORE))
    if found.endswith(_IN_MEMORY):
        raise OuzelError(
            f"this Spark session keeps the state of streams in memory ({_IN_MEMORY})\n"
            "  required: RocksDB\n"
            f"  hint: spark.conf.set('{STATE_STORE}',\n"
            f"                       '{ROCKSDB}'),\n"
            "        or begin with oz.spark_session(), which sets it"
        )


def _name(session: Any) -> str:
    """What tells sessions apart whose workers may differ."""
    context = None if not hasattr(session, "_jsparkSession") else session.sparkContext
    return str(session.session_id if context is None else context.applicationId)


def _ask(session: SparkSession) -> tuple[str, str, str]:
    """The versions of Python and of Ouzel in a worker, and where its Python is."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        [row] = session.range(0, 1, 1, 1).mapInArrow(_reporter(), _TOLD).collect()
    except (PySparkException, Py4JError) as error:
        raise _unfit(_reason(str(error))) from None
    return row.python, row.ouzel, row.place


def _reporter() -> Any:
    """What a worker runs; inside a function, so that it travels as code: a worker may lack this package."""

    def report(batches: Iterator[Any]) -> Iterator[Any]:
        import importlib
        import platform
        import sys

        import pyarrow as pa

        for _ in batches:
            pass
        try:
            version = importlib.import_module("ouzel").__version__
        except ImportError as error:
            version = f"none: {error}"
        told = [platform.python_version(), version, sys.executable]
        yield pa.RecordBatch.from_arrays([pa.array([one]) for one in told], ["python", "ouzel", "place"])

    return report


def _refuse_other(python: str, version: str, place: str) -> None:
    if python.split(".")[:2] != platform.python_version().split(".")[:2]:
        raise _unfit(f"their Python ({place}) is {python}, and here it is {platform.python_version()}")
    if version.startswith("none: "):
        raise _unfit(f"their Python ({place}) has no Ouzel: {version.removeprefix('none: ')}")
    if version != _version():
        raise _unfit(f"their Python ({place}) has Ouzel {version}, and here it is {_version()}")


def _version() -> str:
    return str(import_module("ouzel").__version__)


def _reason(text: str) -> str:
    """What went wrong in a worker, of all that Spark says about it.

    >>> _reason(
    ...     "Job aborted\\nTraceback\\n  ModuleNotFoundError: No module named 'pyarrow'\\n\\tat org.apache.spark"
    ... )
    "ModuleNotFoundError: No module named 'pyarrow'"
    """
    for telling in (r"PYTHON_VERSION_MISMATCH\] (.*)", r"(Cannot run program .*)", r"^\s*([A-Z]\w*Error: .*)"):
        if found := re.search(telling, text, re.MULTILINE):
            return found[1].strip()
    lines = text.split("\n")
    return next((line.strip() for line in lines if line.strip()), "an error without a text")


def _unfit(reason: str) -> OuzelError:
    python = ".".join(platform.python_version_tuple()[:2])
    return OuzelError(
        f"the workers of this Spark session cannot run Ouzel: {reason}\n"
        f"  required: Python {python} with Ouzel {_version()} in every worker\n"
        "  hint: before the session starts, set PYSPARK_PYTHON in the environment to such a Python\n"
        "        (on this machine: os.environ['PYSPARK_PYTHON'] = sys.executable; for spark-submit:\n"
        "        spark.pyspark.python), or send one along with spark.archives"
    )
