"""Files in: Parquet, CSV and JSON lines become Arrow tables, one file or several of one schema."""

from __future__ import annotations

import codecs
import glob
import io
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from ouzel.errors import DataError, OuzelError, SchemaError, listed
from ouzel.runtimes.file_lines import csv_trouble, json_trouble, line_of_csv, line_of_json, text_of
from ouzel.runtimes.file_quotes import NO_END, may_be_open, open_quote
from ouzel.runtimes.file_times import coarsen, parse_times
from ouzel.runtimes.quarantine import Problem

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
# What to do about a file that cannot be read.
LINES = "mend the file; on_bad='quarantine' sets events aside, not lines that are none"
PARQUET = "write the file anew: it is empty, cut short, damaged, or of another format"


@dataclass(frozen=True)
class Writing:
    """How files are written: the format where names do not tell it, the encoding of text, the delimiter of CSV."""

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        """Refuse what no file can be written in."""
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise OuzelError(f"encoding: required one that Python knows, of text; got {self.encoding!r}")
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise OuzelError(f"delimiter: required one character, of ASCII; got {self.delimiter!r}")


def _is_encoding(name: Any) -> bool:
    """Whether text can be written so; there are encodings of bytes, too, and of the names of hosts."""
    try:
        "".encode(name)
        return codecs.lookup(name).name not in ("idna", "punycode")
    except (LookupError, TypeError, ValueError):
        return False


def _is_delimiter(text: Any) -> bool:
    return isinstance(text, str) and len(text) == 1 and text.isascii() and text not in '"\r\n\0'


@dataclass(frozen=True)
class Part:
    """One file: its path, or its bytes where it came in another way."""

    path: Path
    format: str
    content: bytes | None = None

    def source(self) -> Any:
        """What Arrow reads from."""
        return self.path if self.content is None else io.BytesIO(self.content)


@dataclass(frozen=True)
class FileEvents:
    """The events of files: as they hold them, and with times parsed; `problems` are those of the times."""

    written: pa.Table
    table: pa.Table
    problems: tuple[Problem, ...] = ()
    parts: tuple[tuple[Part, int], ...] = ()
    """The files with their numbers of rows."""
    writing: Writing = field(default_factory=Writing)

    def place(self, row: int) -> str:
        """Where a row is, as an editor shows it."""
        for part, rows in self.parts:
            if row < rows:
                where = f" of '{part.path}'" if len(self.parts) > 1 else ""
                line = self._line(part, row)
                return f"row {row}{where}" if line is None else f"line {line}{where}"
            row -= rows
        return f"row {row}"

    def _line(self, part: Part, row: int) -> int | None:
        """The line of a row of a file, if it has lines and they can be told."""
        if part.format == "csv":
            return line_of_csv(part.source(), row, self.writing)
        return line_of_json(part.source(), row, self.writing) if part.format == "json" else None

    def none(self) -> FileEvents:
        """No events, of the same columns."""
        return FileEvents(self.written.slice(0, 0), self.table.slice(0, 0))


def is_path(events: Any) -> bool:
    """Whether events come as the path of a file or directory."""
    return isinstance(events, str | os.PathLike)


def read_files(
    paths: Sequence[str | os.PathLike[str]], times: Sequence[str], writing: Writing | None = None
) -> FileEvents:
    """Read files, directories and patterns such as `logs/*.csv` as one table; `times` are columns with times."""
    how = writing or Writing()
    return read_parts([part for path in paths for part in parts_of(Path(path), how)], times, how)


def read_parts(parts: Sequence[Part], times: Sequence[str], how: Writing) -> FileEvents:
    """Read files as one table."""
    written, tables = [], []
    problems: list[Problem] = []
    before = 0
    for part in parts:
        table = _read(part, times, how)
        written.append(table)
        for time in times if part.format != "parquet" else ():
            table, unread = parse_times(table, time, "")
            problems += [replace(problem, row=problem.row + before) for problem in unread]
        tables.append(table)
        before += table.num_rows
    whole = _one_table(parts, tables)
    if all(part.format == "parquet" for part in parts):
        return FileEvents(whole, whole, parts=_counted(parts, tables), writing=how)
    unread_in = {problem.column for problem in problems}
    as_written = _one_table(parts, [_as_text(one, unread_in) for one in written])
    return FileEvents(as_written, coarsen(whole, times), tuple(problems), _counted(parts, tables), how)


def _counted(parts: Sequence[Part], tables: Sequence[pa.Table]) -> tuple[tuple[Part, int], ...]:
    return tuple((part, table.num_rows) for part, table in zip(parts, tables, strict=True))


def _as_text(table: pa.Table, times: Collection[str]) -> pa.Table:
    """Where one time of several files is none, it is text in that file, and so in all."""
    for time in times:
        table = table.set_column(table.column_names.index(time), time, table.column(time).cast(pa.string()))
    return table


def parts_of(path: Path, how: Writing) -> list[Part]:
    """The files that a path names: itself, those below a directory, or those that a pattern finds."""
    if path.exists():
        return _of_directory(path, how) if path.is_dir() else [Part(path, format_of(path, how))]
    if not glob.has_magic(str(path)):
        raise FileNotFoundError(2, "no such file or directory", str(path))
    found = matching(path)
    if not found:
        raise FileNotFoundError(2, "no file has such a name", str(path))
    return [part for one in found for part in parts_of(one, how)]


def matching(pattern: Path) -> list[Path]:
    """The files and directories whose names a pattern such as `logs/*.csv` describes."""
    found = glob.glob(str(pattern), recursive=True)  # noqa: PTH207 - Path.glob takes no absolute patterns
    return [Path(name) for name in sorted(found)]


def format_of(path: Path, how: Writing) -> str:
    """The format of a file, as it was said or as its name tells."""
    chosen = how.format or _told_format(path)
    if chosen is None:
        raise SchemaError(f"'{path}': required a name that ends in {', '.join(SUFFIXES)}, or a directory")
    if how.format is None:
        _refuse_packed(path, chosen)
    return chosen


def _refuse_packed(path: Path, told: str | None) -> None:
    """Text may come in gzip; Parquet is compressed within, and is read from its end."""
    if told == "parquet" and path.suffix.lower() == ".gz":
        raise SchemaError(
            f"'{path}': required Parquet as it is, not in gzip\n"
            "  hint: unpack it with gunzip; Parquet is compressed within"
        )


def _told_format(path: Path) -> str | None:
    """The format that a file's name tells."""
    return SUFFIXES.get(Path(path.name.lower().removesuffix(".gz")).suffix)


def _of_directory(path: Path, how: Writing) -> list[Part]:
    """A directory of Parquet files is read as one; else the text files in it; all are of one format."""
    below = [(file, how.format or _told_format(file)) for file in data_files(path)]
    firsts = {told: file for file, told in reversed(below) if told is not None}
    if len(firsts) > 1:
        got = " and ".join(f"{told} ({firsts[told].relative_to(path)})" for told in sorted(firsts))
        first = firsts[min(firsts)]
        suffix = "".join(first.suffixes[-2:]) if first.suffix == ".gz" else first.suffix
        raise SchemaError(
            f"'{path}': required files of one format in the directory; got {got}\n"
            f"  hint: name those of one format by a pattern: '{path}/**/*{suffix}'"
        )
    if how.format is None:
        for file, told in below:
            _refuse_packed(file, told)
    if not firsts or "parquet" in firsts:
        return [Part(path, "parquet")]
    return [Part(file, told) for file, told in below if told is not None]


def data_files(path: Path) -> list[Path]:
    """The files below a directory; names that start with _ or . are not data, as Spark has it."""
    return [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file() and not any(part[0] in "_." for part in file.relative_to(path).parts)
    ]


def _one_table(parts: Sequence[Part], tables: Sequence[pa.Table]) -> pa.Table:
    if len(tables) == 1:
        return tables[0]
    first = tables[0].column_names
    for part, table in zip(parts, tables, strict=True):
        if set(table.column_names) != set(first):
            raise SchemaError(
                f"'{part.path}': required the columns of '{parts[0].path}', {listed(first)}; "
                f"got {listed(table.column_names)}\n"
                "  hint: files of other columns are tables of their own, one per event type"
            )
    try:
        return pa.concat_tables([table.select(first) for table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SchemaError(f"'{parts[0].path}' and others: required one type per column; {error}") from error


def _read(part: Part, times: Sequence[str], how: Writing) -> pa.Table:
    readers: dict[str, Callable[[], pa.Table]] = {
        "parquet": lambda: _read_parquet(part),
        "csv": lambda: _read_csv(part, times, how),
        "json": lambda: _read_json(part, times, how),
    }
    try:
        return readers[part.format]()
    except pa.ArrowException as error:
        trouble = str(error)
        if part.format == "csv":
            line = open_quote(part.source(), how)
            trouble = csv_trouble(part.source(), trouble, how) if line is None else f"line {line}: {NO_END}"
        elif part.format == "json":
            trouble = json_trouble(part.source(), trouble, how)
        hint = PARQUET if part.format == "parquet" else LINES
        trouble = trouble if "  hint: " in trouble else f"{trouble}\n  hint: {hint}"
        raise DataError(f"'{part.path}' cannot be read: {trouble}") from error
    except OSError as error:
        if error.filename is not None:
            raise
        # of compressed bytes that are none, or not all
        hint = f"\n  hint: {PARQUET}" if part.format == "parquet" else ""
        raise DataError(f"'{part.path}' cannot be read: {error}{hint}") from error


def _read_parquet(part: Part) -> pa.Table:
    if part.content is None and part.path.is_dir():
        return _read_directory(part.path)
    return pyarrow.parquet.read_table(part.source(), partitioning=None)


def _read_directory(path: Path) -> pa.Table:
    """Read the Parquet files below a directory; those that are named after values are partitioned by them."""
    from pyarrow import dataset  # which imports pandas, if that is installed: it takes long

    files = [file for file in data_files(path) if SUFFIXES.get(file.suffix.lower()) == "parquet"]
    if not files:
        raise SchemaError(f"'{path}': required Parquet files in the directory; it has none")
    schema = pa.unify_schemas([pyarrow.parquet.read_schema(file) for file in files])
    whole = dataset.dataset(
        [str(file) for file in files], partitioning="hive", partition_base_dir=str(path), format="parquet"
    )
    partitions = [one for one in whole.partitioning.schema if one.name not in schema.names]
    return whole.replace_schema(pa.schema([*schema, *partitions])).to_table()


def _read_csv(part: Part, times: Sequence[str], how: Writing) -> pa.Table:
    """Read CSV: an empty field is null; in quotes, it is the empty text."""
    convert = pyarrow.csv.ConvertOptions(
        null_values=["", "null", "NULL"], strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    parse = pyarrow.csv.ParseOptions(delimiter=how.delimiter or ",", newlines_in_values=True)
    read = pyarrow.csv.ReadOptions(encoding=how.encoding or "utf8")
    try:
        table = pyarrow.csv.read_csv(
            part.source(), read_options=read, parse_options=parse, convert_options=convert
        )
        names = table.column_names
    except UnicodeError as error:
        raise DataError(f"'{part.path}' is not in {how.encoding or 'UTF-8'}: {error}{_OTHER_ENCODING}") from error
    # what is no UTF-8 Arrow takes for bytes
    bytes_in = next((one.name for one in table.schema if pa.types.is_binary(one.type)), None)
    if bytes_in is not None:
        raise DataError(f"'{part.path}' is not in UTF-8: column '{bytes_in}'{_OTHER_ENCODING}")
    if may_be_open(part.source(), table, how) and (line := open_quote(part.source(), how)) is not None:
        raise DataError(f"'{part.path}' cannot be read: line {line}: {NO_END}")
    other = next((one for one in ";\t|" if one in names[0]), None) if len(names) == 1 else None
    if other is not None and how.delimiter is None and names[0] not in times:
        raise DataError(
            f"'{part.path}' has one column, '{names[0]}': it looks like several\n"
            f"  hint: say how they are delimited: delimiter={other!r}"
        )
    return table


_OTHER_ENCODING = "\n  hint: say how it is written, for example encoding='latin-1'"


def _read_json(part: Part, times: Sequence[str], how: Writing) -> pa.Table:
    """Read JSON lines; what looks like a time is read as text, since Arrow would drop its zone."""
    content = None if how.encoding is None else _in_utf8(part, how.encoding)

    def source() -> Any:
        return part.source() if content is None else io.BytesIO(content)

    table = pyarrow.json.read_json(source())
    read = {one.name for one in table.schema if one.name in times and pa.types.is_timestamp(one.type)}
    if read:
        text = pyarrow.json.ParseOptions(explicit_schema=pa.schema(dict.fromkeys(read, pa.string())))
        table = pyarrow.json.read_json(source(), parse_options=text)
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(f"'{part.path}' is not in UTF-8: {error}{_OTHER_ENCODING}") from error
    return table


def _in_utf8(part: Part, encoding: str) -> bytes:
    try:
        with text_of(part.source(), encoding, errors="strict") as file:
            return file.read().encode()
    except UnicodeError as error:
        raise DataError(f"'{part.path}' is not in {encoding}: {error}{_OTHER_ENCODING}") from error
