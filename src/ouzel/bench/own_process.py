"""A measurement in a process of its own, whose memory is watched."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ouzel.bench.measure import Figures


def in_own_process(run: Callable[..., Figures], *arguments: Any) -> Figures:
    """Run it in a new process, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(run, *arguments).result()


def peak_memory() -> int:
    """The most memory that this process ever had, in bytes.

    Linux counts in ru_maxrss what a process had before it became this program.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def forget_peak() -> int:
    """Begin to watch anew, where the system lets one; the memory that there is at this moment, in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak_memory()
