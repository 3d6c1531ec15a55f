"""What expressions of the algebra give, a line per event of the result: on every engine and in a matcher."""

from __future__ import annotations

from typing import Any

import ouzel as oz
from semantics.harness import rows

S = oz.stream()
A, B, C = oz.stream("A"), oz.stream("B"), oz.stream("C")


def given(expression: oz.Stream, events: Any, **options: Any) -> list[str]:
    """The values of attributes and the interval, in the order of results; a dash for null.

    >>> given(A.select("x"), "a1:x=5")
    ['5 [1, 1]']
    """
    return [_line(row) for row in rows(expression, events, **options)]


def _line(row: dict[str, Any]) -> str:
    *values, start, end = row.values()
    return " ".join([*("-" if value is None else str(value) for value in values), f"[{start}, {end}]"])
