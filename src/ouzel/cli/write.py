"""Results out: to files, or to stdout."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import typer

from ouzel.cli.options import is_file
from ouzel.cli.read import split
from ouzel.cli.show import show_table
from ouzel.cli.whole_files import naming, naming_stdout, whole_files
from ouzel.errors import OuzelError
from ouzel.runtimes import files
from ouzel.runtimes.json_lines import iso_durations, json_lines

Format = Literal["table", "json", "parquet", "csv"]
SUFFIXES = cast("Mapping[str, Format]", files.SUFFIXES)
EXTENSIONS = {"parquet": ".parquet", "csv": ".csv", "json": ".jsonl"}
SHOWN_ROWS = 50


def stdout_format(file_format: Format | None, names: Sequence[str]) -> Format:
    """The format in which results are shown: tables for people, JSON lines for programs."""
    if file_format == "parquet":
        raise typer.BadParameter("parquet requires a file: --to PATH", param_hint="--format")
    if file_format == "csv" and len(names) > 1:
        raise typer.BadParameter(
            f"several queries ({', '.join(names)}) require a directory: --to PATH", param_hint="--format"
        )
    return file_format or ("table" if sys.stdout.isatty() else "json")


def file_paths(
    path: Path, file_format: Format | None, names: Sequence[str], option: str = "--to"
) -> tuple[dict[str, Path], Format]:
    """The file for each result, and the format: one file, or several in a directory."""
    if file_format == "table":
        raise typer.BadParameter(f"'table' is for the terminal, not for {option}", param_hint="--format")
    suffix = path.suffix.lower()
    if path.is_dir() or len(names) > 1:
        if suffix in SUFFIXES and not path.is_dir():
            raise typer.BadParameter(
                f"'{path}': several results ({', '.join(names)}) require a directory; "
                f"the format is chosen by --format",
                param_hint=option,
            )
        chosen = file_format or "parquet"
        return {name: path / f"{name or 'events'}{EXTENSIONS[chosen]}" for name in names}, chosen
    if file_format is None and suffix not in SUFFIXES:
        raise typer.BadParameter(
            f"'{path}': required a name that ends in {', '.join(SUFFIXES)}, or --format", param_hint=option
        )
    return {names[0]: path}, file_format or SUFFIXES[suffix]


def check_apart(query: str, events: Sequence[str], results: Mapping[str, Path], aside: Mapping[str, Path]) -> None:
    """Refuse to write over the query, over the events or among them, or over the results."""
    named = [Path(split(option)[1]) for option in events]
    read = [path for pattern in named for path in (pattern, *files.matching(pattern)) if path.exists()]
    folders = {path.resolve() for path in read if path.is_dir()}
    taken = {path.resolve() for path in read}
    taken.update(file.resolve() for folder in folders for file in files.data_files(folder))
    if is_file(Path(query)):
        taken.add(Path(query).resolve())
    for paths, option in ((results, "--to"), (aside, "--quarantine")):
        for path in paths.values():
            place = path.resolve()
            # on Spark a result is a directory, in the place of what was there
            over = place in taken or any(place in one.parents for one in taken)
            if over or not folders.isdisjoint(place.parents):
                required = "a file of its own, not that of the query, of the events or of other results"
                among = "" if over else "; among the events, it would be one of them the next time"
                raise typer.BadParameter(f"'{path}': required {required}{among}", param_hint=option)
            taken.add(place)


def check_flat(results: Mapping[str, pa.Table], hint: str) -> None:
    """Refuse to write nested columns as CSV."""
    for table in results.values():
        nested = [field.name for field in table.schema if pa.types.is_nested(field.type)]
        if nested:
            raise OuzelError(
                f"CSV cannot hold the nested column{'s' * (len(nested) > 1)} {', '.join(nested)}\n  hint: {hint}"
            )


Written = tuple[Mapping[str, pa.Table], Mapping[str, Path], Format]
"""Results by name, their files, and the format of these."""


def write_files(*written: Written) -> None:
    """Write each result to its file; the files are in their places when all of them are whole."""
    with whole_files(path for _results, paths, _format in written for path in paths.values()) as places:
        for results, paths, file_format in written:
            for name, path in paths.items():
                with naming(path):
                    _write(results[name], places[path], file_format)


def _write(table: pa.Table, path: Path, file_format: Format) -> None:
    if file_format == "parquet":
        pyarrow.parquet.write_table(table, path)
    elif file_format == "csv":
        _write_csv(table, path)
    else:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in json_lines(table))


def _write_csv(table: pa.Table, to: Path | io.BytesIO) -> None:
    """Write CSV; durations as text, since Arrow would write numbers that do not tell their unit."""
    for number, field in enumerate(table.schema):
        if pa.types.is_duration(field.type):
            table = table.set_column(number, field.name, iso_durations(table.column(number)))
    pyarrow.csv.write_csv(table, to)


def show(results: Mapping[str, pa.Table], file_format: Format, limit: int | None) -> None:
    """Print results to stdout; where there are several, with their names."""
    with naming_stdout():
        _show(results, file_format, limit)


def _show(results: Mapping[str, pa.Table], file_format: Format, limit: int | None) -> None:
    for number, (name, result) in enumerate(results.items()):
        if file_format == "table":
            sys.stdout.write("\n" * (number > 0))
            title = name if len(results) > 1 else None
            show_table(result, SHOWN_ROWS if limit is None else limit, title)
            continue
        rows = result if limit is None else result.slice(0, limit)
        if file_format == "csv":
            text = io.BytesIO()
            _write_csv(rows, text)
            sys.stdout.write(text.getvalue().decode())
        else:
            before, after = (f'{{"query": "{name}", "match": ', "}\n") if len(results) > 1 else ("", "\n")
            sys.stdout.writelines(before + line + after for line in json_lines(rows))
    sys.stdout.flush()
