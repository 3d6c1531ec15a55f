"""Threads that wait for work: to start one for every small batch would take longer than the work."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue


class Worker:
    """A thread that does one work after the other, and is idle in between."""

    def __init__(self) -> None:
        """Begin with nothing to do; an error if the system allows for no more threads."""
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_left = False
        self.thread = threading.Thread(target=self._go_on, name="ouzel", daemon=True)
        self.thread.start()

    def take(self, work: Callable[[], None]) -> None:
        """Do that next; it must not fail."""
        self._work.put(work)

    def leave(self) -> None:
        """End after the work under way, for which nobody waits any more."""
        with _idle.lock:
            self._is_left = True
            if self in _idle.workers:
                _idle.workers.remove(self)
        self._work.put(None)

    def _go_on(self) -> None:
        idle = _idle
        while (work := self._work.get()) is not None:
            work()
            del work  # whoever is idle must not hold what it has done
            with idle.lock:
                if not self._is_left:
                    idle.workers.append(self)


class _Idle:
    """The workers that have nothing to do."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.workers: list[Worker] = []


_idle = _Idle()


def idle_worker() -> Worker:
    """A worker that has nothing to do."""
    with _idle.lock:
        if _idle.workers:
            return _idle.workers.pop()
    return Worker()


def in_background(work: Callable[[], None]) -> None:
    """Do some work, which must not fail, in a thread of its own; here, if there may be no more threads."""
    try:
        worker = idle_worker()
    except RuntimeError:
        work()
    else:
        worker.take(work)


def _forget() -> None:
    """In a process that was forked, there are no threads but the one that did it."""
    global _idle  # noqa: PLW0603
    _idle = _Idle()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
