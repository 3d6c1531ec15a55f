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
from ouzel.logical.values import Kind, ValueType
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.event_table import Integers
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


@dataclass
class Operands:
    """Collects what an expression needs while its source is written, and fills it with data later."""

    columns: list[tuple[str | Derived, ValueType]] = field(default_factory=list)
    integers: list[int] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)

    def column(self, column: str | Derived, value_type: ValueType) -> int:
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
        for column, value_type in self.columns:
            if column == TIME:
                arrays += [times, np.zeros(len(times), np.bool_)]
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
}


def _column(column: pa.ChunkedArray, value_type: ValueType, texts: dict[str, int]) -> list[Array]:
    if value_type.kind is Kind.STRING:
        codes, found = _texts(column)
        numbers = np.array([texts.setdefault(text, len(texts)) for text in found], np.int64)
        return [np.append(numbers, 0)[codes], codes < 0]
    nulls = column.is_null().to_numpy()
    kind = _NUMPY[value_type.kind]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_date64(column.type):
        column = column.cast(pa.date32())
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    if pa.types.is_temporal(column.type):
        column = column.cast(pa.int64())
    if column.null_count:
        column = column.fill_null(pa.scalar(0, pa.int8()).cast(column.type))
    return [column.to_numpy().astype(kind, copy=False), nulls.astype(np.bool_, copy=False)]


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


def encoded(column: pa.ChunkedArray) -> tuple[Array, pa.Array]:
    """Codes of a column, -1 for null, and the values they stand for."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        if not whole.num_chunks:
            return np.zeros(0, np.int64), pa.array([], column.type.value_type)
        whole = whole.chunk(0)
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return codes, whole.dictionary


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
