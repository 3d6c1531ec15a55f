"""Columns of events as kernels of shared plans see them: integers that compare as the values do.

A float has its place in the order of floats, a decimal its digits, a text a number, which tells whether texts are
equal.  What is null, or no number, is missing.  Conditions on single events that are no more than that are columns
too: 1 where they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from struct import pack, unpack
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.expressions import Attribute, Element, Expression, Moment
from ouzel.logical.values import Kind
from ouzel.physical.automaton.substitution import replaced
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import MatchTable, One
from ouzel.physical.meaning import encoded, floats, integers, unscaled

MOST = 62
"""So many columns have a bit of their own that says what is missing."""
_INTEGERS = (Kind.INTEGER, Kind.TIMESTAMP, Kind.DURATION, Kind.TIME, Kind.BOOLEAN)
_MASK = np.int64(0x7FFFFFFFFFFFFFFF)
_DIGITS = 18


@dataclass(frozen=True)
class OfAttribute:
    """A column of the event table."""

    name: str
    kind: Kind
    scale: int = 0
    unit: str | None = None


@dataclass(frozen=True)
class OfType:
    """The type of an event, by the number of its name among texts; or whether it is one of several `names`."""

    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OfCondition:
    """Whether a condition on the event alone, at hand, holds."""

    condition: Expression


Source = OfAttribute | OfType | OfCondition
TYPE = OfType()


def attribute_source(node: Attribute) -> OfAttribute:
    """The column of an attribute; an UnsuitableError if its values are no integers."""
    held = node.type
    is_short = held.kind is Kind.DECIMAL and held.scale >= 0 and held.digits <= _DIGITS
    if held.kind not in (*_INTEGERS, Kind.FLOAT, Kind.STRING) and not is_short:
        raise UnsuitableError(f"'{node.name}' is of type {held}, which shared plans do not compare")
    return OfAttribute(node.column, held.kind, held.scale, held.unit)


class Columns:
    """The columns that some queries look at, by number."""

    def __init__(self) -> None:
        """Begin with none."""
        self.sources: dict[Source, int] = {}
        self.texts = Texts()
        self.types: dict[str, int] = {}
        """The types that queries ask for, and the numbers of their names."""

    def type_number(self, name: str) -> int:
        """The number of the column of types, by which one that is asked for is told."""
        self.types[name] = self.texts.number(name)
        return self.number(TYPE)

    def number(self, source: Source) -> int:
        """The number of a column."""
        if source not in self.sources and len(self.sources) >= MOST:
            raise UnsuitableError(f"more than {MOST} columns and conditions are looked at")
        return self.sources.setdefault(source, len(self.sources))

    def of(self, events: EventTable) -> tuple[Any, Integers]:
        """The codes of events, a row for each, and which of their columns are missing, as bits."""
        codes = np.zeros((len(events), max(len(self.sources), 1)), np.int64)
        missing = np.zeros(len(events), np.int64)
        for source, number in self.sources.items():
            values, absent = self._values(source, events)
            codes[:, number] = values
            if absent is not None:
                missing |= absent.astype(np.int64) << number
        return codes, missing

    def _values(self, source: Source, events: EventTable) -> tuple[Any, Any]:
        match source:
            case OfType() if source == TYPE:
                numbers = np.array([*self.types.values(), -1], np.int64)
                return numbers[events.types.among(tuple(self.types))], None
            case OfType(names):
                return events.types.among(tuple(sorted(names))) >= 0, None
            case OfCondition(condition):
                return _holds(condition, events), None
        column = events.table.column(source.name)
        absent = np.asarray(column.is_null()) if column.null_count else None
        if source.kind is Kind.STRING:
            places, texts = encoded(column)
            numbers = np.array([self.texts.number(text) for text in texts.to_pylist()] + [0], np.int64)
            return numbers[places], absent
        if source.kind is Kind.FLOAT:
            values = floats(column)
            wrong = np.isnan(values)
            if wrong.any():
                absent = wrong if absent is None else absent | wrong
            return float_codes(values), absent
        if source.kind is Kind.DECIMAL:
            return unscaled(column), absent
        return integers(column), absent


def float_codes(values: Any) -> Any:
    """The places of floats in their order; 0.0 and -0.0 have one."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _MASK)


def float_code(value: float) -> int:
    """The place of one float.

    >>> bool(float_code(-1.5) == float_codes([-1.5])[0])
    True
    """
    (bits,) = unpack("<q", pack("<d", value + 0.0))
    return bits if bits >= 0 else bits ^ int(_MASK)  # type: ignore[no-any-return]


def _holds(condition: Expression, events: EventTable) -> Any:
    """For which events a condition is true."""
    variable = "e"

    def leaf(node: Expression) -> Expression:
        if isinstance(node, Attribute | Moment):
            return replace(node, variable=variable, element=Element.SINGLE)
        return node

    rows = np.arange(len(events))
    bound: Mapping[str, One] = {variable: One(rows)}
    matches = MatchTable(dict(bound), lambda: (events.starts, events.ends, events.start_times, events.end_times))
    if not len(events):
        return np.zeros(0, np.bool_)
    found = compute_by_row(matches, events)(replaced(condition, leaf))
    array = pa.array(found, pa.bool_())
    return np.asarray(array.fill_null(False))
