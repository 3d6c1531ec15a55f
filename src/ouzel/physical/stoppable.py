"""Work that Ctrl-C can stop, and that says how far it is.

Python hears of Ctrl-C in its main thread only, and there only between two steps of Python: not while a compiled
loop runs.  So what may take long runs in a thread of its own, for which the main thread waits.  Loops have a
board: there they find whether they are to stop, and note how far they are.  A call that looks at no board, one of
Arrow's or NumPy's, is left alone to end by itself; the thread stops after it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")
Board = np.ndarray[tuple[int], np.dtype[np.int64]]

STOP, DONE = range(2)
"""What is where on a board: whether to stop, if that is not 0; and how many events are done."""

# How often to tell how far it is, and for how long to wait for what was stopped, in seconds.
TELLING, PATIENCE = 0.25, 0.4

# Arrow and NumPy are done with that many rows in much less than a second.
LARGE = 1_000_000

SEEN = "if board[0] != 0:"
"""The test of a loop whether to stop, in generated source."""


class StoppedError(Exception):
    """The work was stopped; it is for the thread that does it, and for nobody else."""


class _Work:
    """Work under way: the boards of its loops."""

    def __init__(self) -> None:
        self.is_stopped = False
        self._boards: list[tuple[Board, float]] = []
        self._lock = threading.Lock()

    def board(self, share: float) -> Board:
        with self._lock:
            board: Board = np.array([self.is_stopped, 0], np.int64)
            self._boards.append((board, share))
        return board

    def stop(self) -> None:
        with self._lock:
            self.is_stopped = True
            for board, _share in self._boards:
                board[STOP] = 1

    @property
    def done(self) -> float:
        return min(1.0, sum(float(board[DONE]) * share for board, share in self._boards))


_current: ContextVar[_Work | None] = ContextVar("_current", default=None)


def stoppable(
    work: Callable[[], Result], tell: Callable[[float], None] | None = None, *, size: int = LARGE
) -> Result:
    """Do the work such that Ctrl-C ends it; `tell` is given the part of it that is done, now and then.

    Work that takes a time in proportion to a small size is not worth a thread.
    """
    if _current.get() is not None or size < LARGE:
        return work()
    under_way, context, future = _Work(), copy_context(), Future[Result]()
    context.run(_current.set, under_way)
    if threading.current_thread() is not threading.main_thread() and tell is None:
        return context.run(work)
    thread = threading.Thread(target=context.run, args=(_fulfil, future, work), daemon=True)
    try:
        thread.start()
        while not wait([future], TELLING).done:
            if tell is not None:
                tell(under_way.done)
        return future.result()
    except BaseException:
        under_way.stop()
        thread.join(PATIENCE)
        raise
    finally:
        # an error knows its frames, and must not be known to one of them: it would hold all that they do
        del future, thread


def _fulfil(future: Future[Result], work: Callable[[], Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)


def check() -> None:
    """End here if the work was stopped."""
    work = _current.get()
    if work is not None and work.is_stopped:
        raise StoppedError


def stop() -> None:
    """Stop the work that this thread is part of."""
    work = _current.get()
    if work is not None:
        work.stop()


def board(share: float = 0.0) -> Any:
    """A board for a loop; each event that it notes as done is such a share of the work."""
    work = _current.get()
    return np.zeros(2, np.int64) if work is None else work.board(share)
