"""Whether a kernel is worth compiling."""

from __future__ import annotations

from ouzel.kernels import jit

# Below so many events, running the source as it is beats compiling it.
COMPILE_FROM = 20_000


def kernel_of(source: str, events: int) -> jit.Kernel:
    """The kernel of generated source, compiled where that pays."""
    return jit.compiled(source) if jit.is_enabled() and events >= COMPILE_FROM else jit.interpreted(source)
