"""Quotes in CSV: one that is never closed would make the rest of a file one value."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ouzel.runtimes.file_lines import text_of

if TYPE_CHECKING:
    from ouzel.runtimes.files import Writing

NO_END = "a quote without an end\n  hint: close it; a quote within quotes is written twice"


def may_be_open(source: Path | io.BytesIO, table: pa.Table, how: Writing) -> bool:
    """Whether the last value of a file may be all that stood behind such a quote, newlines and all.

    It tells without reading the file that none is open, for nearly all files.
    """
    value = table.column(table.num_columns - 1)[-1].as_py() if table.num_rows and table.num_columns else None
    if not isinstance(value, str):
        return False
    end = f'"{value.replace(chr(34), chr(34) * 2)}'.encode()
    is_plain = how.encoding is None and not (isinstance(source, Path) and source.name.lower().endswith(".gz"))
    return _ends_with(source, end) if is_plain else value.endswith(("\n", "\r"))


def open_quote(source: Path | io.BytesIO, how: Writing) -> int | None:
    """The line on which a quote begins that has no end, if there is one."""
    opened: int | None = None
    with text_of(source, how.encoding or "utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if '"' in line and _is_open(line, how.delimiter or ",", is_open=opened is not None):
                opened = opened or number
            elif '"' in line:
                opened = None
    return opened


def _is_open(line: str, delimiter: str, *, is_open: bool) -> bool:
    """Whether a quote is open at the end of a line; one opens only at the start of a field.

    >>> [_is_open(line, ",", is_open=False) for line in ('1,"a', '1,"a""', '1,"a","b"', '1,5" wide')]
    [True, True, False, False]
    """
    place = 0
    while True:
        if is_open:
            place = _closing(line, place)
            if place < 0:
                return True
            place = line.find(delimiter, place)
        elif line[place : place + 1] == '"':
            is_open, place = True, place + 1
            continue
        else:
            place = line.find(delimiter, place)
        if place < 0:
            return False
        is_open, place = False, place + 1


def _closing(line: str, place: int) -> int:
    """The place behind the quote that closes a field; two are one that does not."""
    while (place := line.find('"', place)) >= 0:
        if line[place + 1 : place + 2] != '"':
            return place + 1
        place += 2
    return -1


def _ends_with(source: Path | io.BytesIO, end: bytes) -> bool:
    if isinstance(source, io.BytesIO):
        return source.getvalue().endswith(end)
    with source.open("rb") as file:
        if file.seek(0, os.SEEK_END) < len(end):
            return False
        file.seek(-len(end), os.SEEK_END)
        return file.read() == end
