"""What count, sum, avg, min, max, stddev and the number of distinct values are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ouzel.language.tree import COUNT_DISTINCT
from ouzel.logical.functions import greatest, least


def aggregate(function: str, values: Sequence[Any]) -> Any:
    """count, sum, avg, min, max, stddev or the number of distinct ones of values that are there.

    >>> aggregate("avg", [1, 2])
    1.5
    """
    if function == "count":
        return len(values)
    if function == COUNT_DISTINCT:
        # one that is not equal to itself is not a number, and all of these are one
        return len({value for value in values if value == value}) + any(value != value for value in values)  # noqa: PLR0124
    if function == "stddev":
        return _deviation(values)
    if not values:
        return None
    if function in ("min", "max"):
        return (least if function == "min" else greatest)(values)
    total = values[0]
    for value in values[1:]:
        total += value
    if function == "avg":
        return float(total) / len(values)
    return None if isinstance(total, int) and not -(2**63) <= total < 2**63 else total


def _deviation(values: Sequence[Any]) -> float | None:
    """The standard deviation of a sample, by Welford's updates, in which nothing cancels."""
    mean = squares = 0.0
    for count, value in enumerate(map(float, values), 1):
        delta = value - mean
        mean += delta / count
        squares += delta * (value - mean)
    return math.sqrt(squares / (len(values) - 1)) if len(values) > 1 else None
