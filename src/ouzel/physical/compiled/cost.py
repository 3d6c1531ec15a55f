"""What a match costs in memory, about: the numbers of its events, and what RETURN makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ouzel.logical.expressions import Attribute, Events
from ouzel.logical.output import event_fields
from ouzel.logical.query import BoundQuery

# A computed value, with a flag for null; and start and end of a match, in ticks and in moments.
_VALUE, _INTERVAL = 9, 32
# So many chunks of a column tell how wide it is.
SAMPLE = 8


@dataclass(frozen=True)
class Cost:
    """Bytes for a match, and for every event of a closure besides."""

    match: float
    element: float


class ResultCosts:
    """What a match takes in the results of a query, as the largest batch so far tells."""

    def __init__(self, query: BoundQuery) -> None:
        """Begin with no batch."""
        self.query = query
        self._rows, self._cost = -1, Cost(0, 0)

    def of(self, table: pa.Table) -> Cost:
        """The cost, by this batch of events if it is the largest."""
        if table.num_rows > self._rows:
            self._rows, self._cost = table.num_rows, _result_cost(self.query, table)
        return self._cost


def _result_cost(query: BoundQuery, table: pa.Table) -> Cost:
    """What a match takes in the result."""
    if query.aggregates:
        return Cost(_INTERVAL, 0)
    components = {component.variable: component for component in query.components if not component.negative}
    expressions = [column.expression for column in query.output]
    wanted: list[tuple[str, str | None]] = [(variable, None) for variable in components if not expressions]
    fixed, element = float(_INTERVAL + _VALUE), 0.0
    for expression in expressions:
        match expression:
            case Events(variable=variable, column=column):
                wanted.append((variable, column))
            case Attribute(column=column):
                fixed += _width(table, column)
            case _:
                fixed += _VALUE
    for variable, column in wanted:
        component = components[variable]
        names = [one.name for one in event_fields(component).values()] if column is None else [column]
        width = sum(_width(table, name) for name in names)
        if component.is_array:
            fixed, element = fixed + _VALUE, element + width
        else:
            fixed += width
    return Cost(fixed, element)


def _width(table: pa.Table, name: str) -> float:
    """The bytes of a column for each row."""
    if name not in table.column_names or not table.num_rows:
        return _VALUE
    column = table.column(name)
    if pa.types.is_primitive(column.type):
        return max(1.0, float(column.type.bit_width) / 8)
    # there may be as many chunks as batches were pushed, and to ask all of them takes longer than to match
    chunks = [column.chunk(k) for k in range(0, column.num_chunks, -(-column.num_chunks // SAMPLE))]
    rows = sum(len(chunk) for chunk in chunks)
    width = sum(chunk.nbytes for chunk in chunks) / rows if rows else float(_VALUE)
    return max(1.0, width)
