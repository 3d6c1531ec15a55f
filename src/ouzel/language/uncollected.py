"""The garbage collector waits while very much is made of which none can be garbage.

It looks for objects that refer to each other in circles, and visits all that there are, again and again while they
become more: a third of the time that a thousand queries take.  Trees, bound queries and plans make no circles.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Of so many characters, a text holds so many queries that it matters.
LARGE = 10_000


@contextmanager
def uncollected(text: str) -> Iterator[None]:
    """Let nothing be collected while something is made of a large text; afterwards it is as it was.

    >>> with uncollected("QUERY q " * LARGE):
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    pauses = len(text) >= LARGE and gc.isenabled()
    if pauses:
        gc.disable()
    try:
        yield
    finally:
        if pauses:
            gc.enable()
