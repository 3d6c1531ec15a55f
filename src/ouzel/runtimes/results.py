"""Stage 5, out: matches become an Arrow table, column by column.

Attributes and whole events are gathered from the event table, so that they keep their exact types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ouzel.language.durations import NANOSECONDS
from ouzel.logical.expressions import Attribute, Constant, Element, Events, Expression, Moment
from ouzel.logical.output import event_fields, output_type
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.logical.values import Kind
from ouzel.physical.reference.evaluate import evaluate
from ouzel.physical.reference.events import Event, Stream
from ouzel.physical.reference.match import Match

Rows = list[int | None]


def result_table(query: BoundQuery, matches: Sequence[Match], stream: Stream) -> pa.Table:
    """The matches of a query as RETURN asks for them, or start, end and all variables without RETURN."""
    builder = _Builder(query, matches, stream)
    if query.output:
        columns = {column.name: builder.column(column.expression) for column in query.output}
    else:
        columns = builder.everything()
    return pa.table(columns)


class _Builder:
    """Builds the columns of one result."""

    def __init__(self, query: BoundQuery, matches: Sequence[Match], stream: Stream) -> None:
        self.query = query
        self.matches = matches
        self.stream = stream
        self.table = stream.values.table
        self.components = {component.variable: component for component in query.components}

    def everything(self) -> dict[str, Any]:
        """The columns of a query without RETURN."""
        time = self.query.schema.time.arrow
        columns: dict[str, Any] = {
            "start": _times([match.first.start_time for match in self.matches], time),
            "end": _times([match.last.end_time for match in self.matches], time),
        }
        for component in self.query.components:
            if not component.negative:
                columns[component.variable] = self._events(component, None)
        return columns

    def column(self, expression: Expression) -> pa.Array | pa.ChunkedArray:
        """One column of RETURN."""
        match expression:
            case Events():
                return self._events(self.components[expression.variable], expression.column)
            case Attribute(element=Element.SINGLE):
                return self._gather(expression.column, self._rows(expression.variable, 0))
            case Attribute(element=Element.FIRST | Element.LAST as element):
                index = 0 if element is Element.FIRST else -1
                return self._gather(expression.column, self._rows(expression.variable, index))
        values = [evaluate(expression, match.bindings, self.stream) for match in self.matches]
        arrow = output_type(expression, self.components, self.query.schema.time)
        if isinstance(expression, Constant) and expression.type.kind is Kind.DURATION and not values:
            return pa.array([], pa.duration("ns"))
        if isinstance(expression, Moment):
            return _times(values, arrow)
        if expression.type.kind is Kind.DURATION and expression.type.unit == "d":
            factor = NANOSECONDS["d"] // NANOSECONDS["s"]
            values = [None if value is None else value * factor for value in values]
        return pa.array(values, arrow)

    # ---- events ------------------------------------------------------------------------------------------

    def _rows(self, variable: str, index: int) -> Rows:
        return [_row(match.bindings.get(variable), index) for match in self.matches]

    def _events(self, component: Component, column: str | None) -> pa.Array | pa.ChunkedArray:
        """What a variable is bound to, whole or one attribute of it: a value, or a list for an array."""
        if not component.is_array:
            return self._values(component, column, self._rows(component.variable, 0))
        bound = [match.bindings.get(component.variable) for match in self.matches]
        lists = [elements if isinstance(elements, tuple) else () for elements in bound]
        offsets = [0]
        for elements in lists:
            offsets.append(offsets[-1] + len(elements))
        rows: Rows = [event.row for elements in lists for event in elements]
        values = self._values(component, column, rows)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        unbound = pa.array([elements is None for elements in bound], pa.bool_())
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, mask=unbound)

    def _values(self, component: Component, column: str | None, rows: Rows) -> pa.Array | pa.ChunkedArray:
        if column is not None:
            return self._gather(column, rows)
        fields = event_fields(component)
        arrays = [_combined(self._gather(field.name, rows)) for field in fields.values()]
        mask = pa.array([row is None for row in rows], pa.bool_())
        if not fields:
            return pa.array([None if row is None else {} for row in rows], pa.struct([]))
        return pa.StructArray.from_arrays(arrays, names=list(fields), mask=mask)

    def _gather(self, column: str, rows: Rows) -> pa.ChunkedArray:
        return self.table.column(column).take(pa.array(rows, pa.int64()))


def _combined(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) and combined.num_chunks else combined


def _row(bound: Event | tuple[Event, ...] | None, index: int) -> int | None:
    if isinstance(bound, tuple):
        return bound[index].row if bound else None
    return None if bound is None else bound.row


def _times(values: list[int | None], arrow: pa.DataType) -> pa.Array:
    """Ticks as values of the time column."""
    if pa.types.is_date64(arrow):
        return pa.array(values, pa.date32()).cast(arrow)
    return pa.array(values, arrow)
