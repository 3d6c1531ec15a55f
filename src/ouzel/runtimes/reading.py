"""Stage 5, in: how events are to be read, and what columns are then: the time, types, attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ouzel.errors import SchemaError, did_you_mean, listed
from ouzel.logical.schema import (
    INFERRED,
    UNTYPED,
    Column,
    EventType,
    Schema,
    TimeColumn,
    check_readable,
    table_columns,
    time_column,
)
from ouzel.logical.values import Kind, from_arrow

AUTO = "auto"
ARRIVAL = "arrival"
DEFAULT_TYPE_COLUMN = "type"


@dataclass(frozen=True)
class Reading:
    """How to read events: which columns hold time, type and tie-breakers, and what is declared of the types."""

    time: str = "ts"
    """The time of an event; of those that last, when they end."""
    type: str | None = AUTO
    order: tuple[str, ...] = ()
    types: Mapping[str, Any] | None = None
    time_unit: str | None = None
    """The unit of integer times; None, where it was not said, means milliseconds."""
    on_bad: str = "error"
    encoding: str | None = None
    delimiter: str | None = None
    start: str | None = None
    """The column that says when events start, if they last."""
    by_arrival: bool = False
    """Whether events that `order` leaves simultaneous come one after the other as their rows do."""

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that say when an event is."""
        return (self.time,) if self.start is None else (self.start, self.time)


def settled(reading: Reading, columns: Iterable[str]) -> Reading:
    """The reading where 'arrival', last in `order`, means the order of rows: there is no such column."""
    if reading.order[-1:] == (ARRIVAL,) and ARRIVAL not in columns:
        return replace(reading, order=reading.order[:-1], by_arrival=True)
    return reading


def type_column_of(columns: Iterable[str], reading: Reading) -> str | None:
    """The column with the event types: the one named, or one called `type` where none is named."""
    if reading.type == AUTO:
        return DEFAULT_TYPE_COLUMN if DEFAULT_TYPE_COLUMN in columns else None
    return reading.type


def schema_of(table: pa.Table, type_column: str | None, reading: Reading) -> Schema:
    """What a table holds; its types are those declared, or what its columns say."""
    columns = table_columns(table.schema)
    time, lasting = time_of(table, reading, ""), reading.start is not None
    if type_column is None:
        if reading.types is not None:
            raise SchemaError("types: required a type column; name it with type='…'")
        return Schema(time, {}, EventType(UNTYPED, columns, lasting=lasting))
    if table.num_rows and from_arrow(table.schema.field(type_column).type).kind not in (Kind.STRING, Kind.NULL):
        arrow = table.schema.field(type_column).type
        raise SchemaError(f"type column '{type_column}': required strings; got {arrow}")
    if reading.types is None:
        return Schema(time, {}, EventType(INFERRED, columns, lasting=lasting), type_column=type_column)
    if not isinstance(reading.types, Mapping):
        raise SchemaError(f"types: required a dict of types and their attributes; got {reading.types!r}")
    always = (*reading.times, type_column, *reading.order)
    declared = {
        name: _declared_type(name, attributes, columns, always, lasting=lasting)
        for name, attributes in reading.types.items()
    }
    return Schema(time, declared, None, declared=True, type_column=type_column)


def _declared_type(
    name: str, attributes: Any, columns: Mapping[str, Column], always: tuple[str, ...], *, lasting: bool
) -> EventType:
    """A type as the caller declared it: a list of attributes, or attributes with their Arrow types."""
    held = {one: columns[one] for one in dict.fromkeys(always) if one in columns}
    if isinstance(attributes, str) or not isinstance(attributes, Iterable):
        required = "a list of attributes, or a dict with their types"
        raise SchemaError(f"types: '{name}': required {required}; got {attributes!r}")
    for attribute in attributes:
        arrow = _arrow_type(name, attribute, attributes[attribute]) if isinstance(attributes, Mapping) else None
        if arrow is None and attribute not in columns:
            hint = did_you_mean(attribute, columns)
            raise SchemaError(
                f"types: '{name}' has the attribute '{attribute}', which is no column; required one of "
                f"{listed(columns)}" + (f"\n  hint: {hint}" if hint else "")
            )
        if attribute in columns:
            columns[attribute].readable()
        held[attribute] = columns[attribute] if arrow is None else Column(attribute, arrow, from_arrow(arrow))
    return EventType(name, held, lasting=lasting)


def _arrow_type(name: str, attribute: str, declared: Any) -> pa.DataType | None:
    if declared is None or isinstance(declared, pa.DataType):
        return declared
    try:
        return pa.type_for_alias(declared)
    except (ValueError, AttributeError, TypeError):
        raise SchemaError(
            f"types: '{attribute}' of '{name}': required an Arrow type such as pa.int64() or 'int64'; "
            f"got {declared!r}"
        ) from None


def time_of(table: pa.Table, reading: Reading, source: str) -> TimeColumn:
    """The column that orders events, once it and the tie-breakers can do so."""
    require_column(table, reading.time, "time", source)
    for name in reading.order:
        require_column(table, name, "order", source)
        arrow = table.schema.field(name).type
        if from_arrow(arrow).kind is Kind.OTHER:
            raise SchemaError(f"order column '{name}': required numbers, strings or times; got {arrow}")
    if reading.order and reading.order[0] != reading.time:
        raise SchemaError(f"order: required the time column '{reading.time}' first; got '{reading.order[0]}'")
    unit = "ms" if reading.time_unit is None else reading.time_unit
    time = time_column(reading.time, table.schema.field(reading.time).type, unit)
    if reading.start is None:
        return time
    require_column(table, reading.start, "time", source)
    start = time_column(reading.start, table.schema.field(reading.start).type, unit)
    if (start.type, start.tick) != (time.type, time.tick):
        raise SchemaError(
            f"time columns '{reading.start}' and '{reading.time}': required one type; got {start.arrow} and "
            f"{time.arrow}\n  hint: cast one of them"
        )
    return replace(time, start=reading.start)


def require_column(table: pa.Table, name: str, role: str, source: str) -> None:
    """Refuse a table without a column that has a role."""
    if name not in table.column_names:
        where = f" of '{source}'" if source else ""
        hint = did_you_mean(name, table.column_names) or f"name the column with {role}='…'"
        raise SchemaError(
            f"{role} column '{name}' is not among the columns{where}: {listed(table.column_names)}\n  hint: {hint}"
        )
    check_readable(table.schema.field(name))


def tie_breakers(reading: Reading) -> list[str]:
    """The columns that order events of one time."""
    return [name for name in reading.order if name != reading.time]
