"""`ouzel demo`: a shop's RFID readings, and what two queries find in them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from shlex import quote
from time import perf_counter
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.parquet
import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import ouzel as oz
from ouzel.cli.progress import progress_bar
from ouzel.cli.show import show_table
from ouzel.cli.whole_files import naming, whole_files
from ouzel.testing.retail import Retail, retail_readings

SHOPLIFTING = """\
-- Items that were carried out unpaid: on a shelf, at no register, at an exit.
PATTERN SEQ(Shelf a, !(Register b), Exit c)
WHERE   [tag_id]
WITHIN  12 hours
RETURN  a.tag_id, a.product, a.ts AS on_shelf, c.ts AS left
"""

MISPLACED = """\
-- Items on a wrong shelf: on one, then on another, and not back within the hour.
PATTERN SEQ(Shelf a, Shelf b, !(ANY(Register, Shelf) c))
WHERE   [tag_id] AND a.shelf_id != b.shelf_id AND a.shelf_id = c.shelf_id
WITHIN  1 hour
RETURN  a.tag_id, a.product, a.shelf_id AS home, b.shelf_id AS wrong, b.ts AS moved
"""

KEYWORDS = ("PATTERN", "SEQ", "ANY", "WHERE", "AND", "WITHIN", "RETURN", "AS")
ROWS = 20


def demo(
    readings: Annotated[int, typer.Option(metavar="N", help="How many readings to make up.")] = 1_000_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="What decides them.")] = 7,
    folder: Annotated[
        Path, typer.Option("--dir", metavar="PATH", help="Where to put them and the queries.")
    ] = Path("demo"),
    runtime: Annotated[
        Literal["embedded", "spark"], typer.Option(metavar="NAME", help="Where to match: embedded, or spark.")
    ] = "embedded",
) -> None:
    """Make up a shop's RFID readings, and find stolen and misplaced items in them.

    Writes retail.parquet, shoplifting.ozl and misplaced.ozl, to play with afterwards.
    """
    week = _make_up(readings, seed)
    folder.mkdir(parents=True, exist_ok=True)
    events = folder / "retail.parquet"
    with whole_files([events]) as places, naming(events):
        pyarrow.parquet.write_table(week.readings, places[events], compression="zstd")
    console = Console(highlight=False)
    size = events.stat().st_size / 1_000_000
    console.print(f"A week of RFID readings in a shop: {readings:,}, in {events} ({size:.1f} MB)", markup=False)
    tasks = (
        ("shoplifting", SHOPLIFTING, week.stolen, "stolen"),
        ("misplaced", MISPLACED, week.misplaced, "misplaced"),
    )
    source: Any = week.readings
    if runtime == "spark":
        with progress_bar("starting Spark"):
            source = oz.spark_session().read.parquet(str(events.resolve()))
    for name, text, injected, fate in tasks:
        _keep(folder / f"{name}.ozl", text)
        _find(console, name, text, source, injected, fate)
    _suggest(console, folder, events)


def _make_up(readings: int, seed: int) -> Retail:
    with progress_bar("making up readings"):
        try:
            return retail_readings(readings, seed)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--readings") from error


def _keep(path: Path, text: str) -> None:
    """Write a query, unless there is one, which may have been edited."""
    if not path.exists():
        with whole_files([path]) as places, naming(path):
            places[path].write_text(text, encoding="utf-8")


def _find(console: Console, name: str, text: str, readings: Any, injected: tuple[int, ...], fate: str) -> None:
    """Run a query; show it, what it finds, and whether that is what there was to find."""
    shown = Text(text.rstrip())
    shown.highlight_words(KEYWORDS, "bold cyan")
    shown.highlight_regex("--.*", "italic dim")
    console.print(Padding(shown, (1, 2, 0, 2)))
    report, began = oz.Report(), perf_counter()
    with progress_bar(name) as bar:
        matches = oz.match(readings, text, report=report, progress=bar)
        if not isinstance(matches, pa.Table):
            matches = matches.toArrow()
    seconds = perf_counter() - began
    events = report.events or readings.count()
    show_table(matches, ROWS)
    items = set(matches.column("tag_id").to_pylist())
    exact = items == set(injected)
    verdict = f"exactly those that were {fate}" if exact else f"{len(injected):,} were {fate}"
    console.print(
        f"{len(items):,} items: {verdict}.\n{events:,} events in {seconds:.1f} s: {events / seconds:,.0f} events/s"
    )


def _suggest(console: Console, folder: Path, events: Path) -> None:
    """Say what to try next, as commands to copy."""
    slow = quote("PATTERN SEQ(Register a, Exit b) WHERE [tag_id] AND b.ts - a.ts > 9 minutes")
    shoplifting, misplaced, readings = (
        quote(str(p)) for p in (folder / "shoplifting.ozl", folder / "misplaced.ozl", events)
    )
    # in a virtual environment that is not activated, the command has to be called by its path
    ouzel = "ouzel" if shutil.which("ouzel") else quote(sys.argv[0])
    commands = (
        f"{ouzel} run {shoplifting} --events {readings} --to thefts.csv",
        f"{ouzel} explain {misplaced} --events {readings}",
        f"{ouzel} run {slow} --events {readings} --limit 5",
    )
    console.print("\nTry next, or edit the queries and run them again:\n")
    for command in commands:
        console.print(f"  {command}", markup=False, soft_wrap=True)
    console.print(f"\n{ouzel} run --help says more.")
