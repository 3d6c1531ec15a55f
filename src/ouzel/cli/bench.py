"""`ouzel bench`: measurements as ratios within one run."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

import ouzel as oz
from ouzel.bench.experiments import EXPERIMENTS, Experiment
from ouzel.bench.measure import Row
from ouzel.bench.plots import draw
from ouzel.cli.progress import progress_bar
from ouzel.cli.whole_files import naming, whole_files


def bench(
    names: Annotated[
        list[str] | None, typer.Argument(help=f"Experiments: {', '.join(EXPERIMENTS)}.  All, if none is named.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Seconds each: fewer events.")] = False,
    runs: Annotated[int, typer.Option("--runs", min=1, help="How often to run; the best time counts.")] = 3,
    to: Annotated[Path | None, typer.Option("--json", metavar="PATH", help="Write all figures to a file.")] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Draw each experiment, as DIR/NAME.svg.")
    ] = None,
    events: Annotated[int | None, typer.Option("--events", min=1, hidden=True)] = None,
) -> None:
    """Measure Ouzel in the papers' experiments and in eight cases more, beside what else can do the same.

    Times are in seconds, the best of several runs; the first call, in which kernels are compiled unless they are
    in the cache, is not among them.  Read the ratios: the machine is what it is.
    """
    for name in names or ():
        if name not in EXPERIMENTS:
            raise typer.BadParameter(f"'{name}': required one of {', '.join(EXPERIMENTS)}", param_hint="NAMES")
    console = Console(highlight=False, emoji=False)  # 1:100:100 are rates
    figures: dict[str, Any] = {"run": _circumstances(runs), "experiments": {}}
    for name in names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        size = events or (experiment.quick if quick else experiment.events)
        rows = _run(name, experiment, size, runs)
        title = f": {experiment.title}  {size:,} {experiment.unit}."
        console.print(Text.assemble("\n", (name, "bold"), title), soft_wrap=True)
        table = _table(rows)
        # wider than the terminal rather than illegible
        needed = console.measure(table, options=console.options.update(width=1_000)).maximum
        console.width = max(console.width, needed)
        console.print(table)
        figures["experiments"][name] = {experiment.unit: size, "rows": [_flat(row) for row in rows]}
        if to is not None:
            with whole_files([to]) as places, naming(to):
                places[to].write_text(json.dumps(figures, indent=1), encoding="utf-8")
        if plots is not None:
            plots.mkdir(parents=True, exist_ok=True)
            path = plots / f"{name}.svg"
            with whole_files([path]) as places, naming(path):
                draw(f"{name}: {experiment.title}", rows, experiment.drawn, places[path])


def _run(name: str, experiment: Experiment, events: int, runs: int) -> list[Row]:
    rows = []
    with progress_bar(name) as bar:
        for row in experiment.run(events, runs):
            bar.say(f"{name}: {row.varied} done")
            rows.append(row)
    return rows


def _circumstances(runs: int) -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "ouzel": oz.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "runs": runs,
    }


def _flat(row: Row) -> dict[str, object]:
    return {"varied": row.varied, "series": row.series, **row.figures, **({"note": row.note} if row.note else {})}


def _table(rows: Iterable[Row]) -> Table:
    flat = [_flat(row) for row in rows]
    columns = list(dict.fromkeys(name for one in flat for name in one))
    columns.sort(key=lambda name: name == "note")  # the last, if there is one
    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(Text(name), justify="left" if name in ("varied", "series", "note") else "right")
    for one in flat:
        table.add_row(*(Text(_text(one.get(name, ""))) for name in columns))  # no markup: [k] is part of a query
    return table


def _text(value: object) -> str:
    """A figure with as many digits as one can make use of.

    >>> [_text(value) for value in ("p1", 12_345.6, 12.345, 0.012345, 1.5e20)]
    ['p1', '12,346', '12.35', '0.0123', '1.5e+20']
    """
    if not isinstance(value, int | float):
        return str(value)
    if abs(value) >= 1e15:
        return f"{value:.3g}"
    if isinstance(value, int) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
