"""Whether a kernel is worth compiling, and how one that may take long is stopped."""

from __future__ import annotations

from typing import Any

from ouzel.kernels import jit
from ouzel.physical import stoppable

# Below so many events, running the source as it is beats compiling it.
COMPILE_FROM = 20_000

# How many events each source was asked for in this process: over many small batches compiling pays too.
_asked: dict[str | jit.Kernel, int] = {}


def pays(source: str | jit.Kernel, events: int) -> bool:
    """Whether to compile for so many events and those asked for before; what is compiled serves few events too."""
    asked = _asked[source] = _asked.get(source, 0) + events
    return asked >= COMPILE_FROM and jit.is_enabled()


class OnlyPython:
    """An argument that a kernel can use only if Python runs it; `for_users` if it calls functions of theirs."""

    for_users = False


def kernel_of(source: str | jit.Kernel, events: int) -> jit.Kernel:
    """A plain function, or the kernel of a source, compiled where that pays and no argument needs Python."""
    stoppable.check()
    is_worth_it = pays(source, events)

    def run(*arguments: Any) -> Any:
        special = [one for one in arguments if isinstance(one, OnlyPython)]
        kernel = jit.compiled(source) if is_worth_it and not special else jit.interpreted(source)
        if any(one.for_users for one in special):
            return stoppable.in_caller(lambda: kernel(*arguments))
        return kernel(*arguments)

    return run


def long_kernel_of(source: str | jit.Kernel, events: int, share: float = 0.0) -> jit.Kernel:
    """The kernel of a source that may take long: it is given a board first, at which it has to look.

    Each event that it notes there as done is such a share of all the work.
    """
    kernel, work, board = kernel_of(source, events), stoppable.under_way(), stoppable.board(share)

    def run(*arguments: Any) -> Any:
        nonlocal work, board
        if work is not stoppable.under_way():  # it goes on in a thread
            work, board = stoppable.under_way(), stoppable.board(share)
        result = kernel(board, *arguments)
        stoppable.check()
        return result

    return run
