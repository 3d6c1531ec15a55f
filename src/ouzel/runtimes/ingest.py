"""Stage 5, in: whatever holds the events becomes one event table; what is malformed is refused or set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import SchemaError, did_you_mean, listed
from ouzel.logical.schema import (
    INFERRED,
    UNTYPED,
    Column,
    EventType,
    Schema,
    TimeColumn,
    table_columns,
    time_column,
)
from ouzel.logical.values import Kind, finer, from_arrow
from ouzel.physical.event_table import EventTable, Integers, primitive_events
from ouzel.physical.event_types import EventTypes
from ouzel.runtimes.kinds import Restore, is_rows, is_tables_by_type, to_arrow
from ouzel.runtimes.quarantine import Problem, Report, bad_table, check_policy, refuse
from ouzel.runtimes.rows import fitting, rows_to_arrow

AUTO = "auto"
DEFAULT_TYPE_COLUMN = "type"


@dataclass(frozen=True)
class Reading:
    """How to read events: which columns hold time, type and tie-breakers, and what is declared of the types."""

    time: str = "ts"
    type: str | None = AUTO
    order: tuple[str, ...] = ()
    types: Mapping[str, Any] | None = None
    time_unit: str = "ms"
    on_bad: str = "error"


@dataclass
class _Source:
    """One table on its way in."""

    table: pa.Table
    restore: Restore
    rows: Sequence[Any] | None
    name: str
    problems: list[Problem] = field(default_factory=list)


def ingest(events: Any, reading: Reading, report: Report) -> tuple[EventTable, Restore]:
    """Read events of any kind; also the way back from an Arrow table to that kind."""
    check_policy(reading.on_bad)
    if is_tables_by_type(events):
        return _ingest_by_type(events, reading, report)
    source = _source(events, "")
    type_column = _type_column(source.table, reading)
    schema = _schema(source.table, type_column, reading)
    source.table = _declared_values(source, schema, type_column, reading)
    time = schema.time
    _check_times(source, time, reading)
    if type_column is not None:
        _check_types(source, schema, type_column)
    good = _set_aside([source], reading, report)[0]
    types = _types(good, type_column)
    table = primitive_events(good, schema, types, _ticks(good, time), _tie_breakers(reading))
    return table, source.restore


# ---- one table per type --------------------------------------------------------------------------------


def _ingest_by_type(events: Mapping[Any, Any], reading: Reading, report: Report) -> tuple[EventTable, Restore]:
    """Read one table per type: each has its own attributes."""
    if not events:
        raise SchemaError("events: required at least one table; got an empty dict")
    sources = [_source(table, str(name)) for name, table in events.items()]
    _share_time_unit(sources, reading)
    times = [_time(source.table, reading, source.name) for source in sources]
    for source, time in zip(sources, times, strict=True):
        if (time.type, time.tick) != (times[0].type, times[0].tick):
            raise SchemaError(
                f"time column '{reading.time}': required one type in all tables; got {times[0].arrow} in "
                f"'{sources[0].name}' and {time.arrow} in '{source.name}'"
            )
        _check_times(source, time, reading)
    goods = _set_aside(sources, reading, report)
    held: dict[str, pa.DataType] = {}
    renamed: list[pa.Table] = []
    event_types: dict[str, EventType] = {}
    for source, good in zip(sources, goods, strict=True):
        attributes = table_columns(good.schema)
        for name, column in attributes.items():
            if held.setdefault(name, column.arrow) != column.arrow:
                attributes[name] = replace(column, name=f"{source.name}.{name}")
        renamed.append(good.rename_columns([column.name for column in attributes.values()]))
        event_types[source.name] = EventType(source.name, attributes)
    schema = Schema(times[0], event_types, None, declared=True)
    joined = pa.concat_tables(renamed, promote_options="default")
    names = tuple(source.name for source in sources)
    codes = np.repeat(np.arange(len(names), dtype=np.int32), [good.num_rows for good in goods])
    ticks = np.concatenate([_ticks(good, times[0]) for good in goods])
    return primitive_events(
        joined, schema, EventTypes(None, names, codes), ticks, _tie_breakers(reading)
    ), sources[0].restore


def _share_time_unit(sources: list[_Source], reading: Reading) -> None:
    """Bring timestamps of several tables to the finest of their units."""
    times = [_time(source.table, reading, source.name).type for source in sources]
    units = {value_type.unit for value_type in times if value_type.kind is Kind.TIMESTAMP and value_type.unit}
    if len(units) > 1 and "d" not in units:
        finest = reduce(finer, units)
        for source, value_type in zip(sources, times, strict=True):
            if value_type.kind is Kind.TIMESTAMP:
                index = source.table.column_names.index(reading.time)
                cast = source.table.column(index).cast(pa.timestamp(finest, value_type.zone))
                source.table = source.table.set_column(index, reading.time, cast)


def _source(events: Any, name: str) -> _Source:
    if is_rows(events):
        table, problems = rows_to_arrow(events)
        problems = [replace(problem, table=name) for problem in problems]
        return _Source(table, lambda result: result.to_pylist(), events, name, problems)
    table, restore = to_arrow(events)
    return _Source(table, restore, None, name)


# ---- schema --------------------------------------------------------------------------------------------


def _type_column(table: pa.Table, reading: Reading) -> str | None:
    """The column with the event types: the one named, or one called `type` where none is named."""
    if reading.type == AUTO:
        return DEFAULT_TYPE_COLUMN if DEFAULT_TYPE_COLUMN in table.column_names else None
    if reading.type is not None:
        _require(table, reading.type, "type", "")
    return reading.type


def _schema(table: pa.Table, type_column: str | None, reading: Reading) -> Schema:
    columns = table_columns(table.schema)
    time = _time(table, reading, "")
    if type_column is None:
        if reading.types is not None:
            raise SchemaError("types: required a type column; name it with type='…'")
        return Schema(time, {}, EventType(UNTYPED, columns))
    if from_arrow(table.schema.field(type_column).type).kind not in (Kind.STRING, Kind.NULL):
        arrow = table.schema.field(type_column).type
        raise SchemaError(f"type column '{type_column}': required strings; got {arrow}")
    if reading.types is None:
        return Schema(time, {}, EventType(INFERRED, columns))
    always = (reading.time, type_column, *reading.order)
    declared = {
        name: _declared_type(name, attributes, columns, always) for name, attributes in reading.types.items()
    }
    return Schema(time, declared, None, declared=True)


def _declared_type(
    name: str, attributes: Any, columns: Mapping[str, Column], always: tuple[str, ...]
) -> EventType:
    """A type as the caller declared it: a list of attributes, or attributes with their Arrow types."""
    held = {one: columns[one] for one in dict.fromkeys(always) if one in columns}
    for attribute in attributes:
        arrow = attributes[attribute] if isinstance(attributes, Mapping) else None
        if isinstance(arrow, str):
            arrow = pa.type_for_alias(arrow)
        if arrow is None and attribute not in columns:
            hint = did_you_mean(attribute, columns)
            raise SchemaError(
                f"types: '{name}' has the attribute '{attribute}', which is no column; required one of "
                f"{listed(columns)}" + (f"\n  hint: {hint}" if hint else "")
            )
        held[attribute] = columns[attribute] if arrow is None else Column(attribute, arrow, from_arrow(arrow))
    return EventType(name, held)


def _time(table: pa.Table, reading: Reading, source: str) -> TimeColumn:
    _require(table, reading.time, "time", source)
    for name in reading.order:
        _require(table, name, "order", source)
    if reading.order and reading.order[0] != reading.time:
        raise SchemaError(f"order: required the time column '{reading.time}' first; got '{reading.order[0]}'")
    return time_column(reading.time, table.schema.field(reading.time).type, reading.time_unit)


def _require(table: pa.Table, name: str, role: str, source: str) -> None:
    if name not in table.column_names:
        where = f" of '{source}'" if source else ""
        hint = did_you_mean(name, table.column_names) or f"name the column with {role}='…'"
        raise SchemaError(
            f"{role} column '{name}' is not among the columns{where}: {listed(table.column_names)}\n  hint: {hint}"
        )


def _tie_breakers(reading: Reading) -> list[str]:
    return [name for name in reading.order if name != reading.time]


# ---- malformed events ----------------------------------------------------------------------------------


def _declared_values(source: _Source, schema: Schema, type_column: str | None, reading: Reading) -> pa.Table:
    """Bring columns to their declared types; note the values that do not fit."""
    table = source.table
    wanted: dict[str, pa.DataType] = {}
    for event_type in schema.types.values():
        for name, column in (event_type.attributes or {}).items():
            if wanted.setdefault(name, column.arrow) != column.arrow:
                raise SchemaError(
                    f"types: '{name}' is declared {wanted[name]} and {column.arrow}; required one type per column"
                )
    for name, arrow in wanted.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows, arrow))
        elif table.schema.field(name).type != arrow and name not in (type_column, reading.time):
            values = fitting(name, table.column(name).to_pylist(), arrow, source.problems)
            table = table.set_column(table.column_names.index(name), name, values)
    return table


def _check_times(source: _Source, time: TimeColumn, reading: Reading) -> None:
    malformed = {(problem.row, problem.column) for problem in source.problems}
    for name in dict.fromkeys((time.name, *reading.order)):
        role = "time" if name == time.name else "value to order by"
        for row in _rows_where(pc.is_null(source.table.column(name))):
            if (row, name) not in malformed:
                source.problems.append(Problem(row, name, f"the event has no {role}", source.name))


def _check_types(source: _Source, schema: Schema, type_column: str) -> None:
    column = source.table.column(type_column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    for row in _rows_where(pc.is_null(column)):
        source.problems.append(Problem(row, type_column, "the event has no type"))
    if schema.declared:
        known = pa.array(list(schema.types), pa.string())
        unknown = pc.and_kleene(pc.invert(pc.is_in(column.cast(pa.string()), known)), pc.is_valid(column))
        for row in _rows_where(unknown):
            value = column[row].as_py()
            hint = did_you_mean(value, schema.types)
            text = f"unknown event type '{value}'; required one of {listed(schema.types)}"
            source.problems.append(Problem(row, type_column, text + (f"; {hint}" if hint else "")))


def _rows_where(mask: pa.ChunkedArray) -> list[int]:
    return pc.indices_nonzero(mask).to_pylist()  # type: ignore[no-any-return]


def _set_aside(sources: list[_Source], reading: Reading, report: Report) -> list[pa.Table]:
    """Refuse malformed events, or move them to the report."""
    problems = [problem for source in sources for problem in source.problems]
    report.events = sum(source.table.num_rows for source in sources)
    if reading.on_bad == "error":
        refuse(problems)
    report.problems = problems
    bad = [_bad(source) for source in sources]
    report.quarantined = bad[0] if len(sources) == 1 else {s.name: b for s, b in zip(sources, bad, strict=True)}
    return [_without(source.table, {problem.row for problem in source.problems}) for source in sources]


def _bad(source: _Source) -> Any:
    table = bad_table(source.table, source.problems)
    if source.rows is None:
        return source.restore(table)
    # rows keep their own values, which the table could not hold
    return [
        {**source.rows[row], "row": row, "problem": problem}
        for row, problem in zip(table.column("row").to_pylist(), table.column("problem").to_pylist(), strict=True)
    ]


def _without(table: pa.Table, rows: set[int]) -> pa.Table:
    if not rows:
        return table
    return table.take(pa.array([row for row in range(table.num_rows) if row not in rows], pa.int64()))


# ---- values --------------------------------------------------------------------------------------------


def _types(table: pa.Table, type_column: str | None) -> EventTypes:
    if type_column is None:
        return EventTypes(None, (UNTYPED,), np.zeros(table.num_rows, np.int32))
    return EventTypes.of_column(table.column(type_column))


def _ticks(table: pa.Table, time: TimeColumn) -> Integers:
    column = table.column(time.name)
    if pa.types.is_date64(column.type):
        column = column.cast(pa.date32())
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64()).to_numpy()  # type: ignore[no-any-return]
