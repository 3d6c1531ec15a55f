"""Lines of text files, as an editor counts them: where a row is, and where a file cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from ouzel.runtimes.files import Writing

# Up to this size Arrow reads JSON in one block, in which it counts rows.
_BLOCK = 1 << 20


def line_of_csv(source: Path | io.BytesIO, row: int, how: Writing) -> int | None:
    """The line on which a row of a CSV file begins; the header is on the first, and newlines in quotes count."""
    for number, (line, _fields) in enumerate(_records(source, how)):
        if number == row + 1:
            return line
    return None


def line_of_json(source: Path | io.BytesIO, row: int, how: Writing) -> int:
    """The line of a row of JSON lines; empty lines are no rows."""
    with text_of(source, how.encoding or "utf-8-sig") as file:
        lines = (number for number, line in enumerate(file, 1) if line.strip())
        return next((line for place, line in enumerate(lines) if place == row), row + 1)


def csv_trouble(source: Path | io.BytesIO, said: str, how: Writing) -> str:
    """What Arrow says of a CSV file that it cannot read, with the line."""
    found = re.search(r"Expected (\d+) columns, got \d+", said)
    if found is None:
        return said
    lines = (line for line, fields in _records(source, how) if len(fields) != int(found[1]))
    line = next(lines, None)
    hint = "" if how.encoding or not _has_zeros(source) else "\n  hint: say how it is written: encoding='utf-16'"
    return (said if line is None else f"line {line}: {said}") + hint


def json_trouble(source: Path | io.BytesIO, said: str, how: Writing) -> str:
    """What Arrow says of a file of JSON lines that it cannot read, with the line."""
    hint = (
        "\n  hint: required JSON lines, one object per line; on_bad='quarantine' sets events aside, not such lines"
    )
    with text_of(source, how.encoding or "utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if line.strip() and not _is_object(line):
                return f"line {number}: {said}{hint}"
    found = re.search(r" in row (\d+)$", said)
    if found is None or _size(source) > _BLOCK:
        return said + hint
    return f"line {line_of_json(source, int(found[1]), how)}: {said[: found.start()]}{hint}"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _records(source: Path | io.BytesIO, how: Writing) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV file with the lines on which they begin, up to one that Python cannot read.

    Empty lines are none.
    """
    # Python takes fields up to a length that holds for the whole process: Arrow takes longer ones
    with suppress(csv.Error), text_of(source, how.encoding or "utf-8-sig") as file:
        reader = csv.reader(file, delimiter=how.delimiter or ",")
        before = 0
        for fields in reader:
            if fields:
                yield before + 1, fields
            before = reader.line_num


@contextmanager
def text_of(source: Path | io.BytesIO, encoding: str, errors: str = "replace") -> Iterator[TextIO]:
    """The text of a file, also of one that is compressed."""
    is_zipped = isinstance(source, Path) and source.name.lower().endswith(".gz")
    opened = gzip.open if is_zipped else open
    # closed at the end: bytes are looked at more than once
    whole: Any = io.BytesIO(source.getvalue()) if isinstance(source, io.BytesIO) else opened(source, "rb")
    with whole as held, io.TextIOWrapper(held, encoding=encoding, errors=errors, newline="") as file:
        yield file


def _has_zeros(source: Path | io.BytesIO) -> bool:
    """Whether there are zero bytes at the start, as in no text but that of two bytes a character."""
    with text_of(source, "latin-1") as file:
        return "\0" in file.read(1000)


def _size(source: Path | io.BytesIO) -> int:
    return source.stat().st_size if isinstance(source, Path) else len(source.getbuffer())
