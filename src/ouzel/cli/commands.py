"""The `ouzel` command: its help, and what becomes of errors and warnings."""

from __future__ import annotations

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.text import Text

import ouzel as oz
from ouzel.cli.bench import bench
from ouzel.cli.demo import demo
from ouzel.cli.explain import explain
from ouzel.cli.progress import STDERR
from ouzel.cli.run import RUN_EXAMPLES, run
from ouzel.cli.state import state
from ouzel.physical.limits import out_of_memory

EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (oz.QueryError, 3),
    (oz.SchemaError, 4),
    (oz.DataError, 4),
    (oz.OuzelError, 5),
    (OSError, 5),
)
UNEXPECTED = 1
BROKEN_PIPE = 128 + 13

HELP = """\
Find patterns in files of events.

A query says which events to find, in which order, under which conditions:

  PATTERN SEQ(Shelf a, !(Register b), Exit c)   shelf, not paid, exit
  WHERE   [tag_id]                              readings of one item
  WITHIN  12 hours                              from the first to the last
  RETURN  a.tag_id, c.ts AS left                what to tell of each match

Each command has a help of its own: ouzel run --help
"""

EXAMPLES = """\
Examples, on the data that the first of them makes:

  # A shop's readings and two queries, in the directory demo
  ouzel demo --readings 20000

  # Items that were carried out unpaid, as a file
  ouzel run demo/shoplifting.ozl --events demo/retail.parquet --to thefts.csv

  # Items that were sold after at least n readings on one day
  ouzel run 'PATTERN SEQ(Shelf+ a[], Register b)
             WHERE skip_till_next_match(a[], b) { [tag_id] AND a.LEN >= $n }
             WITHIN 12 hours
             RETURN b.tag_id, a.LEN AS readings, b.ts AS sold' \\
    --events demo/retail.parquet --param n=3

Exit codes:

  0  done                    4  the events do not fit the query
  1  a bug in Ouzel          5  another error: no such file, for example
  2  the command is wrong  130  stopped by Ctrl-C
  3  the query is wrong    141  the reader of the output went away
"""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ouzel {oz.__version__}")
        raise typer.Exit


@app.callback(help=escape(HELP), epilog=escape(EXAMPLES))
def ouzel(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Do what the command says."""


app.command(epilog=escape(RUN_EXAMPLES))(run)
app.command()(explain)
app.command()(demo)
app.command()(bench)
app.command()(state)


def run_command(args: Sequence[str] | None) -> None:
    """Run the command, and end with its exit code; raise KeyboardInterrupt where it was interrupted."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", oz.OuzelWarning)
        warnings.showwarning = _warn
        try:
            app(args=args, prog_name="ouzel")
        except BrokenPipeError:
            _silence_stdout()
            raise SystemExit(BROKEN_PIPE) from None
        except SystemExit as end:
            # Both Typer and Rich turn a broken pipe into exit code 1, which is that of a bug.
            if isinstance(end.__context__, BrokenPipeError):
                _silence_stdout()
                raise SystemExit(BROKEN_PIPE) from None
            # Typer turns Ctrl-C into an exit code without a word
            if end.__context__ is not None and isinstance(end.__context__.__cause__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            raise
        except Exception as error:
            raise SystemExit(_report(error)) from None


def _report(error: Exception) -> int:
    """Print an error; the exit code that it calls for."""
    for kind, code in EXIT_CODES:
        if isinstance(error, kind):
            _print("error", "bold red", _describe(error))
            return code
    if isinstance(error, MemoryError):
        return _report(out_of_memory())
    if os.environ.get("OUZEL_TRACEBACK"):
        traceback.print_exception(error)
    hint = "this is a bug in Ouzel; please report it, with the command and what OUZEL_TRACEBACK=1 adds to this"
    _print("unexpected error", "bold red", f"{type(error).__name__}: {error}\n  hint: {hint}")
    return UNEXPECTED


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return _as_options("\n  ".join([str(error), *getattr(error, "__notes__", ())]))


def _as_options(text: str) -> str:
    for said, option in OPTIONS:
        text = re.sub(said, option, text)
    return text


# The Python API's words for what is an option here.
OPTIONS = (
    (r"\b(time|type|order)='…'", r"--\1 COLUMN"),
    (r"\bparams=\{'(\w+)': …\}", r"--param \1=…"),
    (r"\bon_bad='quarantine'", "--on-bad quarantine"),
    (r"\btime_unit '", "--time-unit '"),
    (r"\btime_unit='(\w+)'", r"--time-unit \1"),
    (r"\bmax_(runs|matches|memory)\b", r"--max-\1"),
    (r"\bon_limit='(\w+)'", r"--on-limit \1"),
    (r" or mode='compressed'", ""),
    (r"\bTrue beside the directory of a Delta", "'delta' beside the directory of a Delta"),
    (r"\boz\.match\(…, op=…\) and .* make one; of several queries, select one", "--op and --speculation make one"),
    (r"\bencoding='([\w-]+)'", r"--encoding \1"),
    (r"\bdelimiter='\\t'", "--delimiter tab"),
    (r"\bdelimiter='(.)'", r"--delimiter '\1'"),
)


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    name = "" if issubclass(category, oz.OuzelWarning) else f"{category.__name__}: "
    _print("warning", "yellow", _as_options(f"{name}{message}"))


def _print(kind: str, style: str, text: str) -> None:
    """Print to stderr, without wrapping: a caret has to stay below what it points at."""
    STDERR.print(Text.assemble((f"{kind}: ", style), text), soft_wrap=True)


def _silence_stdout() -> None:
    """Let what is still buffered go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
