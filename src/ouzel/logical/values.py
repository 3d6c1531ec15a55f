"""Types of values in expressions, and how they map to and from Arrow.

Inside expressions a timestamp, date, time of day or duration is an integer count of its unit; everything else is
what Python calls it.  Decimals are compared as they are, and take part in arithmetic as doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce

import pyarrow as pa

from ouzel.language.durations import NANOSECONDS


class Kind(Enum):
    """The families of values that the language tells apart."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    UNSIGNED = "unsigned integer"  # of 64 bits, which others do not hold
    DECIMAL = "decimal"
    FLOAT = "float"
    STRING = "string"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    TIME = "time of day"
    NULL = "null"
    UNKNOWN = "unknown"
    OTHER = "other"
    EVENT = "event"
    LIST = "list"

    # there is one object for each: to hash it by name takes many times as long
    __hash__ = object.__hash__


_NUMBERS = (Kind.INTEGER, Kind.UNSIGNED, Kind.DECIMAL, Kind.FLOAT)
_OPEN = (Kind.UNKNOWN, Kind.NULL)


@dataclass(frozen=True, slots=True)
class ValueType:
    """A type: its kind, and for times the unit and zone, for lists the element, for others Arrow's type.

    A decimal has so many `digits`, `scale` of them behind the point.
    """

    kind: Kind
    unit: str | None = None
    zone: str | None = None
    element: ValueType | None = None
    arrow: pa.DataType | None = None
    digits: int = 0
    scale: int = 0

    @property
    def is_number(self) -> bool:
        """Whether arithmetic applies."""
        return self.kind in _NUMBERS

    @property
    def is_open(self) -> bool:
        """Whether the type is not known yet (no schema) or is that of a bare NULL."""
        return self.kind in _OPEN

    def __str__(self) -> str:
        """The name used in messages."""
        if self.kind is Kind.TIMESTAMP:
            if self.unit == "d":
                return "date"
            return f"timestamp with zone {self.zone}" if self.zone else "timestamp"
        if self.kind is Kind.OTHER:
            return f"Arrow's {self.arrow}"
        if self.kind is Kind.LIST:
            return f"list of {self.element}"
        return str(self.kind.value)


BOOLEAN = ValueType(Kind.BOOLEAN)
INTEGER = ValueType(Kind.INTEGER)
UNSIGNED = ValueType(Kind.UNSIGNED)
FLOAT = ValueType(Kind.FLOAT)
STRING = ValueType(Kind.STRING)
NULL = ValueType(Kind.NULL)
UNKNOWN = ValueType(Kind.UNKNOWN)
EVENT = ValueType(Kind.EVENT)


def list_of(element: ValueType) -> ValueType:
    """The type of a list."""
    return ValueType(Kind.LIST, element=element)


def decimal_of(digits: int, scale: int) -> ValueType:
    """The type of decimals."""
    return ValueType(Kind.DECIMAL, digits=digits, scale=scale)


def from_arrow(arrow: pa.DataType) -> ValueType:
    """The type that a column's values have in expressions."""
    if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
        return from_arrow(arrow.value_type)
    for belongs, make in _FROM_ARROW:
        if belongs(arrow):
            return make(arrow)
    return ValueType(Kind.OTHER, arrow=arrow)


_FROM_ARROW: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], ValueType]], ...] = (
    (pa.types.is_boolean, lambda _: BOOLEAN),
    (pa.types.is_uint64, lambda _: UNSIGNED),
    (pa.types.is_integer, lambda _: INTEGER),
    (pa.types.is_floating, lambda _: FLOAT),
    (pa.types.is_decimal, lambda arrow: decimal_of(arrow.precision, arrow.scale)),
    (pa.types.is_string, lambda _: STRING),
    (pa.types.is_large_string, lambda _: STRING),
    (pa.types.is_string_view, lambda _: STRING),
    (pa.types.is_timestamp, lambda arrow: ValueType(Kind.TIMESTAMP, arrow.unit, arrow.tz)),
    (pa.types.is_date, lambda _: ValueType(Kind.TIMESTAMP, "d")),
    (pa.types.is_duration, lambda arrow: ValueType(Kind.DURATION, arrow.unit)),
    (pa.types.is_time, lambda arrow: ValueType(Kind.TIME, arrow.unit)),
    (pa.types.is_null, lambda _: NULL),
)


def to_arrow(value_type: ValueType) -> pa.DataType:
    """The Arrow type of a computed column."""
    match value_type.kind:
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.INTEGER:
            return pa.int64()
        case Kind.UNSIGNED:
            return pa.uint64()
        case Kind.DECIMAL:
            wide = value_type.digits > 38
            return (pa.decimal256 if wide else pa.decimal128)(value_type.digits, value_type.scale)
        case Kind.FLOAT:
            return pa.float64()
        case Kind.STRING:
            return pa.string()
        case Kind.TIMESTAMP:
            return pa.date32() if value_type.unit == "d" else pa.timestamp(value_type.unit, value_type.zone)
        case Kind.DURATION:
            return pa.duration("s" if value_type.unit == "d" else value_type.unit)
        case Kind.TIME:
            return (pa.time32 if value_type.unit in ("s", "ms") else pa.time64)(value_type.unit)
        case Kind.LIST if value_type.element is not None:
            return pa.list_(to_arrow(value_type.element))
    return value_type.arrow or pa.null()


# What Arrow's widest decimals have.
_MOST_DIGITS = 76


def common_type(types: Sequence[ValueType]) -> ValueType:
    """A type that holds the values of several types which can be compared."""
    kinds = {value_type.kind for value_type in types}
    if Kind.FLOAT in kinds:
        return FLOAT
    if kinds <= {Kind.INTEGER, Kind.UNSIGNED, Kind.DECIMAL} and len(set(types)) > 1:
        scale = max(value_type.scale for value_type in types)
        whole = max(value_type.digits - value_type.scale if value_type.digits else 20 for value_type in types)
        return decimal_of(whole + scale, scale) if whole + scale <= _MOST_DIGITS else FLOAT
    units = [value_type.unit for value_type in types if value_type.unit]
    return replace(types[0], unit=reduce(finer, units)) if units else types[0]


def finer(left: str, right: str) -> str:
    """The finer of two units of time.

    >>> finer("s", "ms")
    'ms'
    """
    return min(left, right, key=NANOSECONDS.__getitem__)
