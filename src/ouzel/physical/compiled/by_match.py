"""Expressions of RETURN that no kernel can say: computed match by match, of values as Python has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ouzel.errors import FunctionError
from ouzel.logical.aggregates import aggregate
from ouzel.logical.expressions import (
    Aggregate,
    Apply,
    Attribute,
    Constant,
    Element,
    Expression,
    Length,
    Moment,
    references,
)
from ouzel.logical.times import told_event
from ouzel.logical.values import Kind
from ouzel.physical.event_table import EventTable
from ouzel.physical.match_table import Many, MatchTable
from ouzel.physical.meaning import python_values

ByMatch = Callable[[int], Any]


def by_match(expression: Expression, matches: MatchTable, events: EventTable) -> list[Any]:
    """The value of an expression for every match."""
    value = _Computed(matches, events).of(expression)
    return [value(match) for match in range(len(matches))]


class _Computed:
    """Expressions as functions of the number of a match; columns are converted once."""

    def __init__(self, matches: MatchTable, events: EventTable) -> None:
        self.matches, self.events = matches, events
        self._columns: dict[str, list[Any]] = {}

    def of(self, expression: Expression) -> ByMatch:
        match expression:
            case Apply():
                return self._applied(expression)
            case Constant(value):
                return lambda _match: value
            case Attribute(variable, element, column=column):
                values = self._column(column)
                return self._read(variable, element, values.__getitem__)
            case Moment(which, variable, element):
                times = self.events.start_times if which == "start" else self.events.end_times
                return self._read(variable, element, lambda row: int(times[row]))
            case Length(variable):
                return lambda match: len(self._rows(variable, match) or ())
            case Aggregate():
                return self._aggregated(expression)
        raise AssertionError(f"{type(expression).__name__} is no value of one match")

    def _applied(self, expression: Apply) -> ByMatch:
        function, arguments = expression.function, [self.of(argument) for argument in expression.arguments]

        def apply(match: int) -> Any:
            values = [argument(match) for argument in arguments]
            try:
                return function(*values)
            except FunctionError as error:
                raise error.about(self._told(expression, match, error.time)) from error.__cause__

        return apply

    def _aggregated(self, node: Aggregate) -> ByMatch:
        """As in SQL: nulls do not count, and of nothing it is null, but for count."""
        column = None if node.column is None else self._column(node.column)
        real = node.input_type is not None and node.input_type.kind is Kind.FLOAT

        def total(match: int) -> Any:
            rows = self._rows(node.variable, match)
            if rows is None:
                return None
            if column is None:
                return len(rows)
            values = [column[row] for row in rows]
            if real:
                values = [None if value is None else float(value) for value in values]
            if node.function in ("first", "last"):
                return None if not values else values[0 if node.function == "first" else -1]
            return aggregate(node.function, [value for value in values if value is not None])

        return total

    # ---- events ------------------------------------------------------------------------------------------

    def _column(self, name: str) -> list[Any]:
        if name not in self._columns:
            self._columns[name] = python_values(self.events.table.column(name))
        return self._columns[name]

    def _rows(self, variable: str, match: int) -> list[int] | None:
        """The rows of the events that a variable is bound to; None if it belongs to what was not chosen."""
        one = self.matches.bound[variable]
        if isinstance(one, Many):
            begin, end = one.offsets[match : match + 2]
            return None if one.unbound[match] else one.rows[begin:end].tolist()
        row = int(one.rows[match])
        return [] if row < 0 else [row]

    def _row(self, variable: str, element: Element, match: int) -> int | None:
        rows = self._rows(variable, match)
        return None if not rows else rows[-1 if element is Element.LAST else 0]

    def _read(self, variable: str, element: Element, value: Callable[[int], Any]) -> ByMatch:
        def read(match: int) -> Any:
            row = self._row(variable, element, match)
            return None if row is None else value(row)

        return read

    def _told(self, expression: Expression, match: int, time: Any) -> str:
        """The events that an expression is about, in words."""
        nodes = [node for node in references(expression) if isinstance(node, Attribute | Moment)]
        rows = {node.variable: self._row(node.variable, node.element, match) for node in nodes}
        names, codes, times = self.events.types.names, self.events.types.codes, self.events.end_times
        return "; ".join(
            told_event(variable, names[codes[row]], int(times[row]), time)
            for variable, row in rows.items()
            if row is not None
        )
