"""Tables on the terminal."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from ouzel.runtimes.json_lines import plain_rows

LISTED = 3


def show_table(table: pa.Table, limit: int, title: str | None = None) -> None:
    """Print the first rows of a table, and how many there are."""
    console = Console()
    if title is not None:
        console.print(Text(title, "bold"))
    if table.num_rows:
        console.print(rich_table(table.slice(0, limit)))
    count = counted(table.num_rows, "match", "matches")
    if table.num_rows > limit:
        count = f"the first {limit:,} of {count}"
    console.print(Text(count, "dim"))


def rich_table(table: pa.Table) -> Table:
    """All rows of a table, for the terminal."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for field in table.schema:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        justify: JustifyMethod = "right" if number else "left"
        shown.add_column(Text(field.name), justify=justify, overflow="fold", no_wrap=number)
    for row in plain_rows(table):
        shown.add_row(*(_cell(row[name]) for name in table.column_names))
    return shown


def counted(number: int, one: str, several: str) -> str:
    """A number with its noun.

    >>> counted(1, "match", "matches"), counted(2000, "match", "matches")
    ('1 match', '2,000 matches')
    """
    return f"{number:,} {one if number == 1 else several}"


def _cell(value: Any) -> Text:
    """A value in its column: a struct as it is, a list line by line."""
    if value is None:
        return Text("null", "dim")
    if isinstance(value, dict):
        return Text(_fields(value))
    if isinstance(value, list):
        return Text("\n".join(_elements(value)))
    return Text(_compact(value))


def _compact(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{_fields(value)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_elements(value))}]"
    if isinstance(value, bool) or value is None:
        return str({None: "null", True: "true", False: "false"}[value])
    text = re.sub(r"(?<=^\d{4}-\d\d-\d\d)T", " ", str(value))
    return re.sub(r"^PT(-?\d+(\.\d+)?)S$", r"\1 s", text)


def _fields(value: dict[str, Any]) -> str:
    """The fields of a struct that are not null: an event has no more to say."""
    return ", ".join(f"{name}={_compact(one)}" for name, one in value.items() if one is not None)


def _elements(value: list[Any]) -> list[str]:
    """The first elements of a list, and how many there are."""
    shown = [_fields(one) if isinstance(one, dict) else _compact(one) for one in value[:LISTED]]
    return shown + ([f"… ({len(value):,} in all)"] if len(value) > LISTED else [])
