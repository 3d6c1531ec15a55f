"""What is asked of events, as data: the kind of the question, and of which constants the bounds are made.

Of a set of queries the constants of each are in columns of values; a plain query is a set of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.kernels import shared_tests as kernel
from ouzel.logical.expressions import Constant
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.columns import Columns, OfAttribute
from ouzel.physical.shared.intervals import LEAST, MOST, NOTHING, intervals, of_code

# No duration that can end is longer.
LONGEST = 2**61
# So far all integers are doubles.
EXACT = 2**53


@dataclass(frozen=True)
class Test:
    """What is asked of an event: the kind of the question, the columns in it, and constants.

    `column` is one of the event, or the number of a program; `other` one of the event that is held at `variable`,
    which is the comparison at the end of a program.
    """

    kind: int
    column: int
    variable: int = 0
    other: int = 0
    sign: str = ""
    constants: tuple[Constant, ...] = ()
    of: OfAttribute | None = field(default=None, compare=False)

    @property
    def width(self) -> int:
        """How many constants it has in a layout: two bounds, or numbers."""
        return 2 if self.kind in (kernel.RANGE, kernel.LASTS) else len(self.constants)

    @property
    def structure(self) -> tuple[Any, ...]:
        """All of it but the constants."""
        return self.kind, self.column, self.variable, self.other, self.sign, len(self.constants)

    @property
    def is_static(self) -> bool:
        """Whether it is about the event alone."""
        return self.kind == kernel.RANGE

    @property
    def is_equality(self) -> bool:
        """Whether it wants one value of a column of the event."""
        return self.kind == kernel.RANGE and self.sign == "="


Conjunction = tuple[Test, ...]
Alternatives = tuple[Conjunction, ...]
"""Of which one must hold: a condition in disjunctive normal form."""


@dataclass(frozen=True)
class Values:
    """The values of parameters, for each of some queries."""

    count: int
    columns: Mapping[str, Any]

    def of(self, constant: Constant) -> Any:
        """The values of a constant, in all of them."""
        if constant.parameter in self.columns:
            return self.columns[constant.parameter]
        if self.count == 1:
            return [constant.value]
        if type(constant.value) is float:
            return np.full(self.count, constant.value)
        if type(constant.value) is int:
            return np.full(self.count, constant.value, np.int64)
        return [constant.value] * self.count


def bounds(test: Test, values: Values, columns: Columns) -> Sequence[Any]:
    """The constants of a test for each of some queries: pairs of bounds, or the bits of numbers."""
    if test.kind == kernel.RANGE:
        assert test.of is not None
        pairs = [
            intervals(test.of, sign, values.of(constant), columns.texts)
            for sign, constant in zip(test.sign.split(), test.constants, strict=True)
        ]
        if len(pairs) == 1:
            return pairs[0]
        lows, highs = zip(*pairs, strict=True)
        if values.count == 1:
            return max(lows), min(highs)
        return np.maximum.reduce(lows), np.minimum.reduce(highs)
    if test.kind == kernel.LASTS:
        return _durations(test.sign, values.of(test.constants[0]))
    return [_numbers(values.of(one)).view(np.int64) for one in test.constants]


def _numbers(values: Any) -> Any:
    if not isinstance(values, np.ndarray):
        if any(isinstance(one, bool) or not isinstance(one, int | float | None) for one in values):
            raise UnsuitableError("a number is computed with something else")
        if any(isinstance(one, int) and abs(one) > EXACT for one in values):
            raise UnsuitableError("a number that no double holds")
        values = np.array([np.nan if one is None else float(one) for one in values])
    if values.dtype.kind == "i" and np.any(np.abs(values) > EXACT):
        raise UnsuitableError("a number that no double holds")
    return values.astype(np.float64)


def _durations(sign: str, values: Any) -> tuple[Any, Any]:
    if len(values) == 1:
        (value,) = values.tolist() if isinstance(values, np.ndarray) else values
        return NOTHING if value is None else of_code(sign, min(max(value, -LONGEST), LONGEST))
    if not isinstance(values, np.ndarray):  # with nulls, of which nothing is true
        absent = np.array([one is None for one in values])
        low, high = _durations(sign, np.array([one or 0 for one in values], np.int64))
        return np.where(absent, MOST, low), np.where(absent, LEAST, high)
    clipped = np.clip(values, -LONGEST, LONGEST)
    least, most = np.full(len(values), LEAST), np.full(len(values), MOST)
    return {
        "=": (clipped, clipped),
        "<": (least, clipped - 1),
        "<=": (least, clipped),
        ">": (clipped + 1, most),
        ">=": (clipped, most),
    }[sign]
