"""`ouzel bench`: measurements as ratios within one run."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ouzel.bench.experiments import EXPERIMENTS, Row

QUICK = 100_000


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Experiments: {', '.join(EXPERIMENTS)}.  All, if none is named.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few seconds each: fewer events.")] = False,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often to run; the best time counts.")] = 3,
    to: Annotated[Path | None, typer.Option("--json", help="Write the figures to a file.")] = None,
) -> None:
    """Measure Ouzel in the papers' experiments, beside DuckDB where it is installed and can do the same."""
    console = Console()
    figures: dict[str, list[dict[str, object]]] = {}
    for name in names or EXPERIMENTS:
        if name not in EXPERIMENTS:
            raise typer.BadParameter(f"'{name}': required one of {', '.join(EXPERIMENTS)}", param_hint="NAMES")
        run, events = EXPERIMENTS[name]
        rows = list(run(min(events, QUICK) if quick else events, runs))
        console.print(_table(name, run.__doc__ or "", rows))
        figures[name] = [asdict(row) for row in rows]
    if to is not None:
        to.write_text(json.dumps(figures, indent=1), encoding="utf-8")


def _table(name: str, title: str, rows: list[Row]) -> Table:
    table = Table(title=f"{name}: {title}", title_justify="left", box=None, pad_edge=False)
    for column in ("varied", "matches", "seconds", "million events/s", "DuckDB, seconds", "times faster"):
        table.add_column(column, justify="left" if column == "varied" else "right")
    for row in rows:
        peer = ("", "") if row.peer is None else (f"{row.peer:.3f}", f"{row.ratio:.1f}")
        table.add_row(row.varied, f"{row.matches:,}", f"{row.seconds:.3f}", f"{row.rate / 1e6:.2f}", *peer)
    return table
