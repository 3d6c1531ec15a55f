"""What Spark does at the moment: numbers of a stream, tasks of a batch, and errors that came from Ouzel."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ouzel.errors import DataError, OuzelError, QueryError, SchemaError, StateError
from ouzel.runtimes.spark.log import log_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

Tasks = Callable[[int, int], None]
"""Told how many tasks are done, and how many there are."""

SECONDS = 0.2
_KINDS = {kind.__name__: kind for kind in (DataError, QueryError, SchemaError, StateError)}


@dataclass
class StreamNumbers:
    """What a stream did since it was started, and how it stands after its latest micro-batch."""

    batch: int = -1
    events: int = 0
    matches: int = 0
    late: int = 0
    malformed: int = 0
    refused: int = 0
    withdrawn: int = 0
    rows_per_second: float = 0.0
    open_runs: int = 0
    state_bytes: int = 0
    watermark: int | None = None

    def follow(self, stream: StreamingQuery, metrics: str) -> bool:
        """Add the micro-batches that have ended since; whether there were any."""
        new = [one for one in stream.recentProgress if one.batchId > self.batch]
        for progress in new:
            self.add(progress, metrics)
        return bool(new)

    def add(self, progress: Any, metrics: str) -> None:
        """Add a micro-batch; one without events has nothing to tell but its number."""
        self.batch = progress.batchId
        self.events += progress.numInputRows
        self.rows_per_second = progress.processedRowsPerSecond or 0.0
        row = progress.observedMetrics.get(metrics)
        if row is None:
            return
        told = _by_label(row)
        self.matches += told["matches"]
        self.late += told["late"]
        self.malformed += told["malformed"]
        self.refused += told["refused"]
        self.withdrawn += told["withdrawn"]
        if told["state_bytes"]:
            self.open_runs, self.state_bytes = told["open_runs"], told["state_bytes"]
            self.watermark = told["watermark"]


def _by_label(row: Any) -> dict[str, Any]:
    """Observed metrics by their names; over Spark Connect they come as values beside a schema."""
    told: dict[str, Any] = row.asDict()
    if set(told) != {"values", "schema"}:
        return told
    names = [field["name"] for field in told["schema"]["fields"]]
    return dict(zip(names, told["values"], strict=True))


def time_text(ticks: int | None, time: pa.DataType) -> str:
    """A time in ticks, as a column of times would show it.

    >>> time_text(1_772_359_200_000_000, pa.timestamp("us", "UTC"))
    '2026-03-01 10:00:00+00:00'
    >>> time_text(7, pa.int64()), time_text(None, pa.int64())
    ('7', 'not known yet')
    """
    if ticks is None:
        return "not known yet"
    whole = pa.scalar(ticks, pa.int32() if pa.types.is_date32(time) else pa.int64())
    return str(whole.cast(time).as_py())


def is_connect(session: SparkSession) -> bool:
    """Whether a session is one of Spark Connect."""
    return not hasattr(session, "_jsparkSession")


@contextmanager
def watched_tasks(session: SparkSession, tell: Tasks) -> Iterator[None]:
    """Tell of the tasks of Spark's stages while a block runs."""
    if is_connect(session):
        with _told_by_connect(session, tell):
            yield
        return
    over = threading.Event()
    watching = threading.Thread(target=_watch, args=(session, tell, over), daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def _watch(session: SparkSession, tell: Tasks, over: threading.Event) -> None:
    tracker = session.sparkContext.statusTracker()
    while not over.wait(SECONDS):
        infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        stages = [info for info in infos if info is not None]
        if stages:
            tell(sum(info.numCompletedTasks for info in stages), sum(info.numTasks for info in stages))


@contextmanager
def _told_by_connect(session: Any, tell: Tasks) -> Iterator[None]:
    def handle(stages: Iterable[Any] | None, *_args: Any, **_others: Any) -> None:
        active = [stage for stage in stages or () if not stage.done]
        if active:
            tell(sum(stage.num_completed_tasks for stage in active), sum(stage.num_tasks for stage in active))

    session.registerProgressHandler(handle)
    try:
        yield
    finally:
        session.removeProgressHandler(handle)


@contextmanager
def own_errors() -> Iterator[None]:
    """Raise what went wrong in a worker as if it had gone wrong here, and what Spark refuses as our error."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise own_error(str(error)) from error


def own_error(text: str) -> OuzelError:
    """The error that Spark's text tells of: the last of Ouzel's own in it, else its first line."""
    found = re.findall(r"^ouzel\.errors\.(\w+): (.*(?:\n  .*)*)", text, re.MULTILINE)
    if not found:
        log = log_file()
        more = f"\n  hint: more of it is in Spark's log, {log}" if log else ""
        return OuzelError(f"Spark: {_first_line(text)}{more}")
    name, message = found[-1]
    # a worker says it with a traceback and Spark's state code around it
    message = re.sub(r"\n  (File \"|SQLSTATE).*", "", message, flags=re.DOTALL)
    return _KINDS.get(name, OuzelError)(message)


def _first_line(text: str) -> str:
    """What Spark says first; the bridge to Java only says that there is an error."""
    if "Python Proxy" in text and (cause := _cause(text)):
        return cause
    lines = [
        line.strip(": ") for line in text.splitlines() if not line.startswith("An error occurred while calling")
    ]
    return next(filter(None, lines), "an error without a text")


def _cause(text: str) -> str | None:
    """What failed in a function of ours that Spark called: in Java below it, else in Python."""
    below = re.findall(r"^Caused by: [\w.$]*?(\w+): (.+)$", text, re.MULTILINE)
    found = below or re.findall(r"^(?:\w+\.)*(\w+(?:Error|Exception)): (.+)$", text, re.MULTILINE)
    return None if not found else ": ".join(found[-1])
