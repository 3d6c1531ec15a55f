"""The end of what Ouzel starts for Spark: Java's process, from its first moment on, and the files beside it."""

from __future__ import annotations

import atexit
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# For how long to wait until whoever starts a Java has seen that it is gone, in seconds.
PATIENCE = 0.3
_processes: list[subprocess.Popen[Any]] = []
_tidying: list[Callable[[], object]] = []
_is_started = threading.Event()
_is_started.set()


def at_end(tidy: Callable[[], object]) -> None:
    """Do something when this process ends, also where it does so at once."""
    _tidying.append(tidy)
    atexit.register(tidy)


@contextmanager
def starting_java() -> Iterator[None]:
    """Know the process of Java as soon as there is one, and end it if it does not get to work.

    PySpark tells of it only when it answers; where it is interrupted before, it leaves a Java that never ends.
    """
    from pyspark import java_gateway

    start: Any = vars(java_gateway)["Popen"]

    def known(*arguments: Any, **options: Any) -> Any:
        _processes.append(start(*arguments, **options))
        return _processes[-1]

    vars(java_gateway)["Popen"] = known
    _is_started.clear()
    try:
        yield
    except BaseException:
        _end_java()
        raise
    finally:
        vars(java_gateway)["Popen"] = start
        _is_started.set()


def end_at_once() -> None:
    """End Java, and leave nothing behind: whoever ends the process in the midst of something calls it before."""
    _end_java()
    _is_started.wait(PATIENCE)
    for tidy in _tidying:
        with suppress(OSError):
            tidy()


def _end_java() -> None:
    for process in _processes:
        process.terminate()
