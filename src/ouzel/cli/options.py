"""The options that several commands share, and what their values mean."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ouzel.automata import automaton
from ouzel.errors import OuzelError, QueryError
from ouzel.language.document import is_document
from ouzel.language.strict_json import read_json
from ouzel.optimizer import check_engine
from ouzel.physical import ENGINES
from ouzel.runtimes.files import Writing
from ouzel.runtimes.spark.masters import check_master

QUERY_SUFFIX, AUTOMATON_SUFFIX = ".ozl", ".json"

EVENTS, QUERY, RESULTS = "The events", "The query", "The matches"

QueryArgument = Annotated[
    str,
    typer.Argument(
        metavar="QUERY",
        help="The query, or the path of a file that holds it (an automaton: .json).",
        show_default=False,
    ),
]
EVENTS_HELP = (
    "A Parquet, CSV or JSON lines file, a directory of them, a pattern in quotes ('logs/*.csv'), or - for stdin; "
    "repeatable, files of one schema are one table. One table per event type: NAME=PATH."
)
EventsFormatOption = Annotated[
    Literal["csv", "json", "parquet"] | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="FORMAT",
        help="csv, json (lines) or parquet.",
        show_default="as PATH ends; of stdin, as it begins",
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS, metavar="NAME", help="The encoding of CSV and JSON lines.", show_default="UTF-8"
    ),
]
DelimiterOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="CHAR",
        help="What is between the fields of CSV; tab for tabs.",
        show_default=",",
    ),
]
TimeOption = Annotated[
    str,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="COLUMN",
        help="The column with the time of an event; of events that last: START,END.",
    ),
]
TypeOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="COLUMN",
        help="The column with its type.",
        show_default="type, if there is such a column",
    ),
]
NoTypeOption = Annotated[
    bool,
    typer.Option(
        "--no-type", rich_help_panel=EVENTS, help="There are no types: every component ranges over all events."
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="COLUMN,…",
        help="Columns that break ties, the time first: ts,seq; arrival, also last, for the order of rows.",
        show_default=False,
    ),
]
TimeUnitOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="UNIT",
        help="The unit of a time column of integers: s, ms, us or ns.",
        show_default="ms",
    ),
]
OpOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="COLUMN",
        help="The column that says whether a row inserts an event, 1, or withdraws an equal one, -1.",
        show_default=False,
    ),
]
IdentityOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=EVENTS,
        metavar="COLUMN,…",
        help="With --op: the columns in which, and in the time, a row equals the event that it withdraws.",
        show_default="all columns",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        rich_help_panel=QUERY,
        metavar="NAME=VALUE",
        help="The value of $NAME in the query; repeatable.",
        show_default=False,
    ),
]


def known_master(master: str | None) -> str | None:
    """A master that may be one."""
    try:
        if master is not None:
            check_master(master)
    except OuzelError as error:
        raise wrong_option(error) from error
    return master


def _known_engine(name: str) -> str:
    try:
        check_engine(ENGINES, name)
    except OuzelError as error:
        raise typer.BadParameter(str(error)) from error
    return name


EngineOption = Annotated[
    str,
    typer.Option(
        rich_help_panel=QUERY, metavar="NAME", help="The engine that runs the query.", callback=_known_engine
    ),
]


def query_text(query: str) -> str:
    """The text of a query that is given as it is or as a file: one in the language, or an automaton in JSON."""
    path = Path(query)
    is_json = path.suffix == AUTOMATON_SUFFIX and len(query.split()) == 1
    if query.endswith(QUERY_SUFFIX) or is_json or is_file(path):
        try:
            return _said(path.read_text(encoding="utf-8"), f"in '{path}'", is_json)
        except UnicodeDecodeError as error:
            raise OuzelError(f"'{path}': required a query as UTF-8 text; {error}") from error
    if _is(path.is_dir):
        raise typer.BadParameter(f"'{path}': required a query, or a file that holds one; got a directory")
    return _said(query, "in the query", is_json=False)


def _said(text: str, where: str, is_json: bool) -> str:
    """The query that a text says; no query of the language begins as an automaton in JSON does."""
    if is_document(text) or not (is_json or text.lstrip().startswith("{")):
        return text
    required = "an automaton in JSON: an object with start, final and arcs"
    try:
        spec = read_json(text)
        if not isinstance(spec, dict):
            raise ValueError(f"got {json.dumps(spec)[:40]}")
        return automaton(spec).text
    except ValueError as error:
        raise QueryError(f"{where}: {error}", required=required) from None
    except QueryError as error:
        error.add_note(where)
        raise


def is_file(path: Path) -> bool:
    """Whether a query is given as a file."""
    return _is(path.is_file)


def _is(what: Callable[[], bool]) -> bool:
    try:
        return what()
    except OSError:  # a query can be longer than a file name
        return False


def reading(
    time: str, type: str | None, no_type: bool, order: str | None, time_unit: str | None
) -> dict[str, Any]:
    """The options of `match` that say how to read events."""
    if type is not None and no_type:
        raise typer.BadParameter("cannot be used together with --type", param_hint="--no-type")
    times = times_of(time)
    if len(times) > 1 and order is not None:
        raise typer.BadParameter(
            f"cannot be used together with --time {time}: events that last are ordered by when they end",
            param_hint="--order",
        )
    options: dict[str, Any] = {"time": times if len(times) > 1 else time, "time_unit": time_unit}
    if type is not None or no_type:
        options["type"] = type
    if order is not None:
        names = [name.strip() for name in order.split(",")]
        options["order"] = "arrival" if names == ["arrival"] else names
    return options


def correcting(op: str | None, identity: str | None) -> dict[str, Any]:
    """The options of `match` that say how events are withdrawn."""
    if op is None and identity is not None:
        raise typer.BadParameter("is for --op", param_hint="--identity")
    names = None if identity is None else [name.strip() for name in identity.split(",")]
    return {} if op is None else {"op": op, "identity": names}


def times_of(time: str) -> tuple[str, ...]:
    """The columns that `--time` names: that of the time, or those in which events start and end.

    >>> times_of("ts"), times_of("start, end")
    (('ts',), ('start', 'end'))
    """
    if "," not in time:
        return (time,)
    names = tuple(name.strip() for name in time.split(","))
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise typer.BadParameter(
            f"required COLUMN, or START,END of events that last; got '{time}'", param_hint="--time"
        )
    return names


def writing(events_format: str | None, encoding: str | None, delimiter: str | None) -> Writing:
    """How files of events are written."""
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    try:
        return Writing(events_format, encoding, delimiter)
    except OuzelError as error:
        raise wrong_option(error) from error


def wrong_option(error: OuzelError) -> typer.BadParameter:
    """What is wrong with an argument, as of the option for it."""
    name, _colon, text = str(error).partition(": ")
    return typer.BadParameter(text, param_hint=f"--{name.replace('_', '-')}")


def parameters(written: list[str] | None) -> dict[str, Any]:
    """The values of `--param NAME=VALUE`.

    >>> parameters(["n=5", "share=.5", "shop=Madrid", "open=true", "zip='00123'"])
    {'n': 5, 'share': 0.5, 'shop': 'Madrid', 'open': True, 'zip': '00123'}
    """
    values = {}
    for one in written or []:
        name, equals, value = one.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"required NAME=VALUE; got '{one}'", param_hint="--param")
        values[name.removeprefix("$")] = _value(value)
    return values


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text)
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        return float(text)
    quoted = re.fullmatch(r"'(.*)'|\"(.*)\"", text, re.DOTALL)
    return quoted[quoted.lastindex or 1] if quoted else text
