"""Files in: what `--events` names becomes events as `match` takes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer

from ouzel.errors import SchemaError
from ouzel.runtimes.files import FileEvents, Part, Writing, parts_of, read_parts

STDIN = "-"


@dataclass(frozen=True)
class Sources:
    """All files of a command: as one table, or one per event type."""

    tables: dict[str, FileEvents]

    @property
    def events(self) -> Any:
        """The events as `match` takes them."""
        return self.tables[""] if list(self.tables) == [""] else self.tables

    @property
    def written(self) -> dict[str, pa.Table]:
        """The events as their files hold them."""
        return {name: table.written for name, table in self.tables.items()}

    @property
    def empty(self) -> Any:
        """The columns without the events: what is found in them shows the columns of the result."""
        return Sources({name: table.none() for name, table in self.tables.items()}).events


def named_paths(options: Sequence[str]) -> dict[str, list[str]]:
    """The paths that `--events` names, by event type; those without one are one table."""
    named: dict[str, list[str]] = {}
    for option in options:
        name, path = split(option)
        named.setdefault(name, []).append(path)
    if "" in named and len(named) > 1:
        raise typer.BadParameter(
            "several tables require one event type each: --events Shelf=shelf.csv --events Exit=exit.csv",
            param_hint="--events",
        )
    if sum(path == STDIN for paths in named.values() for path in paths) > 1:
        raise typer.BadParameter("- is stdin, which can be read but once", param_hint="--events")
    return named


def split(option: str) -> tuple[str, str]:
    """Tell NAME=PATH from a path, which may hold an equals sign too."""
    found = re.fullmatch(r"([\w-]+)=(.+)", option, re.DOTALL)
    if found is None or Path(option).exists():
        return "", option
    return found[1], found[2]


def read_events(options: Sequence[str], times: Sequence[str], how: Writing) -> Sources:
    """Read the files that `--events` names."""
    parts = {
        name: [p for path in paths for p in _parts(path, how)] for name, paths in named_paths(options).items()
    }
    return Sources({name: read_parts(held, times, how) for name, held in parts.items()})


def _parts(path: str, how: Writing) -> list[Part]:
    if path == STDIN:
        content = sys.stdin.buffer.read()
        return [Part(Path("stdin"), how.format or _format_of(content), content)]
    try:
        return parts_of(Path(path), how)
    except SchemaError as error:
        text = str(error) if "hint: " in str(error) else f"{error}, or --events-format"
        raise typer.BadParameter(text, param_hint="--events") from error


def _format_of(content: bytes) -> str:
    """The format of what comes in on stdin: Parquet says what it is, and JSON lines begin with a brace."""
    if content.startswith(b"PAR1"):
        return "parquet"
    return "json" if content.lstrip()[:1] == b"{" else "csv"
