"""What stderr gets: messages, and a progress bar where there is someone to look at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

STDERR = Console(stderr=True, highlight=False)
"""One for all, so that a message does not run into a bar that is being shown."""


class Bar:
    """What is being done, and how much of it is done; called with both numbers, as `match` does."""

    def __init__(self, bar: Progress, task: TaskID) -> None:
        self._bar = bar
        self._task = task

    def say(self, text: str) -> None:
        """Name what is being done; how much of it there is, is not known yet."""
        self._bar.update(self._task, description=text, completed=0, total=None, count="")

    def note(self, text: str) -> None:
        """Say how it stands, where nobody knows how much there is to do."""
        self._bar.update(self._task, count=text)

    def tasks(self, done: int, total: int) -> None:
        """Show how many of Spark's tasks are done of those of the stages at work."""
        self._bar.update(self._task, completed=done, total=total, count=f"{done:,} of {total:,} tasks")

    def __call__(self, done: int, total: int) -> None:
        """Show how many events are done of how many."""
        self._bar.update(self._task, completed=done, total=total, count=f"{done:,} of {total:,} events")


@contextmanager
def progress_bar(text: str) -> Iterator[Bar]:
    """Show a bar while the block runs, and remove it afterwards."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
    )
    hidden = not (sys.stderr.isatty() and STDERR.is_terminal)
    with Progress(*columns, console=STDERR, transient=True, disable=hidden) as bar:
        yield Bar(bar, bar.add_task(text, total=None, count=""))
