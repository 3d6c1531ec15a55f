"""The options that bound what a run may cost."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

import ouzel as oz
from ouzel.cli.options import wrong_option

LIMITS = "Limits"

MaxMatchesOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, rich_help_panel=LIMITS, help="How many matches there may be.", show_default="2^30"
    ),
]
MaxRunsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        rich_help_panel=LIMITS,
        help="How many runs may be open at once.",
        show_default="50,000,000",
    ),
]
MaxMemoryOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        rich_help_panel=LIMITS,
        help="What matches and runs may take of the memory: 4GB, 500MB.",
        show_default="half of what is available",
    ),
]
OnLimitOption = Annotated[
    Literal["error", "shed"],
    typer.Option(
        metavar="POLICY",
        rich_help_panel=LIMITS,
        help="What to do beyond: error stops, shed leaves out what goes beyond, and says how much.",
    ),
]


def limits_of(matches: int | None, runs: int | None, memory: str | None, on_limit: str) -> oz.Limits:
    """The limits that options ask for."""
    given = {"max_matches": matches, "max_runs": runs, "max_memory": memory}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        return oz.Limits(**chosen, on_limit=on_limit)
    except oz.OuzelError as error:
        raise wrong_option(error) from error
