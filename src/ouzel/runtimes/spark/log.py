"""Where a Spark that Ouzel starts says what it does: in a file, not on the terminal.

PySpark's own processes write several lines for each stream and micro-batch, whatever the level of Spark's log;
they go where Java's errors go.  So those go to a file, and Spark's log with them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from ouzel.runtimes.spark.ending import at_end

NAMED = "OUZEL_SPARK_LOG"
"""The variable that names the file; it is then kept."""


class _Log:
    """The file: one for all sessions of a process, as they share a Java."""

    path: Path | None = None
    is_kept = False

    def open(self) -> Path:
        """The file, made when it is first asked for."""
        named = os.environ.get(NAMED)
        if self.path is None and named:
            self.path = Path(named).absolute()
        if self.path is None:
            number, name = tempfile.mkstemp(prefix="ouzel-spark-", suffix=".log")
            os.close(number)
            self.path = path = Path(name)
            at_end(lambda: self.remove(path))
        return self.path

    def remove(self, path: Path) -> None:
        """At the end, remove what nobody was told of."""
        if not self.is_kept:
            path.unlink(missing_ok=True)


_log = _Log()


def divert(jvm: Any) -> None:
    """Let a Java write its errors, and all that Spark logs, to the file from now on."""
    system, files = jvm.java.lang.System, jvm.java.io
    system.setErr(files.PrintStream(files.FileOutputStream(str(_log.open()), True), True))


def log_file() -> Path | None:
    """The log of the Spark that this process has started, if there is anything in it; it is kept from now on."""
    path = _log.path
    if path is None or not path.exists() or not path.stat().st_size:
        return None
    _log.is_kept = True
    return path
