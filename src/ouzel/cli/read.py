"""Files in: what `--events` names becomes Arrow tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import typer

from ouzel.cli.times import coarsen, parse_times
from ouzel.errors import DataError, SchemaError
from ouzel.runtimes.quarantine import Problem, Report, bad_table, described


@dataclass(frozen=True)
class Source:
    """The events of one file: as it holds them, and with times parsed; `problems` are those of the times."""

    name: str
    written: pa.Table
    table: pa.Table
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Sources:
    """All files of a command: one, or one per event type."""

    sources: tuple[Source, ...]

    @property
    def events(self) -> pa.Table | dict[str, pa.Table]:
        """The events as `match` takes them."""
        if len(self.sources) == 1 and not self.sources[0].name:
            return self.sources[0].table
        return {source.name: source.table for source in self.sources}

    @property
    def written(self) -> dict[str, pa.Table]:
        """The events as their files hold them."""
        return {source.name: source.written for source in self.sources}

    @property
    def empty(self) -> pa.Table | dict[str, pa.Table]:
        """The columns without the events: what is found in them shows the columns of the result."""
        none = [replace(source, table=source.table.slice(0, 0)) for source in self.sources]
        return Sources(tuple(none)).events

    @property
    def problems(self) -> list[Problem]:
        """What is wrong with the times."""
        return [problem for source in self.sources for problem in source.problems]

    def set_aside(self, report: Report) -> dict[str, pa.Table]:
        """The malformed events as their files hold them, with what is wrong with them."""
        unread = {(problem.table, problem.row, problem.column): problem for problem in self.problems}
        problems = [unread.get((p.table, p.row, p.column), p) for p in report.problems]
        return {
            name: bad_table(table, described([problem for problem in problems if problem.table == name]))
            for name, table in self.written.items()
        }


def table_names(options: list[str]) -> list[str]:
    """The event types that `--events` names; one table may go without."""
    names = [_split(option)[0] for option in options]
    if len(names) > 1 and ("" in names or len(set(names)) < len(names)):
        raise typer.BadParameter(
            "several tables require one event type each: --events Shelf=shelf.csv --events Exit=exit.csv",
            param_hint="--events",
        )
    return names


def read_events(options: list[str], time: str) -> Sources:
    """Read the files that `--events` names."""
    paths = [_split(option)[1] for option in options]
    return Sources(tuple(_read(name, path, time) for name, path in zip(table_names(options), paths, strict=True)))


def _split(option: str) -> tuple[str, Path]:
    """Tell NAME=PATH from a path, which may hold an equals sign too."""
    found = re.fullmatch(r"([\w-]+)=(.+)", option, re.DOTALL)
    if found is None or Path(option).exists():
        return "", Path(option)
    return found[1], Path(found[2])


def _read(name: str, path: Path, time: str) -> Source:
    if not path.exists():
        raise FileNotFoundError(2, "no such file or directory", str(path))
    suffix = "" if path.is_dir() else Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in READERS:
        raise typer.BadParameter(
            f"'{path}': required a name that ends in {', '.join(filter(None, READERS))}, or a directory",
            param_hint="--events",
        )
    try:
        written = READERS[suffix](path, time)
    except pa.ArrowException as error:
        hint = "\n  hint: required JSON lines, one object per line" if suffix in JSON else ""
        raise DataError(f"'{path}' cannot be read: {error}{hint}") from error
    if not suffix or suffix in PARQUET:
        return Source(name, written, written, ())
    table, problems = parse_times(written, time, name)
    return Source(name, written, coarsen(table), tuple(problems))


def _read_parquet(path: Path, _time: str) -> pa.Table:
    return pyarrow.parquet.read_table(path, partitioning=None)


def _read_directory(path: Path, _time: str) -> pa.Table:
    """Read the Parquet files below a directory; names that start with _ or . are not data, as Spark has it."""
    from pyarrow import dataset  # which imports pandas, if that is installed: it takes long

    files = [
        file
        for file in sorted(path.rglob("*"))
        if file.suffix.lower() in PARQUET and not any(p[0] in "_." for p in file.relative_to(path).parts)
    ]
    if not files:
        raise SchemaError(f"'{path}': required Parquet files in the directory; it has none")
    schema = pa.unify_schemas([pyarrow.parquet.read_schema(file) for file in files])
    whole = dataset.dataset(
        [str(file) for file in files], partitioning="hive", partition_base_dir=str(path), format="parquet"
    )
    partitions = [field for field in whole.partitioning.schema if field.name not in schema.names]
    return whole.replace_schema(pa.schema([*schema, *partitions])).to_table()


def _read_csv(path: Path, _time: str) -> pa.Table:
    """Read CSV: an empty field is null; in quotes, it is the empty text."""
    convert = pyarrow.csv.ConvertOptions(
        null_values=["", "null", "NULL"], strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    return pyarrow.csv.read_csv(path, convert_options=convert)


def _read_json(path: Path, time: str) -> pa.Table:
    """Read JSON lines; what looks like a time is read as text, since Arrow would drop its zone."""
    table = pyarrow.json.read_json(path)
    if time in table.column_names and pa.types.is_timestamp(table.schema.field(time).type):
        text = pyarrow.json.ParseOptions(explicit_schema=pa.schema({time: pa.string()}))
        return pyarrow.json.read_json(path, parse_options=text)
    return table


PARQUET = (".parquet", ".pq")
JSON = (".jsonl", ".ndjson", ".json")
READERS: Mapping[str, Callable[[Path, str], pa.Table]] = {
    "": _read_directory,
    **dict.fromkeys(PARQUET, _read_parquet),
    ".csv": _read_csv,
    **dict.fromkeys(JSON, _read_json),
}
