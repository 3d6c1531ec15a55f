"""Stage 5, out: matches become an Arrow table, column by column.

Attributes and whole events are gathered from the event table, so that they keep their exact types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.expressions import Aggregate, Attribute, Element, Events, Expression, Moment
from ouzel.logical.output import event_fields, output_type
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.closing import window_ends
from ouzel.physical.contract import Found
from ouzel.physical.event_table import Integers
from ouzel.physical.finish.distinct_rows import one_form
from ouzel.physical.limit_errors import FEWER, LimitError
from ouzel.physical.match_table import Many, One, Pieces, ends_of
from ouzel.physical.meaning import arrow_values, times_column
from ouzel.runtimes.gathering import gathered

MOST_ELEMENTS = 2**31 - 1
"""How many elements all lists of a column may have: Arrow counts them in 32 bits."""


def result_table(found: Found, threads: int = 1) -> pa.Table:
    """The matches of a query as RETURN asks for them, or start, end and all variables without RETURN.

    Of an expression of the algebra these are its attributes, then start and end; of a register automaton its
    register, then the lifetime.
    """
    if found.query.members is not None:
        return set_table(found, threads)
    if found.rows is not None:
        columns = dict(zip(found.rows.column_names, found.rows.columns, strict=True))
        if found.query.automaton is None:
            return pa.table({**columns, **_times(found)})
        return register_table(found.query, columns, found.matches.start_times, found.matches.end_times)
    builder = _Builder(found, threads)
    if found.query.output:
        columns = {column.name: builder.column(column.expression) for column in found.query.output}
    else:
        columns = builder.everything()
    return pa.table(columns)


def register_table(
    query: BoundQuery, register: Mapping[str, pa.ChunkedArray], starts: Integers, ends: Integers
) -> pa.Table:
    """The matches of a register automaton, of which the first events start and the last ones end at some times."""
    # of equal rows it must not matter which of them was computed
    columns = {name: one_form(column) for name, column in register.items()}
    return pa.table({**columns, **_lifetimes(query, starts, ends)})


def set_table(found: Found, threads: int) -> pa.Table:
    """The matches of a set of queries, with the id of its query in front of each."""
    members = found.query.members
    assert members is not None
    if found.ids is None:  # one by one, their results are whole
        assert found.rows is not None
        return found.rows
    table = result_table(replace(found, query=members.template), threads)
    return table.add_column(0, pa.field(members.id, members.id_type), found.ids)


class _Builder:
    """Builds the columns of one result."""

    def __init__(self, found: Found, threads: int) -> None:
        self.threads = threads
        self.found = found
        self.query = found.query
        self.matches = found.matches
        self.table = found.events.table
        self.compute = found.compute
        self.components = {component.variable: component for component in found.query.components}

    def everything(self) -> dict[str, Any]:
        """The columns of a query without RETURN."""
        columns = _times(self.found)
        for component in self.query.components:
            if not component.negative:
                columns[component.variable] = self._events(component, None)
        return columns

    def column(self, expression: Expression) -> pa.Array | pa.ChunkedArray:
        """One column of RETURN."""
        match expression:
            case Events():
                return self._events(self.components[expression.variable], expression.column)
            case Attribute():
                return self._gather(expression.column, self._rows(expression.variable, expression.element))
            case Aggregate(function="first" | "last", column=str() as column):
                element = Element.FIRST if expression.function == "first" else Element.LAST
                return self._gather(column, self._rows(expression.variable, element))
        arrow = output_type(expression, self.components, self.query.schema.time)
        values = self.compute(expression)
        if isinstance(expression, Moment):
            return times_column(values, arrow)
        return arrow_values(values, expression.type, arrow)

    # ---- events ------------------------------------------------------------------------------------------

    def _rows(self, variable: str, element: Element) -> Integers:
        """The row of one event of each match: the only one, or the first or last of an array."""
        first, last = ends_of([variable], self.matches.bound)
        return first if element is Element.FIRST else last

    def _events(self, component: Component, column: str | None) -> pa.Array | pa.ChunkedArray:
        """What a variable is bound to, whole or one attribute of it: a value, or a list for an array."""
        bound = self.matches.bound[component.variable]
        if isinstance(bound, One):
            return self._values(component, column, bound.rows)
        return _lists(bound, self._values(component, column, bound.held))

    def _values(
        self, component: Component, column: str | None, rows: Integers | Pieces
    ) -> pa.Array | pa.ChunkedArray:
        if column is not None:
            return self._gather(column, rows)
        fields = event_fields(component)
        if not fields:
            count = int(rows.lengths.sum()) if isinstance(rows, Pieces) else len(rows)
            return pa.array([{}] * count, pa.struct([]), mask=_absent(rows))
        arrays = [_combined(self._gather(field.name, rows)) for field in fields.values()]
        return pa.StructArray.from_arrays(arrays, names=list(fields), mask=_absent(rows))

    def _gather(self, column: str, rows: Integers | Pieces) -> pa.Array | pa.ChunkedArray:
        return gathered(self.table.column(column), rows, self.threads)


def _times(found: Found) -> dict[str, Any]:
    """When matches start and end."""
    time = found.query.schema.time.arrow
    starts, ends = found.matches.start_times, found.matches.end_times
    return {"start": times_column(starts, time), "end": times_column(ends, time)}


def _lifetimes(query: BoundQuery, starts: Integers, ends: Integers) -> dict[str, Any]:
    """The intersection of the lifetimes of the events of matches (AFA, Definition 2)."""
    time, window = query.schema.time.arrow, query.window
    until = pa.nulls(len(ends), time) if window is None else _until(starts, window.limit, time)
    if window is None or not (query.automaton and query.automaton.waits):
        last = times_column(ends, time)
    else:
        # a match at the end of the window has that as both
        is_over = ends >= window_ends(starts, window.limit)
        last = times_column(np.where(is_over, starts, ends), time)
        last = pc.if_else(pa.array(is_over), until, last) if is_over.any() else last
    return dict(zip(query.row_times, (last, until), strict=True))


def _until(starts: Integers, limit: int, time: pa.DataType) -> pa.Array:
    """The ends of windows; null where the type of times has none."""
    bits = 32 if pa.types.is_date(time) else time.bit_width
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if pa.types.is_unsigned_integer(time):
        least, most = 0, min(2**bits - 1, 2**63 - 1)
    latest = max(most - limit, least - 1)
    if starts.max(initial=latest) <= latest:
        return times_column(starts + limit, time)
    is_there = starts <= latest
    ends = times_column(np.where(is_there, starts + np.int64(min(limit, most)), 0), time)
    return pc.if_else(pa.array(is_there), ends, pa.scalar(None, time))


def _absent(rows: Integers | Pieces) -> pa.Array | None:
    """Which rows are none; of pieces all are there."""
    return None if isinstance(rows, Pieces) else pa.array(rows < 0)


def _lists(bound: Many, values: pa.Array | pa.ChunkedArray) -> pa.Array:
    if bound.offsets[-1] > MOST_ELEMENTS:
        raise LimitError(
            f"{bound.offsets[-1]:,} events in a column of lists: Arrow takes {MOST_ELEMENTS:,} at most",
            FEWER,
            "or RETURN aggregates, such as count(a[]), in place of all events",
        )
    offsets = pa.array(bound.offsets.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, _combined(values), mask=pa.array(bound.unbound))


def _combined(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """One array of a column's chunks."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) and combined.num_chunks else combined
