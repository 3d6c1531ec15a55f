"""Work that Ctrl-C can stop, and that says how far it is.

Python hears of Ctrl-C in its main thread only, and there only between two steps of Python: not while a compiled
loop runs.  So what may take long runs in a thread of its own, for which the main thread waits.  Loops have a
board: there they find whether they are to stop, and note how far they are.  A call that looks at no board, one of
Arrow's or NumPy's, is left alone to end by itself; the thread stops after it.

Functions of users are called where the caller is: they may hold what belongs to its thread, and Ctrl-C ends them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from ouzel.kernels.arrays import DONE, STOP
from ouzel.physical.worker import idle_worker

Result = TypeVar("Result")
Board = np.ndarray[tuple[int], np.dtype[np.int64]]

# How often to tell how far it is, and for how long to wait for what was stopped, in seconds.
TELLING, PATIENCE = 0.25, 0.4

# Arrow and NumPy are done with that many rows in much less than a second, and kernels with that many times as
# many steps.
LARGE, STEPS = 1_000_000, 16

SEEN = f"if board[{STOP}] != 0:"
"""The test of a loop whether to stop, in generated source."""


class StoppedError(Exception):
    """The work was stopped; it is for the thread that does it, and for nobody else."""


class _Call(Generic[Result]):
    """A call that one thread makes and another waits for."""

    def __init__(self, function: Callable[[], Result]) -> None:
        self._function: Callable[[], Result] | None = function
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self.is_done = False
        self._waiting = threading.Lock()
        self._waiting.acquire()

    def make(self) -> None:
        """Make the call, keep what comes of it, and wake up who waits; Ctrl-C is for who makes it, too."""
        assert self._function is not None
        try:
            self._result.append(self._function())
        except KeyboardInterrupt as error:
            self._error = error
            raise
        except BaseException as error:
            self._error = error
        finally:
            self._function, self.is_done = None, True
            self._waiting.release()

    def wait(self, seconds: float) -> bool:
        """Whether it is done by then."""
        return self._waiting.acquire(timeout=seconds)

    def result(self) -> Result:
        """What came of it, once."""
        error, self._error = self._error, None
        try:
            if error is not None:
                raise error
            return self._result.pop()
        finally:
            # an error knows its frames, and must not be known to one of them: it would hold all that they do
            del error


class _Work:
    """Work under way: the boards of its loops, and what it asks of who waits for it: calls, None at its end."""

    def __init__(self) -> None:
        self.is_stopped = False
        self.asked: SimpleQueue[_Call[Any] | None] | None = None
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
    under_way, context = _Work(), copy_context()
    context.run(_current.set, under_way)
    if threading.current_thread() is not threading.main_thread() and tell is None:
        return context.run(work)
    try:
        worker = idle_worker()
    except RuntimeError:  # there may be no more threads
        return context.run(work)
    asked: SimpleQueue[_Call[Any] | None] = SimpleQueue()
    under_way.asked, call = asked, _Call(lambda: context.run(work))
    try:
        worker.take(partial(_do, call, asked))
        while not call.is_done:
            try:
                wanted = asked.get(timeout=TELLING)
            except Empty:
                if tell is not None:
                    tell(under_way.done)
                continue
            if wanted is not None:
                wanted.make()
        return call.result()
    except BaseException:
        if not call.is_done:
            under_way.stop()
            worker.leave()
            call.wait(PATIENCE)
        raise
    finally:
        del call


def _do(call: _Call[Any], asked: SimpleQueue[_Call[Any] | None]) -> None:
    with suppress(KeyboardInterrupt):  # it is kept for who waits
        call.make()
    asked.put(None)


def in_caller(function: Callable[[], Result]) -> Result:
    """Call a function of a user in the thread that waits for this work."""
    work = _current.get()
    if work is None or work.asked is None:
        return function()
    call = _Call(function)
    work.asked.put(call)
    while not call.wait(TELLING):
        check()
    check()
    return call.result()


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


def under_way() -> object:
    """The work that this thread is part of, None if that is of a small size."""
    return _current.get()


def board(share: float = 0.0) -> Any:
    """A board for a loop; each event that it notes as done is such a share of the work."""
    work = _current.get()
    return np.zeros(2, np.int64) if work is None else work.board(share)
