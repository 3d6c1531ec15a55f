"""Where expressions with registered functions are computed: in the thread of who called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ouzel.logical.expressions import Apply, Expression, walk
from ouzel.logical.functions import is_registered
from ouzel.physical.stoppable import in_caller

Result = TypeVar("Result")


def called(expressions: Iterable[Expression], compute: Callable[[], Result]) -> Result:
    """What `compute` makes of some expressions, in the caller's thread if they call registered functions."""
    nodes = (node for expression in expressions for node in walk(expression))
    if any(isinstance(node, Apply) and is_registered(node.function.name) for node in nodes):
        return in_caller(compute)
    return compute()
