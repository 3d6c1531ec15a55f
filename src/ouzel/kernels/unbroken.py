"""Calls that Ctrl-C must not end half way: an import that it breaks leaves modules that no later one mends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

# One such call at a time: what a broken wait has left behind ends before it is asked for again.
_one = threading.Lock()


def unbroken(function: Callable[[], Result]) -> Result:
    """What a function returns, called where Ctrl-C does not reach it: that ends the wait for it, not the call.

    >>> unbroken(lambda: 7)
    7
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    results: list[Result] = []
    errors: list[BaseException] = []

    def call() -> None:
        with _one:
            try:
                results.append(function())
            except BaseException as error:
                errors.append(error)

    thread = threading.Thread(target=call, name="ouzel", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # there may be no more threads
        return function()
    thread.join()
    if errors:
        raise errors.pop()
    return results.pop()
