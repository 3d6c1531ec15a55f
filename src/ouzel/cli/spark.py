"""`ouzel run` on Spark: its own sources and sinks, by path or table name."""

from __future__ import annotations

import codecs
import errno
import os
import re
import threading
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import typer

import ouzel as oz
from ouzel.cli.main import leave_on_ctrl_c
from ouzel.cli.read import STDIN, named_paths, split
from ouzel.cli.rules import result_name
from ouzel.cli.write import SUFFIXES, Format
from ouzel.physical.stoppable import stoppable
from ouzel.runtimes.files import Writing, matching
from ouzel.runtimes.spark.ending import end_at_once
from ouzel.runtimes.spark.nanoseconds import read_parquet
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.session import local_session
from ouzel.runtimes.spark.watching import is_connect

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Files of that many bytes and more are worth the seconds in which Spark starts.
LARGE = 2 << 30
TYPE_COLUMN = "type"
# The encodings of CSV that Spark reads.
CHARSETS = ("utf-8", "iso-8859-1", "us-ascii", "utf-16", "utf-16be", "utf-16le", "utf-32")
# How long to wait until Spark has heard that it is to stop, in seconds.
ASKING = 0.4


def runtime_of(chosen: str, master: str | None, events: list[str]) -> str:
    """Where to run: as asked for; else on Spark, if a master is named, or events are many or in a table."""
    if chosen != "auto":
        return chosen
    if master is not None:
        return "spark"
    paths = [Path(path) for option in events if (path := split(option)[1]) != STDIN]
    if any(_is_table(path) for path in paths):
        return "spark"
    size = sum(file.stat().st_size for path in paths for file in _files(path))
    return "spark" if size >= LARGE else "embedded"


def _is_table(path: Path) -> bool:
    """Whether a name can only be that of a table in the catalog: schema.table."""
    name = str(path)
    is_file = path.exists() or Path(name.lower().removesuffix(".gz")).suffix in SUFFIXES
    return not is_file and re.fullmatch(r"\w+(\.\w+)+", name) is not None


def _files(path: Path) -> list[Path]:
    found = [path] if path.exists() else matching(path)
    below = [file for one in found for file in (one.rglob("*") if one.is_dir() else [one])]
    return [file for file in below if file.is_file()]


def _require_files(paths: Iterable[str]) -> None:
    """Refuse names of files that are not there, and directories without any; other names may be tables."""
    for name in paths:
        path = Path(name)
        is_file = path.exists() or "/" in name or Path(name.lower().removesuffix(".gz")).suffix in SUFFIXES
        if not is_file or name == STDIN or "://" in name or name.startswith("file:"):
            continue
        if not path.exists() and not matching(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        if not any(file.name[0] not in "._" for file in _files(path)):
            raise oz.OuzelError(f"'{name}': required files of events; the directory has none")


def _charset(encoding: str) -> str:
    """What Spark calls an encoding that Python knows by other names, too."""
    known = {codecs.lookup(name).name: name for name in CHARSETS}
    try:
        return known[codecs.lookup(encoding).name]
    except LookupError:
        names = ", ".join(CHARSETS)
        raise typer.BadParameter(
            f"on Spark, required one of {names}; got '{encoding}'", param_hint="--encoding"
        ) from None


def _within(seconds: float, work: Callable[[], object]) -> None:
    """Do something for some time at most."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)


def stoppable_session(start: Callable[[], SparkSession]) -> SparkSession:
    """A session; from now on Ctrl-C ends the command at once, and Spark's processes with it."""
    leave_on_ctrl_c(end_at_once)
    # in another thread, or Spark would handle Ctrl-C itself, and wait for the answer to a call
    session = stoppable(start)
    leave_on_ctrl_c(lambda: _quiet(session), end_at_once)
    return session


def _quiet(session: SparkSession) -> None:
    """End the work of a server, or let a Java of our own say no more: what is killed has nothing to tell."""
    if is_connect(session):
        _within(ASKING, session.interruptAll)
    else:
        _within(ASKING, lambda: session.sparkContext.setLogLevel("OFF"))


class SparkRun:
    """One command on Spark."""

    def __init__(self, master: str | None, events: Iterable[str] = ()) -> None:
        """Find or start the session; it takes seconds, so a path that is not there is told before."""
        if master is None or master.startswith("local"):
            _require_files(path for _name, path in map(split, events))
        self.session = stoppable_session(lambda: local_session(master))

    def match(self, query: oz.Query, events: list[str], how: Writing, **options: Any) -> dict[str, DataFrame]:
        """The matches of each query, not computed yet."""
        options = {**options, "spark": SparkOptions(looks_at_types=True)}
        tables = {name: self._read_all(paths, how) for name, paths in named_paths(events).items()}
        if list(tables) == [""]:
            found = oz.match(tables[""], query, **options)
        else:
            table, types = self._united(tables, options["time"])
            found = oz.match(table, query, **{**options, "type": TYPE_COLUMN, "types": types})
        return found if isinstance(found, dict) else {result_name(query): found}

    def _read_all(self, paths: list[str], how: Writing) -> DataFrame:
        """Files of one schema as one table."""
        if STDIN in paths:
            raise typer.BadParameter("- is stdin, which Spark cannot read: required a file", param_hint="--events")
        tables = [self._read(Path(path), how) for path in paths]
        for path, table in zip(paths, tables, strict=True):
            if set(table.columns) != set(tables[0].columns):
                got = f"got {', '.join(table.columns)}"
                raise oz.SchemaError(f"'{path}': required the columns of '{paths[0]}'; {got}")
        return reduce(lambda a, b: a.unionByName(b), tables)

    def _read(self, path: Path, how: Writing) -> DataFrame:
        """A source of Spark's: a file, pattern or directory by how it ends, or a table of the catalog."""
        reader, name = self.session.read, str(path)
        if how.encoding is not None:
            reader = reader.option("encoding", _charset(how.encoding))
        suffix = Path(path.name.lower().removesuffix(".gz")).suffix
        match how.format or SUFFIXES.get(suffix):
            case "csv":
                if how.delimiter is not None:
                    reader = reader.option("sep", how.delimiter)
                return reader.option("header", True).option("inferSchema", True).csv(name)
            case "json":
                return reader.json(name)
            case "parquet":
                return read_parquet(self.session, name)
        if path.is_dir() and (path / "_delta_log").is_dir():
            return reader.format("delta").load(name)
        if path.is_dir():
            return read_parquet(self.session, name)
        if not re.fullmatch(r"\w+(\.\w+)*", name):
            known = ", ".join(SUFFIXES)
            raise typer.BadParameter(
                f"'{name}': required a name that ends in {known}, a directory, or a table", param_hint="--events"
            )
        return self.session.table(name)

    def _united(
        self, tables: dict[str, DataFrame], time: str | tuple[str, ...]
    ) -> tuple[DataFrame, dict[str, list[str]]]:
        """One table of several, one per event type."""
        from pyspark.sql import functions as f

        times = (time,) if isinstance(time, str) else time
        types = {name: [column for column in one.columns if column not in times] for name, one in tables.items()}
        typed = [one.withColumn(TYPE_COLUMN, f.lit(name)) for name, one in tables.items()]
        return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), typed), types

    def write(self, results: dict[str, DataFrame], paths: dict[str, Path], file_format: Format) -> None:
        """Write every result, as Spark does: to a directory of files."""
        for name, path in paths.items():
            writer = results[name].write.mode("overwrite")
            if file_format == "csv":
                writer = writer.option("header", True)
            writer.format(file_format).save(str(path))

    def set_aside(self, events: DataFrame, target: tuple[dict[str, Path], Format] | None) -> int:
        """Write malformed events, if there is a place for them; how many there are."""
        if target is None:
            return events.count()
        once = events.persist()  # else they would be looked for twice
        self.write({"": once}, *target)
        count = once.count()
        once.unpersist()
        return count

    def shown(self, results: dict[str, DataFrame], limit: int | None) -> dict[str, pa.Table]:
        """What is to be shown of each result."""
        return {name: (one if limit is None else one.limit(limit + 1)).toArrow() for name, one in results.items()}
