"""Stage 5, in: whatever holds the events becomes one event table; what is malformed is refused or set aside."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import SchemaError, did_you_mean, listed
from ouzel.logical.schema import (
    NESTED,
    UNTYPED,
    EventType,
    Schema,
    TimeColumn,
    table_columns,
)
from ouzel.logical.times import EARLIEST, LATEST, too_far_off
from ouzel.logical.values import Kind, finer
from ouzel.physical.event_table import EventTable, Integers, primitive_events
from ouzel.physical.event_types import EventTypes
from ouzel.physical.meaning import integers
from ouzel.runtimes.files import Writing, is_path, read_files
from ouzel.runtimes.kinds import Incoming, Restore, bad_rows, is_tables_by_type, is_without_rows, to_arrow
from ouzel.runtimes.mixed_values import fitting
from ouzel.runtimes.odd_days import odd_days
from ouzel.runtimes.quarantine import Problem, Report, check_policy, described, refuse
from ouzel.runtimes.reading import (
    Reading,
    require_column,
    schema_of,
    settled,
    tie_breakers,
    time_of,
    type_column_of,
)


@dataclass
class _Source:
    """One table on its way in."""

    incoming: Incoming
    table: pa.Table
    name: str
    problems: list[Problem]
    gone: Collection[int] = ()
    """Rows that are no events, though nothing is wrong with them."""
    unpaired: Sequence[Problem] = ()
    """What is wrong with withdrawals."""


Used = Callable[[Schema], Collection[str]]
"""Called with what events look like; the columns that queries use of them."""
Net = Callable[[pa.Table, Reading], tuple[pa.Table, Integers, list[Problem]]]
"""Called with a table; what it is without the column of withdrawals, the rows that are no events, and problems."""


def ingest(
    events: Any, reading: Reading, report: Report, used: Used | None = None, net: Net | None = None
) -> tuple[EventTable, Restore]:
    """Read events of any kind; also the way back from an Arrow table to that kind.

    Values that do not fit their column make an event malformed only where a query uses the column.  `net` tells
    which rows withdraw others.
    """
    check_policy(reading.on_bad)
    if is_tables_by_type(events):
        return _ingest_by_type(events, reading, report, used, net)
    source = _source(events, "", reading, net)
    reading = settled(reading, source.table.column_names)
    type_column = type_column_of(source.table.column_names, reading)
    if type_column is not None:
        require_column(source.table, type_column, "type", "")
    schema = schema_of(source.table, type_column, reading)
    always = {*reading.times, type_column, *reading.order}
    _forgive([source], {"": {name: name for name in source.table.column_names}}, always, schema, used)
    source.table = _declared_values(source, schema, type_column, reading)
    time = schema.time
    _check_times(source, time, reading)
    if type_column is not None and source.table.num_rows:
        _check_types(source, schema, type_column)
    good = _set_aside([source], reading, report)[0]
    types = _types(good, type_column)
    ends, starts = _ticks(good, time.name), _ticks(good, time.start) if time.start else None
    table = primitive_events(good, schema, types, ends, tie_breakers(reading), reading.by_arrival, starts)
    return table, source.incoming.restore


# ---- one table per type --------------------------------------------------------------------------------


def _ingest_by_type(
    events: Mapping[Any, Any], reading: Reading, report: Report, used: Used | None, net: Net | None
) -> tuple[EventTable, Restore]:
    """Read one table per type: each has its own attributes."""
    if not events:
        raise SchemaError("events: required at least one table; got an empty dict")
    if reading.types is not None:
        raise SchemaError("types: required one table; in a dict of tables each is a type with its attributes")
    sources = [_source(table, str(name), reading, net) for name, table in events.items()]
    if settled(reading, {name for source in sources for name in source.table.column_names}).by_arrival:
        raise SchemaError(
            "order: 'arrival' required one table; the rows of one table per type are in no order among each other"
        )
    _fill_empty(sources, reading)
    _check_tie_breakers(sources, reading)
    _share_time_unit(sources, reading)
    times = [time_of(source.table, reading, source.name) for source in sources]
    for source, time in zip(sources, times, strict=True):
        if (time.type, time.tick) != (times[0].type, times[0].tick):
            raise SchemaError(
                f"time column '{reading.time}': required one type in all tables; got {times[0].arrow} in "
                f"'{sources[0].name}' and {time.arrow} in '{source.name}'"
            )
    held: dict[str, pa.DataType] = {}
    event_types: dict[str, EventType] = {}
    names: dict[str, dict[str, str]] = {}
    for source in sources:
        attributes = table_columns(source.table.schema)
        for name, column in attributes.items():
            if held.setdefault(name, column.arrow) != column.arrow:
                attributes[name] = replace(column, name=f"{source.name}.{name}")
        event_types[source.name] = EventType(source.name, attributes, lasting=reading.start is not None)
        names[source.name] = {name: column.name for name, column in attributes.items()}
    schema = Schema(times[0], event_types, None, declared=True)
    _forgive(sources, names, {*reading.times, *reading.order}, schema, used)
    for source, time in zip(sources, times, strict=True):
        _check_times(source, time, reading)
    goods = _set_aside(sources, reading, report)
    ways_back = [
        (source.incoming.restore, names[source.name])
        for source in sources
        if not is_without_rows(source.incoming.native)
    ]
    restore = sources[0].incoming.restore.over(ways_back)
    renamed = [
        good.rename_columns([names[source.name][name] for name in good.column_names])
        for source, good in zip(sources, goods, strict=True)
    ]
    joined = pa.concat_tables(renamed, promote_options="default")
    codes = np.repeat(np.arange(len(sources), dtype=np.int32), [good.num_rows for good in goods])
    ends = np.concatenate([_ticks(good, reading.time) for good in goods])
    starts = np.concatenate([_ticks(good, reading.start) for good in goods]) if reading.start else None
    types = EventTypes(None, tuple(names), codes)
    return primitive_events(joined, schema, types, ends, tie_breakers(reading), starts=starts), restore


def _check_tie_breakers(sources: list[_Source], reading: Reading) -> None:
    for name in tie_breakers(reading):
        found = [source.table.schema.field(name).type for source in sources if name in source.table.column_names]
        other = next((arrow for arrow in found if arrow != found[0]), None)
        if other is not None:
            got = f"{found[0]} and {other}"
            raise SchemaError(f"order column '{name}': required one type in all tables; got {got}")


def _fill_empty(sources: list[_Source], reading: Reading) -> None:
    """A list without rows has no columns: give it those that every table must have."""
    full = next((source.table for source in sources if source.table.num_columns), None)
    needed = [*reading.times, *tie_breakers(reading)]
    if full is not None and set(needed) <= set(full.column_names):
        for source in sources:
            if is_without_rows(source.incoming.native):
                source.table = full.select(needed).slice(0, 0)


def _share_time_unit(sources: list[_Source], reading: Reading) -> None:
    """Bring timestamps of several tables to the finest of their units."""
    times = [time_of(source.table, reading, source.name).type for source in sources]
    units = {value_type.unit for value_type in times if value_type.kind is Kind.TIMESTAMP and value_type.unit}
    if len(units) > 1 and "d" not in units:
        finest = reduce(finer, units)
        for source, value_type in zip(sources, times, strict=True):
            for name in reading.times if value_type.kind is Kind.TIMESTAMP else ():
                index = source.table.column_names.index(name)
                try:
                    cast = source.table.column(index).cast(pa.timestamp(finest, value_type.zone))
                except pa.ArrowInvalid:
                    raise SchemaError(
                        f"time column '{name}' of '{source.name}': times that do not fit in {finest}, the "
                        "unit of another table\n  hint: cast the tables to one unit"
                    ) from None
                source.table = source.table.set_column(index, name, cast)


def _writing(reading: Reading) -> Writing:
    return Writing(None, reading.encoding, reading.delimiter)


def _source(events: Any, name: str, reading: Reading, net: Net | None) -> _Source:
    incoming = to_arrow(read_files([events], reading.times, _writing(reading)) if is_path(events) else events)
    problems = [replace(problem, table=name) for problem in (*incoming.problems, *odd_days(incoming.table))]
    source = _Source(incoming, _whole_times(incoming.table, reading), name, problems)
    if net is not None and not is_without_rows(incoming.native):
        source.table, source.gone, wrong = net(source.table, settled(reading, source.table.column_names))
        source.unpaired = [replace(problem, table=name) for problem in wrong]
    return source


def _whole_times(table: pa.Table, reading: Reading) -> pa.Table:
    """Pandas makes floats of integers where one is missing, and of nothing: here they are integers again."""
    for name in reading.times:
        index = table.schema.get_field_index(name)
        if index < 0 or not pa.types.is_floating(table.schema.field(index).type):
            continue
        column = pc.if_else(pc.is_nan(table.column(index)), None, table.column(index))
        if table.num_rows and not column.null_count:
            continue
        with suppress(pa.ArrowInvalid):
            table = table.set_column(index, name, column.cast(pa.int64()))
    return table


# ---- malformed events ----------------------------------------------------------------------------------


def _forgive(
    sources: list[_Source],
    names: Mapping[str, Mapping[str, str]],
    always: Collection[str | None],
    schema: Schema,
    used: Used | None,
) -> None:
    """Forget problems with values of columns that no query uses; `names` are those of columns, by table."""
    optional = any(problem.column not in always for source in sources for problem in source.problems)
    if used is None or not optional:
        return
    needed = {name.partition(NESTED)[0] for name in used(schema)}
    for source in sources:
        kept = {name for name, column in names[source.name].items() if column in needed}.union(always)
        source.problems = [one for one in source.problems if one.column in kept]


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
    # names as Python values only where columns are declared: of millions of events that takes long
    types = table.column(type_column).to_pylist() if type_column is not None and wanted else []
    for name, arrow in wanted.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.nulls(table.num_rows, arrow))
        elif table.schema.field(name).type != arrow and name not in (type_column, *reading.times):
            # what stands in the column for a type that does not have the attribute is no value of it
            others = {one.name for one in schema.types.values() if name not in (one.attributes or {})}
            written = zip(table.column(name).to_pylist(), types, strict=True)
            values = [None if type_name in others else value for value, type_name in written]
            column = fitting(name, values, arrow, source.problems)
            table = table.set_column(table.column_names.index(name), name, column)
    return table


def _check_times(source: _Source, time: TimeColumn, reading: Reading) -> None:
    malformed = {(problem.row, problem.column) for problem in source.problems}
    for name in dict.fromkeys((*reading.times, *reading.order)):
        role = {time.name: "time" if time.start is None else "end", time.start: "start"}.get(
            name, "value to order by"
        )
        for row in _null_rows(source.table.column(name)):
            if (row, name) not in malformed:
                source.problems.append(Problem(row, name, f"the event has no {role}", source.name))

    for name in reading.times:
        column = source.table.column(name)
        for row in [] if _are_near(column) else _rows_where(beyond_counting(column)):
            value = column[row].cast(pa.uint64() if pa.types.is_uint64(column.type) else pa.int64()).as_py()
            source.problems.append(Problem(row, name, too_far_off(value), source.name))
    for row in (
        _rows_where(pc.greater(*(source.table.column(name) for name in reading.times))) if time.start else ()
    ):
        start, end = (source.table.column(name)[row].as_py() for name in reading.times)
        said = f"the event starts at {start}, after its end {end}"
        source.problems.append(Problem(row, reading.times[0], said, source.name))


def _are_near(times: pa.ChunkedArray) -> bool:
    """Whether all times can be counted, as the first and last of them tell."""
    if not (pa.types.is_int64(times.type) or pa.types.is_timestamp(times.type)):
        return False
    ends = pc.min_max(times.cast(pa.int64()))
    first, last = ends["min"].as_py(), ends["max"].as_py()
    return first is None or (first >= EARLIEST and last <= LATEST)


def beyond_counting(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which times lie too far off to be counted; of a null that is not asked."""
    if pa.types.is_uint64(times.type):
        return pc.greater(times, pa.scalar(LATEST, pa.uint64()))
    if not (pa.types.is_int64(times.type) or pa.types.is_timestamp(times.type)):
        return pa.chunked_array([np.zeros(len(times), np.bool_)])
    ticks = times.cast(pa.int64())
    return pc.or_(pc.less(ticks, EARLIEST), pc.greater(ticks, LATEST))


def _check_types(source: _Source, schema: Schema, type_column: str) -> None:
    column = source.table.column(type_column)
    if pa.types.is_dictionary(column.type) and any(chunk.dictionary.null_count for chunk in column.chunks):
        # else a code is null, or none: to decode millions of them takes as long as to match
        column = column.cast(column.type.value_type)
    malformed = {problem.row for problem in source.problems if problem.column == type_column}
    for row in _null_rows(column):
        if row not in malformed:
            source.problems.append(Problem(row, type_column, "the event has no type"))
    if schema.declared:
        known = pa.array(list(schema.types), pa.string())
        unknown = pc.and_kleene(pc.invert(pc.is_in(column.cast(pa.string()), known)), pc.is_valid(column))
        for row in _rows_where(unknown):
            value = column[row].as_py()
            hint = did_you_mean(value, schema.types)
            text = f"unknown event type '{value}'; required one of {listed(schema.types)}"
            source.problems.append(Problem(row, type_column, text + (f"; {hint}" if hint else "")))


def _null_rows(column: pa.ChunkedArray) -> list[int]:
    return _rows_where(pc.is_null(column)) if column.null_count else []


def _rows_where(mask: pa.ChunkedArray) -> list[int]:
    return pc.indices_nonzero(mask).to_pylist()  # type: ignore[no-any-return]


def _set_aside(sources: list[_Source], reading: Reading, report: Report) -> list[pa.Table]:
    """Refuse malformed events, or move them to the report."""
    for source in sources:
        source.problems += source.unpaired
    problems = [problem for source in sources for problem in source.problems]
    report.events = sum(source.table.num_rows for source in sources)
    if reading.on_bad == "error":
        refuse(problems, {source.name: source.incoming.place for source in sources})
    report.problems = problems
    report.quarantined_count = len({(problem.table, problem.row) for problem in problems})
    bad = [_bad(source) for source in sources]
    report.quarantined = bad[0] if len(sources) == 1 else {s.name: b for s, b in zip(sources, bad, strict=True)}
    report.withdrawn = sum(len(source.gone) for source in sources) // 2
    return [_without(one.table, {problem.row for problem in one.problems}.union(one.gone)) for one in sources]


def _bad(source: _Source) -> Any:
    """The malformed events as they came, with the values that the table could not hold."""
    return bad_rows(source.incoming, described(source.problems))


def _without(table: pa.Table, rows: set[int]) -> pa.Table:
    if not rows:
        return table
    return table.take(pa.array([row for row in range(table.num_rows) if row not in rows], pa.int64()))


# ---- values --------------------------------------------------------------------------------------------


def _types(table: pa.Table, type_column: str | None) -> EventTypes:
    if not table.num_rows:
        return EventTypes(None, (), np.zeros(0, np.int32))
    if type_column is None:
        return EventTypes(None, (UNTYPED,), np.zeros(table.num_rows, np.int32))
    return EventTypes.of_column(table.column(type_column), type_column)


def _ticks(table: pa.Table, time: str) -> Integers:
    return integers(table.column(time))
