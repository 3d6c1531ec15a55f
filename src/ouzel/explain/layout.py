"""How an explanation is laid out: sections with a title beside them, on a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

WIDTH = 100
TITLE = 12
MARGIN = 2
WIDEST_LABEL = 38

Entry = tuple[str, Sequence[str]]
"""A label and the lines beside it."""

Sections = list[tuple[str, list[str]]]
"""Titles and the rows beside them."""

Placed = list[tuple[str, str]]
"""The conditions of a query, each with the one place of the plan where it went."""


def section(title: str, rows: Sequence[str]) -> list[str]:
    """Rows with a title beside the first; nothing if there are none.

    >>> section("window", ["WITHIN 1 hour"])
    ['  window      WITHIN 1 hour']
    """
    lines = [line for row in rows for line in _wrapped(row, WIDTH - MARGIN - TITLE)]
    return [f"{'':{MARGIN}}{title if number == 0 else '':<{TITLE}}{line}" for number, line in enumerate(lines)]


def columns(entries: Sequence[Entry]) -> list[str]:
    """Labels on the left, their lines aligned on the right; a long label, or one without lines, has its own row.

    >>> columns([("begin -> F", ["Stock", "and [symbol]"]), ("ignore", ["True"]), ("F", [])])
    ['begin -> F  Stock', '            and [symbol]', 'ignore      True', 'F']
    """
    fitting = [len(label) for label, lines in entries if lines and len(label) <= WIDEST_LABEL]
    left = max(fitting, default=4) + 2
    rows: list[str] = []
    for label, lines in entries:
        beside = [part for line in lines for part in _wrapped(line, WIDTH - MARGIN - TITLE - left)]
        if not lines or len(label) > WIDEST_LABEL:
            rows += _wrapped(label, WIDTH - MARGIN - TITLE)
            rows += [f"{'':{left}}{line}" for line in beside]
        else:
            rows += [f"{label if number == 0 else '':<{left}}{line}" for number, line in enumerate(beside)]
    return rows


def _wrapped(row: str, width: int) -> list[str]:
    """A row that is too wide as several, cut between words; a name may hold a line break, a row does not."""
    row = row.replace("\n", "\\n")
    if len(row) <= width:
        return [row]
    indent = " " * (len(row) - len(row.lstrip()) + 4)
    return wrap(row, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
