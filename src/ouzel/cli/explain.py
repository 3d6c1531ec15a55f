"""`ouzel explain`: what a query means and how it will be run."""

from __future__ import annotations

from typing import Annotated

import typer

import ouzel as oz
from ouzel.cli.options import (
    EVENTS,
    EVENTS_HELP,
    DelimiterOption,
    EncodingOption,
    EngineOption,
    EventsFormatOption,
    NoTypeOption,
    OrderOption,
    ParamOption,
    QueryArgument,
    TimeOption,
    TimeUnitOption,
    TypeOption,
    parameters,
    query_text,
    reading,
    times_of,
    writing,
)
from ouzel.cli.progress import progress_bar
from ouzel.cli.read import read_events

EventsOption = Annotated[
    list[str] | None, typer.Option(metavar="PATH", rich_help_panel=EVENTS, help=EVENTS_HELP, show_default=False)
]


def explain(
    query: QueryArgument,
    *,
    events: EventsOption = None,
    time: TimeOption = "ts",
    type: TypeOption = None,
    no_type: NoTypeOption = False,
    order: OrderOption = None,
    time_unit: TimeUnitOption = None,
    events_format: EventsFormatOption = None,
    encoding: EncodingOption = None,
    delimiter: DelimiterOption = None,
    param: ParamOption = None,
    engine: EngineOption = "auto",
) -> None:
    """Say what a query means and how it will be run.

    With events, the query is checked against their columns too.
    """
    options = reading(time, type, no_type, order, time_unit)
    parsed = oz.query(query_text(query), parameters(param))
    if events:
        how = writing(events_format, encoding, delimiter)
        with progress_bar("reading events"):
            tables = read_events(events, times_of(time), how).events
            text = parsed.explain(tables, engine=engine, on_bad="quarantine", **options)
    else:
        text = parsed.explain(engine=engine)
    typer.echo(text)
