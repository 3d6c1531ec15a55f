"""`ouzel state`: what the checkpoint of a stream holds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import dedent, indent
from typing import Annotated, Literal

import pyarrow.compute as pc
import typer
from rich.console import Console
from rich.filesize import decimal
from rich.text import Text

from ouzel.cli.progress import progress_bar
from ouzel.cli.run import MasterOption
from ouzel.cli.show import counted, rich_table
from ouzel.cli.spark import SparkRun
from ouzel.errors import StateError
from ouzel.runtimes.json_lines import json_lines
from ouzel.runtimes.spark.checkpoints import Checkpoint, read_checkpoint


def state(
    checkpoint: Annotated[
        Path, typer.Argument(metavar="PATH", help="The directory of the checkpoint.", show_default=False)
    ],
    *,
    master: MasterOption = None,
    file_format: Annotated[
        Literal["table", "json"] | None,
        typer.Option(
            "--format", metavar="FORMAT", help="table, or json (lines).", show_default="as for ouzel run"
        ),
    ] = None,
) -> None:
    """Show what a stream keeps in its checkpoint: buckets, their sizes, open runs, the watermark.

    The state is that after the last micro-batch.  Open runs are those that are kept: what the window has passed
    goes many at once.
    """
    is_local = re.match(r"\w+:/", str(checkpoint)) is None
    if is_local and not checkpoint.exists():  # Spark takes seconds to say so
        raise FileNotFoundError(2, "no such file or directory", str(checkpoint))
    if is_local and not (checkpoint / "offsets").is_dir():
        raise StateError(f"'{checkpoint}': required the checkpoint of a stream that Ouzel matched; it holds none")
    with progress_bar("starting Spark") as bar:
        spark = SparkRun(master)
        bar.say("reading the state")
        found = read_checkpoint(checkpoint, spark.session)
    if (file_format or ("table" if sys.stdout.isatty() else "json")) == "json":
        sys.stdout.writelines(line + "\n" for line in json_lines(found.buckets))
    else:
        _show(found)


def _show(found: Checkpoint) -> None:
    console = Console()
    console.print(Text(indent(dedent(found.query).strip(), "  ")), soft_wrap=True)
    console.print(rich_table(found.buckets))
    size, runs = (pc.sum(found.buckets.column(name)).as_py() for name in ("state_bytes", "open_runs"))
    text = f"{decimal(size)}, {counted(runs, 'open run', 'open runs')}, events {found.layout}"
    console.print(Text(text, "dim"), soft_wrap=True)
