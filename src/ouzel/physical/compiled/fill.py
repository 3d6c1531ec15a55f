"""The columns of a kernel as arrays of values and null flags, filled from a table of events."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import FunctionError
from ouzel.logical.expressions import Attribute, Expression, Moment, references
from ouzel.logical.times import told_event
from ouzel.logical.values import Kind, ValueType, from_arrow
from ouzel.physical.compiled.derived import Array, Column, Computation, Vector
from ouzel.physical.compiled.kernel import OnlyPython
from ouzel.physical.compiled.sources import START, TIME, TYPE, Among, Derived, Limb, Source, Written
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.compiled.user_calls import called
from ouzel.physical.event_table import EventTable, Integers, are_all
from ouzel.physical.meaning import encoded, floats, integers, limbs, owned, plain, python_values, unscaled

# The first number that leads to an error: below are a value that is there, and null.
NOTED = 2
# What is no column of events.
_OWN = (TIME, START, TYPE)
# How most numbers are stored.
_PLAIN = {Kind.INTEGER: pa.int64(), Kind.FLOAT: pa.float64()}

Wanted = Callable[[str], Any]
"""For a variable, flags of the events that it may be bound to."""


@dataclass(frozen=True)
class Failing(OnlyPython):
    """Null flags of a column that could not be computed for some events: to ask for one of these is an error.

    To note one for later is none: counted from the end, it is a number that leads to the error.
    """

    nulls: Array
    error: Callable[[int], FunctionError | None]

    def __len__(self) -> int:
        """The number of events."""
        return len(self.nulls)

    def __getitem__(self, row: int) -> int:
        """Whether a value is null."""
        if row < 0:
            row += len(self)
            return int(self.nulls[row]) if self.error(row) is None else NOTED + row
        error = self.error(row)
        if error is not None:
            raise error from error.__cause__
        return bool(self.nulls[row])

    def check(self) -> None:
        """Raise the error of the first event that has one."""
        for row in range(len(self)):
            self[row]


def settled(arguments: list[Any]) -> list[Any]:
    """The arguments of a kernel that keeps values for later, when nobody will know why one is not there."""
    for one in arguments:
        if isinstance(one, Failing):
            one.check()
    return arguments


@dataclass(frozen=True)
class Filling:
    """Some rows of a table of events, whose columns are wanted."""

    events: EventTable
    rows: Integers
    times: Integers
    texts: Texts
    wanted: Wanted | None = None
    _taken: dict[str, pa.ChunkedArray] = field(default_factory=dict)
    _halves: dict[tuple[str, int], tuple[Array, Array, Array]] = field(default_factory=dict)

    def arrays(self, source: Source, value_type: ValueType) -> list[Any]:
        """The values and null flags of a column."""
        if isinstance(source, str) and source not in _OWN:
            return self._values(source, value_type)
        present = np.zeros(len(self.rows), np.bool_)
        match source:
            case Derived(expression):
                return self._derived(expression)
            case Limb(column, factor, is_low):
                # the other half is mostly wanted too
                if (column, factor) not in self._halves:
                    taken = self.column(column)
                    self._halves[column, factor] = (*limbs(taken, factor), _nulls(taken))
                high, low, nulls = self._halves[column, factor]
                return [low if is_low else high, nulls]
            case Written(column):
                texts = written(self.column(column))
                return [self._numbers(texts), np.array([text is None for text in texts], np.bool_)]
            case Among(types):
                marks = np.array([name in types for name in self.events.types.names] or [False], np.bool_)
                return [marks[self.events.types.codes[self.rows]], present]
        if source == TIME:
            return [self.times, present]
        if source == START:
            return [self._starts(), present]
        numbers = self._numbers([*self.events.types.names] or [""])
        return [numbers[self.events.types.codes[self.rows]], present]

    def _values(self, name: str, value_type: ValueType) -> list[Array]:
        """A column of the rows; NumPy picks numbers out of a plain one in far less time than Arrow takes rows."""
        whole = self.events.table.column(name)
        is_plain = whole.type == _PLAIN.get(value_type.kind) and not whole.null_count
        if name in self._taken or not is_plain:
            return self._column(self.column(name), value_type)
        values = whole.to_numpy()
        return [owned(values) if self._are_all else values[self.rows], np.zeros(len(self.rows), np.bool_)]

    @cached_property
    def _are_all(self) -> bool:
        return are_all(self.rows, len(self.events))

    def _starts(self) -> Integers:
        """The times at which events start, which are those at which they end unless they last."""
        return self.events.start_times[self.rows] if self.events.has_intervals else self.times

    def column(self, name: str) -> pa.ChunkedArray:
        """A column of the rows."""
        if name not in self._taken:
            self._taken[name] = self.events.column(name, self.rows)
        return self._taken[name]

    def _numbers(self, values: list[Any]) -> Array:
        return np.array([0 if text is None else self.texts.number(text) for text in values], np.int64)

    def _column(self, column: pa.ChunkedArray, value_type: ValueType) -> list[Array]:
        if value_type.kind is Kind.STRING:
            codes, found = encoded(column)
            return [np.append(self._numbers(found.to_pylist()), 0)[codes], codes < 0]
        nulls = _nulls(column)
        match value_type.kind:
            case Kind.FLOAT:
                return [floats(column), nulls]
            case Kind.DECIMAL:
                return [unscaled(column), nulls]
            case Kind.BOOLEAN:
                return [plain(column).fill_null(False).to_numpy().astype(np.bool_, copy=False), nulls]
            case Kind.OTHER | Kind.NULL:
                # it is only asked whether it is there
                return [np.zeros(len(nulls), np.int64), nulls]
        values = integers(column)
        if value_type.kind is not Kind.UNSIGNED and from_arrow(column.type).kind is Kind.UNSIGNED:
            # as numbers with a sign, those from 2**63 on have no value
            nulls = nulls | (values < 0)
        return [values, nulls]

    # ---- what is computed --------------------------------------------------------------------------------

    def _derived(self, expression: Expression) -> list[Any]:
        """An expression of one event; a text on which it depends alone is looked at once."""
        nodes = [node for node in references(expression) if isinstance(node, Attribute | Moment)]
        chosen = np.arange(len(self.rows))
        if self.wanted is not None:
            chosen = np.flatnonzero(self.wanted(nodes[0].variable))
        own = Filling(self.events, self.rows[chosen], self.times[chosen], self.texts)
        first = nodes[0]
        if isinstance(first, Attribute) and first.type.kind is Kind.STRING and len(set(nodes)) == 1:
            codes, found = encoded(own.column(first.column))
            texts = [*found.to_pylist(), None]
            computation = Computation(lambda _node: texts, len(texts))
        else:
            codes = np.arange(len(chosen))
            computation = Computation(own.leaf, len(chosen))
        vector = called([expression], lambda: computation.vector(expression))
        values = self._numbers(vector.list()) if expression.type.kind is Kind.STRING else vector.values
        all_values, nulls = np.zeros(len(self.rows), values.dtype), np.ones(len(self.rows), np.bool_)
        all_values[chosen], nulls[chosen] = values[codes], vector.nulls[codes]
        failures = computation.failures
        if not failures:
            return [all_values, nulls]
        cases = np.full(len(self.rows), -1, np.int64)
        cases[chosen] = np.where(codes < 0, len(vector.nulls) - 1, codes)

        def error(row: int) -> FunctionError | None:
            found = failures.get(int(cases[row]))
            return None if found is None else told(found, [(first.variable, self.type_of(row), self.times[row])])

        return [all_values, Failing(nulls, error)]

    def type_of(self, row: int) -> str:
        """The name of the type of an event."""
        return str(self.events.types.names[self.events.types.codes[self.rows[row]]])

    def leaf(self, node: Attribute | Moment) -> Column:
        """What an expression reads: numbers as an array, anything else as a list."""
        if isinstance(node, Moment):
            times = self._starts() if node.which == "start" else self.times
            return Vector(times, np.zeros(len(self.rows), np.bool_))
        if node.type.kind in (Kind.STRING, Kind.DECIMAL, Kind.UNSIGNED, Kind.OTHER):
            return python_values(self.column(node.column))
        return Vector(*self._values(node.column, node.type))


def told(error: FunctionError, events: list[tuple[str, str, Any]]) -> FunctionError:
    """The error with the events that it is about: variable, type and time of each."""
    found = error.about(
        "; ".join(told_event(variable, name, int(at), error.time) for variable, name, at in events)
    )
    found.__cause__ = error.__cause__
    return found


def _nulls(column: pa.ChunkedArray) -> Array:
    # of others a null may be somewhere inside
    if pa.types.is_primitive(column.type) and not column.null_count:
        return np.zeros(len(column), np.bool_)
    return column.is_null().to_numpy().astype(np.bool_, copy=False)  # type: ignore[no-any-return]


# ---- values that no number holds -------------------------------------------------------------------------


def written(column: pa.ChunkedArray) -> list[str | None]:
    """Values as texts: decimals as one writes them, others as Arrow does."""
    if from_arrow(column.type).kind is Kind.DECIMAL:
        return [None if value is None else str(value) for value in python_values(column)]
    column = plain(column)
    return [None if value.as_py() is None else _stored(column.slice(row, 1)) for row, value in enumerate(column)]


def _stored(one: pa.ChunkedArray) -> str:
    sink = pa.BufferOutputStream()
    table = pa.table({"value": one})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return base64.b64encode(sink.getvalue().to_pybytes()).decode()


def read_again(text: str, value_type: ValueType) -> Any:
    """The value that was written."""
    if value_type.kind is Kind.DECIMAL:
        return Decimal(text)
    with pa.ipc.open_stream(base64.b64decode(text)) as stream:
        return stream.read_all().column(0)[0].as_py()


def is_written(value_type: ValueType) -> bool:
    """Whether values have to be written to become numbers."""
    return value_type.kind is Kind.OTHER or (value_type.kind is Kind.DECIMAL and value_type.digits > 18)
