"""What a kernel is given: columns as arrays with null flags, and constants.

Strings are numbers to a kernel: equal text, equal number.  What else is done with text (LIKE, lower, order against
a constant) is computed once per distinct value and becomes a column of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import FunctionError
from ouzel.logical.expressions import Apply, Attribute, Expression, references
from ouzel.logical.values import Kind, ValueType, from_arrow
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.event_table import Integers
from ouzel.physical.meaning import encoded, floats, integers, limbs, plain, unscaled
from ouzel.physical.reference.evaluate import shown_time

# The times of events, as a column.
TIME = "\0time"

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Derived:
    """A column computed from one other: `compute` gives the values for texts, None among them.

    If there is a `time`, it is the type of times in that column: `compute` then takes an array of ticks, and gives
    one of values and one of nulls.
    """

    column: str
    type: ValueType
    compute: Callable[..., Any] = field(compare=False)
    key: Any = None
    time: ValueType | None = None


@dataclass(frozen=True)
class Limb:
    """Half of an exact number of 128 bits, times a factor: the high or the low one of two integers."""

    column: str
    factor: int
    is_low: bool


Source = str | Derived | Limb
"""Where the values of a column come from: a column of the events as it is, or something made of one."""


@dataclass
class Operands:
    """Collects what an expression needs while its source is written, and fills it with data later."""

    columns: list[tuple[Source, ValueType]] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)

    def column(self, column: Source, value_type: ValueType) -> int:
        """The place of a column among the kernel's arguments."""
        if (column, value_type) not in self.columns:
            self.columns.append((column, value_type))
        return self.columns.index((column, value_type))

    def constant(self, value: Any) -> str:
        """A constant as the kernel sees it: an argument, so that the source does not depend on it."""
        if isinstance(value, bool):
            value = int(value)
        if isinstance(value, str):
            value = self.text(value)
        if isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise UnsuitableError("a constant beyond 64 bits")
            self.integers.append(value)
            return f"ints[{len(self.integers) - 1}]"
        self.floats.append(value)
        return f"floats[{len(self.floats) - 1}]"

    def text(self, value: str) -> int:
        """The number of a text."""
        return self.texts.setdefault(value, len(self.texts))

    @property
    def parameters(self) -> str:
        """The kernel's parameters for constants and columns."""
        columns = "".join(f", c{k}, n{k}" for k in range(len(self.columns)))
        return "ints, floats" + columns

    def arguments(
        self, table: pa.Table, rows: Integers, times: Integers, texts: dict[str, int] | None = None
    ) -> list[Array]:
        """The arrays for those parameters, for some rows of the event table.

        `texts` are the numbers of texts so far, kept by who needs the same numbers again; they begin with ours.
        """
        texts = dict(self.texts) if texts is None else texts
        arrays: list[Array] = []
        halves: dict[tuple[str, int], tuple[Array, Array, Array]] = {}
        for column, value_type in self.columns:
            if column == TIME:
                arrays += [times, np.zeros(len(times), np.bool_)]
            elif isinstance(column, Limb):
                # the other half is mostly wanted too
                of = column.column, column.factor
                halves[of] = halves.get(of) or _halves(
                    table.column(column.column).take(pa.array(rows)), column.factor
                )
                high, low, nulls = halves[of]
                arrays += [low if column.is_low else high, nulls]
            elif isinstance(column, Derived) and column.time is not None:
                ticks, nulls = times, np.zeros(len(times), np.bool_)
                if column.column != TIME:
                    ticks, nulls = _column(table.column(column.column).take(pa.array(rows)), column.time, texts)
                values, outside = column.compute(ticks)
                arrays += [values, nulls | outside]
            elif isinstance(column, Derived):
                arrays += _derived(table.column(column.column).take(pa.array(rows)), column, texts, times)
            else:
                arrays += _column(table.column(column).take(pa.array(rows)), value_type, texts)
        return [np.array(self.integers, np.int64), np.array(self.floats, np.float64), *arrays]


_NUMPY: dict[Kind, Any] = {
    Kind.BOOLEAN: np.bool_,
    Kind.INTEGER: np.int64,
    Kind.FLOAT: np.float64,
    Kind.STRING: np.int64,
    Kind.TIMESTAMP: np.int64,
    Kind.DURATION: np.int64,
    Kind.TIME: np.int64,
}


def _column(column: pa.ChunkedArray, value_type: ValueType, texts: dict[str, int]) -> list[Array]:
    if value_type.kind is Kind.STRING:
        codes, found = _texts(column)
        numbers = np.array([texts.setdefault(text, len(texts)) for text in found], np.int64)
        return [np.append(numbers, 0)[codes], codes < 0]
    nulls = column.is_null().to_numpy().astype(np.bool_, copy=False)
    match value_type.kind:
        case Kind.FLOAT:
            return [floats(column), nulls]
        case Kind.DECIMAL:
            return [unscaled(column), nulls]
        case Kind.BOOLEAN:
            return [plain(column).fill_null(False).to_numpy().astype(np.bool_, copy=False), nulls]
        case Kind.OTHER:
            # it is only counted
            return [np.zeros(len(nulls), np.int64), nulls]
    values = integers(column)
    if from_arrow(column.type).kind is Kind.UNSIGNED and np.any(values < 0):
        if value_type.kind is Kind.UNSIGNED:
            raise UnsuitableError("an aggregate of unsigned integers from 2**63 on")
        # as numbers with a sign they have no value
        return [values, nulls | (values < 0)]
    return [values, nulls]


def _halves(column: pa.ChunkedArray, factor: int) -> tuple[Array, Array, Array]:
    nulls = column.is_null().to_numpy().astype(np.bool_, copy=False)
    return (*limbs(column, factor), nulls)


def _derived(column: pa.ChunkedArray, derived: Derived, texts: dict[str, int], times: Integers) -> list[Array]:
    codes, found = _texts(column)
    try:
        values = derived.compute((*found, None))
    except FunctionError as error:
        # other conditions may exclude that event: the reference finds out
        raise UnsuitableError(error.message) from _about(error, derived, codes, found, times)
    nulls = np.array([value is None for value in values], np.bool_)
    if derived.type.kind is Kind.STRING:
        values = [0 if value is None else texts.setdefault(value, len(texts)) for value in values]
    kind = _NUMPY[derived.type.kind]
    filled = np.array([0 if value is None else value for value in values], kind)
    return [filled[codes], nulls[codes]]


def _about(
    error: FunctionError, derived: Derived, codes: Array, found: list[str], times: Integers
) -> FunctionError:
    """The error, with the time of the first event about which it is."""
    for code, text in enumerate(found):
        try:
            derived.compute((text,))
        except FunctionError as one:
            at = shown_time(int(times[np.argmax(codes == code)]), one.time)
            told = one.about(f"one with {derived.column} = {text!r}, at {at}")
            told.__cause__ = one.__cause__
            return told
    return error


def _texts(column: pa.ChunkedArray) -> tuple[Array, list[str]]:
    codes, values = encoded(column)
    return codes, values.to_pylist()


def only_text(expression: Expression) -> Attribute | None:
    """The one string attribute that an expression depends on, if there is but one and nothing else."""
    nodes = list(references(expression))
    attributes = {(node.variable, node.element, node.column) for node in nodes if isinstance(node, Attribute)}
    first = nodes[0] if nodes else None
    if len(attributes) != 1 or not isinstance(first, Attribute) or first.type.kind is not Kind.STRING:
        return None
    return first if all(isinstance(node, Attribute) for node in nodes) and isinstance(expression, Apply) else None
