"""Expressions that read one event, for whole columns of events.

Numbers and times are arrays with null flags, everything else is a list of what Python has, None for null.  A
function is called with arrays where it takes them, else value by value.  Where one of the user's fails, the others
go on: whether its value is ever asked for turns out later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.errors import FunctionError
from ouzel.logical.expressions import Apply, Attribute, Constant, Expression, Moment
from ouzel.logical.values import Kind, ValueType

Array = np.ndarray[Any, Any]

NUMPY: dict[Kind, Any] = {Kind.BOOLEAN: np.bool_, Kind.FLOAT: np.float64}
"""What arrays of values consist of, if not of integers."""


@dataclass(frozen=True)
class Vector:
    """Values and null flags."""

    values: Array
    nulls: Array

    @classmethod
    def of(cls, values: Sequence[Any], value_type: ValueType) -> Vector:
        """Values as Python has them; what no number holds stays an object."""
        nulls = np.array([value is None for value in values], np.bool_)
        if value_type.kind in (Kind.STRING, Kind.DECIMAL, Kind.UNSIGNED, Kind.OTHER):
            return cls(np.fromiter(values, object, len(values)), nulls)
        filled = [0 if value is None else value for value in values]
        return cls(np.array(filled, NUMPY.get(value_type.kind, np.int64)), nulls)

    def list(self) -> list[Any]:
        """The values as Python has them, None for null."""
        values = self.values.tolist()
        for place in np.flatnonzero(self.nulls).tolist():
            values[place] = None
        return values  # type: ignore[no-any-return]


Column = Vector | list[Any]
Leaf = Callable[[Attribute | Moment], Column]


class Computation:
    """An expression at work on so many rows; `failures` are the rows where a function of the user's failed."""

    def __init__(self, leaf: Leaf, count: int) -> None:
        """Take the columns that `leaf` tells."""
        self.leaf = leaf
        self.count = count
        self.failures: dict[int, FunctionError] = {}

    def vector(self, expression: Expression) -> Vector:
        """The values of an expression as arrays."""
        found = self.column(expression)
        return found if isinstance(found, Vector) else Vector.of(found, expression.type)

    def column(self, expression: Expression) -> Column:
        """The values of an expression."""
        match expression:
            case Constant(value):
                return [value] * self.count
            case Attribute() | Moment():
                return self.leaf(expression)
            case Apply(function, arguments) if function.arrays is not None and arguments:
                return self._by_arrays(expression, [self.vector(one) for one in arguments])
            case Apply(function, arguments):
                columns = [self._listed(one) for one in arguments]
                if function.columns is not None:
                    return function.columns(*columns)
                return self._one_by_one(expression, columns)
        raise AssertionError("it reads more than one event")

    def _listed(self, expression: Expression) -> list[Any]:
        found = self.column(expression)
        return found.list() if isinstance(found, Vector) else found

    def _by_arrays(self, expression: Apply, arguments: list[Vector]) -> Column:
        """One call for all rows without a null; if it fails, calls row by row tell which of them it is."""
        absent = np.zeros(self.count, np.bool_)
        absent[list(self.failures)] = True
        for one in arguments:
            absent |= one.nulls
        rows = np.flatnonzero(~absent)
        compute = expression.function.arrays
        assert compute is not None
        try:
            found, missing = compute(*(one.values[rows] for one in arguments))
        except FunctionError as error:
            one_by_one = self._one_by_one(expression, [one.list() for one in arguments])
            if not self.failures:
                raise error from error.__cause__
            return one_by_one
        values = np.zeros(self.count, found.dtype)
        values[rows], absent[rows] = found, missing
        return Vector(values, absent)

    def _one_by_one(self, expression: Apply, columns: list[list[Any]]) -> list[Any]:
        function = expression.function
        if not columns:
            return [function()] * self.count
        compute, strict, failures = function.compute, function.strict, self.failures
        values: list[Any] = [None] * self.count
        for row, arguments in enumerate(zip(*columns, strict=True)):
            if (strict and None in arguments) or row in failures:
                continue
            try:
                values[row] = compute(*arguments)
            except FunctionError as error:
                failures[row] = error
        return values
