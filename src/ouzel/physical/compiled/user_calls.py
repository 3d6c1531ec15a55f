"""Where expressions with registered functions are computed: in the thread of who called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ouzel.logical.expressions import Apply, Expression, walk
from ouzel.physical.stoppable import in_caller

Result = TypeVar("Result")


def calls_users(expression: Expression) -> bool:
    """Whether an expression calls registered functions."""
    return any(isinstance(node, Apply) and node.function.original is not None for node in walk(expression))


def called(expressions: Iterable[Expression], compute: Callable[[], Result]) -> Result:
    """What `compute` makes of some expressions, in the caller's thread if they call registered functions."""
    return in_caller(compute) if any(map(calls_users, expressions)) else compute()
