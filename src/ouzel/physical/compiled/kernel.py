"""Whether a kernel is worth compiling, and how one that may take long is stopped."""

from __future__ import annotations

from typing import Any

from ouzel.kernels import jit
from ouzel.physical import stoppable

# Below so many events, running the source as it is beats compiling it.
COMPILE_FROM = 20_000


def kernel_of(source: str | jit.Kernel, events: int) -> jit.Kernel:
    """A plain function, or the kernel of generated source, compiled where that pays."""
    stoppable.check()
    return jit.compiled(source) if jit.is_enabled() and events >= COMPILE_FROM else jit.interpreted(source)


def long_kernel_of(source: str | jit.Kernel, events: int, share: float = 0.0) -> jit.Kernel:
    """The kernel of a source that may take long: it is given a board first, at which it has to look.

    Each event that it notes there as done is such a share of all the work.
    """
    kernel, board = kernel_of(source, events), stoppable.board(share)

    def run(*arguments: Any) -> Any:
        result = kernel(board, *arguments)
        stoppable.check()
        return result

    return run
