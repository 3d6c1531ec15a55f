"""What a query is bound to: the event types, their attributes, and the time column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import pyarrow as pa

from ouzel.errors import SchemaError, listed
from ouzel.logical.values import INTEGER, UNKNOWN, Kind, ValueType, from_arrow

# The type of every event where the input has no type column.
UNTYPED = ""
# The name of the default type where the type column may hold any name.
INFERRED = "*"
TICKS = ("s", "ms", "us", "ns")
# What stands between the names of a struct and of its field, in the name of the column that holds the field.
NESTED = "\x1f"


@dataclass(frozen=True)
class Column:
    """Where an attribute's values are kept, and their types in Arrow and in expressions."""

    name: str
    arrow: pa.DataType
    type: ValueType
    unreadable: str = ""
    """The type that the values came with, if Arrow has none for it: no query can use such a column."""

    def readable(self) -> Column:
        """This column, if a query can use it."""
        if self.unreadable:
            raise SchemaError(
                f"column '{self.name}': required values of a type that Arrow has; got {self.unreadable}\n"
                "  hint: convert the column, or leave it out: RETURN single attributes, such as a.ts"
            )
        return self


@dataclass(frozen=True)
class EventType:
    """A type and the attributes its events have; without attributes known, every one is there.

    Events of it last if they are composite, or if those that come in do (`lasting`).
    """

    name: str
    attributes: Mapping[str, Column] | None
    composite: bool = False
    lasting: bool = False

    @property
    def lasts(self) -> bool:
        """Whether its events have a start and an end."""
        return self.composite or self.lasting

    def column(self, attribute: str) -> Column | None:
        """The column of an attribute, None if events of this type have no such attribute."""
        if self.attributes is None:
            return _unknown_column(attribute)
        found = self.attributes.get(attribute) or _field(self.attributes, attribute)
        return found and found.readable()


@lru_cache(maxsize=1_024)
def _unknown_column(attribute: str) -> Column:
    """The column of an attribute of which nothing is known but its name."""
    return Column(attribute, pa.null(), UNKNOWN)


def _field(attributes: Mapping[str, Column], path: str) -> Column | None:
    """The column that holds a field of a struct; there is one only where a query needs it."""
    for name, column in attributes.items():
        found = _within(column.arrow, path[len(name) + 1 :]) if path.startswith(f"{name}.") else None
        if found is not None:
            names, arrow = found
            return Column(NESTED.join((column.name, *names)), arrow, from_arrow(arrow))
    return None


def _within(arrow: pa.DataType, path: str) -> tuple[list[str], pa.DataType] | None:
    """The names on the way to a field, and its type; names may hold dots themselves."""
    for field in arrow if pa.types.is_struct(arrow) else ():
        if field.name == path:
            return [field.name], field.type
        found = _within(field.type, path[len(field.name) + 1 :]) if path.startswith(f"{field.name}.") else None
        if found is not None:
            return [field.name, *found[0]], found[1]
    return None


@dataclass(frozen=True)
class TimeColumn:
    """The column that orders events; a tick is the unit in which it counts.

    Where events last, they end at this time; `start` is the column that says when they start.
    """

    name: str
    arrow: pa.DataType
    type: ValueType
    tick: str
    start: str | None = None


@dataclass(frozen=True)
class Schema:
    """The input of a query.

    `types` are those known by name.  Where `declared` is false a type column may hold others too, and `default`
    is what their events look like; without a type column, `default` is called UNTYPED.  `type_column` is its name.
    """

    time: TimeColumn
    types: Mapping[str, EventType]
    default: EventType | None
    declared: bool = False
    type_column: str | None = None

    def event_type(self, name: str) -> EventType | None:
        """What a type name in a query means; None if there is no such type."""
        if name in self.types:
            return self.types[name]
        if self.declared or self.default is None:
            return None
        if self.default.name == UNTYPED:
            return self.default
        if name not in self._met:
            self._met[name] = replace(self.default, name=name)
        return self._met[name]

    @property
    def columns(self) -> set[str]:
        """The names of all columns."""
        types = [*self.types.values(), *([self.default] if self.default else [])]
        return {column.name for one in types for column in (one.attributes or {}).values()}

    @property
    def is_open(self) -> bool:
        """Whether there are no data yet, so that events may have any attribute."""
        return self.default is not None and self.default.attributes is None

    @cached_property
    def _met(self) -> dict[str, EventType]:
        """The types that queries mention and nobody declared."""
        return {}

    def with_type(self, event_type: EventType) -> Schema:
        """The schema with one more type, that of another query's matches."""
        return replace(self, types={**self.types, event_type.name: event_type})


def open_schema() -> Schema:
    """The schema of a query that has met no data yet: everything exists, no type is known."""
    time = TimeColumn("ts", pa.null(), UNKNOWN, "ms")
    return Schema(time, {}, EventType(INFERRED, None))


def time_column(name: str, arrow: pa.DataType, unit: str) -> TimeColumn:
    """Check that a column can order events, and find its tick; integers count in `unit`."""
    value_type = from_arrow(arrow)
    if value_type.kind is Kind.TIMESTAMP:
        held = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
        return TimeColumn(name, held, value_type, value_type.unit or "ns")
    if value_type.kind in (Kind.INTEGER, Kind.UNSIGNED) and not pa.types.is_dictionary(arrow):
        if unit not in TICKS:
            raise SchemaError(f"time_unit '{unit}': required one of {', '.join(TICKS)}")
        return TimeColumn(name, arrow, INTEGER, unit)
    if value_type.kind is Kind.NULL:
        return TimeColumn(name, pa.int64(), INTEGER, unit)
    raise SchemaError(
        f"time column '{name}': required integers, timestamps or dates; got {arrow}"
        + ("\n  hint: cast it, for example to timestamp" if value_type.kind not in (Kind.OTHER, Kind.TIME) else "")
    )


def table_columns(schema: pa.Schema) -> dict[str, Column]:
    """The columns of one table as attributes."""
    repeated = {name for name in schema.names if schema.names.count(name) > 1}
    if repeated:
        raise SchemaError(f"columns of one name: {listed(repeated)}\n  hint: rename them")
    return {field.name: _column(field) for field in schema}


_UNREADABLE = b"ouzel.unreadable"


def unreadable_field(name: str, got: str) -> pa.Field:
    """The field of a column that Arrow cannot hold; its values are nulls, and `got` is what they were."""
    return pa.field(name, pa.null(), metadata={_UNREADABLE: got.encode()})


def _column(field: pa.Field) -> Column:
    got = (field.metadata or {}).get(_UNREADABLE, b"")
    return Column(field.name, field.type, from_arrow(field.type), got.decode())


def check_readable(field: pa.Field) -> None:
    """Refuse a column that Arrow cannot hold."""
    _column(field).readable()
