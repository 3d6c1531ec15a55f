"""Types of values in expressions, and how they map to and from Arrow.

Inside expressions a timestamp, date or duration is an integer count of its unit; everything else is what
Python calls it.  Decimals take part in arithmetic as doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pyarrow as pa

from ouzel.language.durations import NANOSECONDS


class Kind(Enum):
    """The families of values that the language tells apart."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    STRING = "string"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    NULL = "null"
    UNKNOWN = "unknown"
    OTHER = "other"
    EVENT = "event"
    LIST = "list"


@dataclass(frozen=True)
class ValueType:
    """A type: its kind, and for times the unit and zone, for lists the element, for others Arrow's type."""

    kind: Kind
    unit: str | None = None
    zone: str | None = None
    element: ValueType | None = None
    arrow: pa.DataType | None = None

    @property
    def is_number(self) -> bool:
        """Whether arithmetic applies."""
        return self.kind in (Kind.INTEGER, Kind.FLOAT)

    @property
    def is_open(self) -> bool:
        """Whether the type is not known yet (no schema) or is that of a bare NULL."""
        return self.kind in (Kind.UNKNOWN, Kind.NULL)

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
FLOAT = ValueType(Kind.FLOAT)
STRING = ValueType(Kind.STRING)
NULL = ValueType(Kind.NULL)
UNKNOWN = ValueType(Kind.UNKNOWN)
EVENT = ValueType(Kind.EVENT)


def list_of(element: ValueType) -> ValueType:
    """The type of a list."""
    return ValueType(Kind.LIST, element=element)


def from_arrow(arrow: pa.DataType) -> ValueType:
    """The type that a column's values have in expressions."""
    if pa.types.is_dictionary(arrow):
        return from_arrow(arrow.value_type)
    if pa.types.is_boolean(arrow):
        return BOOLEAN
    if pa.types.is_integer(arrow):
        return INTEGER
    if pa.types.is_floating(arrow) or pa.types.is_decimal(arrow):
        return FLOAT
    if pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow):
        return STRING
    if pa.types.is_timestamp(arrow):
        return ValueType(Kind.TIMESTAMP, arrow.unit, arrow.tz)
    if pa.types.is_date(arrow):
        return ValueType(Kind.TIMESTAMP, "d")
    if pa.types.is_duration(arrow):
        return ValueType(Kind.DURATION, arrow.unit)
    if pa.types.is_null(arrow):
        return NULL
    return ValueType(Kind.OTHER, arrow=arrow)


def to_arrow(value_type: ValueType) -> pa.DataType:
    """The Arrow type of a computed column."""
    match value_type.kind:
        case Kind.BOOLEAN:
            return pa.bool_()
        case Kind.INTEGER:
            return pa.int64()
        case Kind.FLOAT:
            return pa.float64()
        case Kind.STRING:
            return pa.string()
        case Kind.TIMESTAMP:
            return pa.date32() if value_type.unit == "d" else pa.timestamp(value_type.unit, value_type.zone)
        case Kind.DURATION:
            return pa.duration("s" if value_type.unit == "d" else value_type.unit)
        case Kind.LIST if value_type.element is not None:
            return pa.list_(to_arrow(value_type.element))
    return value_type.arrow or pa.null()


def finer(left: str, right: str) -> str:
    """The finer of two units of time.

    >>> finer("s", "ms")
    'ms'
    """
    return min(left, right, key=NANOSECONDS.__getitem__)
