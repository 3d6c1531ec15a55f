"""`ouzel run --stream`: match events as they come, until Ctrl-C, and go on from the checkpoint the next time."""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.filesize import decimal
from rich.text import Text

import ouzel as oz
from ouzel.cli.progress import STDERR, progress_bar
from ouzel.cli.rules import Asked
from ouzel.cli.show import counted
from ouzel.cli.spark import stoppable_session
from ouzel.runtimes.spark.columns import arrow_schema
from ouzel.runtimes.spark.ending import at_end
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.sinks import as_json, started
from ouzel.runtimes.spark.sources import stream_session
from ouzel.runtimes.spark.topics import topic_of
from ouzel.runtimes.spark.watching import StreamNumbers, is_connect, own_error, own_errors, time_text

DELTA = "delta"
NO_SPACE = "No space left on device"
GO_ON = "with more of it, the same command goes on where it stopped"
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143}
"""The exit codes of a stream that was stopped."""


@dataclass(frozen=True)
class Stream:
    """What the options say of a stream: where from and where to."""

    source: str
    schema: str | None
    to: str | None
    file_format: str | None
    watermark: str
    checkpoint: Path | None
    buckets: int | None
    available_now: bool
    keys: tuple[str, ...] = ()
    speculation: str | None = None
    upsert: str | None = None

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.to is not None and self.checkpoint is None:
            raise typer.BadParameter("is required with --stream and --to", param_hint="--checkpoint")
        if self.to is None and self.upsert is not None:
            raise typer.BadParameter("requires --to", param_hint="--upsert")
        if self.to is not None and is_database(self.to) and self.upsert is None:
            text = "is required: a database is a place for changes; --upsert names the table"
            raise typer.BadParameter(text, param_hint="--upsert")
        if self.to is None and self.file_format not in (None, "json"):
            raise typer.BadParameter("requires --to; on stdout a stream is in JSON", param_hint="--format")
        if self.file_format == "table" or (
            self.to and topic_of(self.to) and self.file_format not in (None, "json")
        ):
            raise typer.BadParameter("is for files: csv, json or parquet", param_hint="--format")

    def start(self, asked: Asked, options: dict[str, Any], master: str | None, checkpoint: Path) -> Running:
        """Start it on Spark."""
        places = (self.source, self.schema, self.to, asked.source, asked.schema)
        session = stoppable_session(lambda: stream_session(*places, master=master))
        events = oz.read_stream(self.source, self.schema, session=session)
        time = options["time"] if isinstance(options["time"], str) else options["time"][-1]  # when events end
        query, rules = asked.on_stream(session, events, time)
        delay = _length(self.watermark)
        if self.speculation is not None:
            options = {**options, "speculation": _length(self.speculation)}
        how = SparkOptions(buckets=self.buckets or SparkOptions.buckets, keys=self.keys)
        matches = oz.match(events, query, watermark=delay, spark=how, **options, **rules)
        if self.to is not None:
            others: dict[str, Any] = (
                {"format": self.file_format} if self.file_format and not topic_of(self.to) else {}
            )
            if self.upsert is not None:
                others["upsert"] = True if self.upsert == DELTA and not is_database(self.to) else self.upsert
            running = oz.write_stream(
                matches, self.to, checkpoint=checkpoint, available_now=self.available_now, **others
            )
        else:
            if is_connect(session):
                raise typer.BadParameter("is required over Spark Connect", param_hint="--to")
            writer = matches.select(as_json(matches).alias("value")).writeStream.foreachBatch(_print)
            running = started(matches, writer, checkpoint, available_now=self.available_now)
        return Running(running, how.metrics, arrow_schema(events).field(time).type)


def is_database(place: str) -> bool:
    """Whether matches go to a database."""
    return place.startswith("jdbc:")


def _length(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def _print(frame: Any, _batch: int) -> None:
    """Print the matches of a micro-batch."""
    sys.stdout.writelines(row.value + "\n" for row in frame.toLocalIterator())
    sys.stdout.flush()


class Running:
    """A stream at work."""

    def __init__(self, query: Any, metrics: str, time: Any) -> None:
        """Of a query of Spark's; `time` is the Arrow type of the time column."""
        self.query, self.metrics, self.time = query, metrics, time
        self.numbers = StreamNumbers()

    def follow(self) -> bool:
        """Read what has been done since; whether anything has."""
        return self.numbers.follow(self.query, self.metrics)

    def text(self) -> str:
        """How it stands, for the terminal."""
        numbers = self.numbers
        parts = [
            f"{numbers.rows_per_second:,.0f} rows/s",
            f"time {time_text(numbers.watermark, self.time)}",
            counted(numbers.open_runs, "open run", "open runs"),
            f"{decimal(numbers.state_bytes)} of state",
            counted(numbers.matches, "match", "matches"),
            *([f"{numbers.withdrawn:,} withdrawn"] if numbers.withdrawn else []),
            *([f"{numbers.late:,} late"] if numbers.late else []),
            *([f"{numbers.malformed:,} malformed"] if numbers.malformed else []),
            *([counted(numbers.refused, "refused rule", "refused rules")] if numbers.refused else []),
        ]
        return ", ".join(parts)


def run_stream(asked: Asked, stream: Stream, options: dict[str, Any], master: str | None) -> None:
    """Match a stream until it ends, fails, or is stopped."""
    stream.check()
    if not asked.has_rules:
        asked.query()  # what is wrong with it is told before Spark starts
    with tempfile.TemporaryDirectory(prefix="ouzel-", ignore_cleanup_errors=True) as name:
        at_end(lambda: shutil.rmtree(name, ignore_errors=True))  # where Ctrl-C ends the command at once
        checkpoint = stream.checkpoint or Path(name)
        with progress_bar("starting Spark") as bar, own_errors():
            running = stream.start(asked, options, master, checkpoint)
            bar.say("matching the stream")
            with _signals() as stopped:
                while running.query.isActive and not stopped.wait(0.2):
                    if running.follow():
                        bar.note(running.text())
                running.query.stop()
            running.follow()
            error = None if stopped.is_set() else running.query.exception()
    _summarise(running.numbers, stream.checkpoint if stopped.is_set() else None)
    if error is not None:
        full = [str(place) for place in (stream.checkpoint, stream.to) if place is not None and is_full(place)]
        # not every error that comes of it says so
        if full and (NO_SPACE in str(error) or "ouzel.errors." not in str(error)):
            raise oz.OuzelError(f"no space is left on the disk of {' and '.join(full)}; {GO_ON}")
        if stream.to is None and "BrokenPipeError" in str(error):
            raise BrokenPipeError
        raise own_error(str(error))
    if stopped.is_set():
        raise typer.Exit(STOPPED[stopped.by])


class Stopped(threading.Event):
    """Set by a signal."""

    by = signal.SIGINT


@contextmanager
def _signals() -> Iterator[Stopped]:
    """Let Ctrl-C and SIGTERM ask for the end.

    In the place of Spark's handler, which it sets when it starts, and which would fail the micro-batch under way.
    """
    stopped = Stopped()

    def stop(number: int, _frame: Any) -> None:
        stopped.by = signal.Signals(number)
        stopped.set()

    before: dict[Any, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            before = {number: signal.signal(number, stop) for number in STOPPED}
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_full(place: str | Path) -> bool:
    """Whether the disk has no space left on which a directory is, or would be."""
    path = Path(place)
    found = next((one for one in (path, *path.absolute().parents) if one.exists()), None)
    return found is not None and shutil.disk_usage(found).free < 1 << 20


def _summarise(numbers: StreamNumbers, checkpoint: Path | None) -> None:
    parts = [counted(numbers.events, "event", "events"), counted(numbers.matches, "match", "matches")]
    if numbers.withdrawn:
        parts.append(f"{numbers.withdrawn:,} withdrawn")
    if numbers.late:
        parts.append(counted(numbers.late, "late event", "late events"))
    if numbers.malformed:
        parts.append(counted(numbers.malformed, "malformed event", "malformed events"))
    if numbers.refused:
        parts.append(counted(numbers.refused, "refused rule", "refused rules"))
    text = ", ".join(parts)
    if checkpoint is not None:
        text += f"; stopped: the same command goes on from {checkpoint}"
    STDERR.print(Text(text, "dim"), soft_wrap=True)
