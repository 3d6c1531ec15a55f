"""All events of a run in one table: primitive ones as they came, composite ones as queries make them.

Attributes of one name share a column where their types agree; types that clash get columns of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.schema import Schema


@dataclass(frozen=True)
class EventTable:
    """Events by row: their columns, types and intervals.

    `starts` and `ends` order them: times, or (time, tie-breakers…).
    """

    table: pa.Table
    schema: Schema
    types: list[str]
    starts: list[Any]
    ends: list[Any]
    start_times: list[int]
    end_times: list[int]
    order: list[int]
    """The rows in canonical order: by end, start, type and content."""

    @property
    def type_names(self) -> set[str]:
        """The types that occur."""
        return set(self.types)

    def with_composites(
        self, type_name: str, table: pa.Table, intervals: Iterable[tuple[Any, Any, int, int]]
    ) -> EventTable:
        """The table with a query's matches as events of a new type."""
        intervals = list(intervals)
        columns = table.rename_columns([f"{type_name}.{name}" for name in table.column_names])
        joined = pa.concat_tables([self.table, columns], promote_options="default")
        return _ordered(
            joined,
            self.schema,
            self.types + [type_name] * len(intervals),
            self.starts + [interval[0] for interval in intervals],
            self.ends + [interval[1] for interval in intervals],
            self.start_times + [interval[2] for interval in intervals],
            self.end_times + [interval[3] for interval in intervals],
        )


def primitive_events(
    table: pa.Table, schema: Schema, types: list[str], times: list[int], order: list[str]
) -> EventTable:
    """The table of events as they came; `order` names the tie-breaking columns behind the time."""
    keys: list[Any] = times
    if order:
        keys = list(zip(times, *(table.column(name).to_pylist() for name in order), strict=True))
    return _ordered(table, schema, types, keys, keys, times, times)


def _ordered(
    table: pa.Table,
    schema: Schema,
    types: list[str],
    starts: list[Any],
    ends: list[Any],
    start_times: list[int],
    end_times: list[int],
) -> EventTable:
    rows = _by_content(table)
    rows.sort(key=types.__getitem__)
    if starts is not ends:
        rows.sort(key=starts.__getitem__)
    rows.sort(key=ends.__getitem__)
    return EventTable(table, schema, types, starts, ends, start_times, end_times, rows)


def _by_content(table: pa.Table) -> list[int]:
    """Rows in the order of their values: what breaks ties must not depend on arrival."""
    columns = {f"c{index}": _sortable(column) for index, column in enumerate(table.columns)}
    if not columns:
        return []
    order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    return order.to_pylist()  # type: ignore[no-any-return]


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """A column that Arrow can sort by; of those it cannot, the text of their values."""
    arrow = column.type
    if pa.types.is_dictionary(arrow):
        return _sortable(column.cast(arrow.value_type))
    if pa.types.is_nested(arrow) or pa.types.is_null(arrow):
        return pa.array([repr(value) for value in column.to_pylist()], pa.string())
    return column
