"""The options of streams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

STREAM = "A stream of events"

StreamOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        rich_help_panel=STREAM,
        help="Instead of --events: kafka://HOST:PORT/TOPIC, a directory that gets new files, or 'DIR/*.json'.",
        show_default=False,
    ),
]
SchemaOption = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMNS",
        rich_help_panel=STREAM,
        help="The columns of events in JSON or CSV: 'ts timestamp, type string, tag long'. "
        "Of events in Avro: the path of their schema (.avsc).",
        show_default=False,
    ),
]
WatermarkOption = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=STREAM,
        help="How much later than others an event may come: '10 minutes', or a number of the time column's units.",
        show_default="0",
    ),
]
SpeculationOption = Annotated[
    str | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=STREAM,
        help="How far past the watermark matches are reported before they are final, to be withdrawn if they were "
        "wrong: inf, '10 minutes', or a number of the time column's units. Matches then have op and match_id.",
        show_default="0: none",
    ),
]
UpsertOption = Annotated[
    str | None,
    typer.Option(
        metavar="TABLE",
        rich_help_panel=STREAM,
        help="With --op or --speculation, apply what is inserted and withdrawn to a table, by match_id: one of "
        "the database --to jdbc:postgresql://HOST:PORT/NAME, or delta if --to is the directory of a Delta table.",
        show_default="a log of changes",
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        rich_help_panel=STREAM,
        help="Where the stream keeps its state: with the same, it goes on where it stopped.",
        show_default=False,
    ),
]
BucketsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        rich_help_panel=STREAM,
        help="Into how many parts the keys go: 2 to 4 for each core. Fixed for the life of a checkpoint.",
        show_default="8",
    ),
]
NowOption = Annotated[
    bool,
    typer.Option("--available-now", rich_help_panel=STREAM, help="End when all that is there now is matched."),
]
