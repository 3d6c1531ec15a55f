"""Where the values of a result come from: a column that shows an attribute gets back the dtype of its column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ouzel.logical.algebra.shown import shown_column
from ouzel.logical.expressions import Attribute, Events, Moment
from ouzel.logical.match_aggregates import EDGES
from ouzel.logical.output import event_fields
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery


@dataclass(frozen=True)
class Origin:
    """The column of events whose values these are, or those of a whole event by field; perhaps lists of them."""

    column: str | None = None
    fields: Mapping[str, str] | None = None
    is_list: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of events that are in it."""
        return tuple((self.fields or {}).values()) if self.column is None else (self.column,)


Origins = Mapping[str, Origin]
"""By column of the result; what is computed is not in it."""


def origins_of(query: BoundQuery) -> Origins:
    """The origins of the columns of a query's result."""
    time, start = Origin(query.schema.time.name), Origin(query.schema.time.start or query.schema.time.name)
    if query.aggregates:
        return dict.fromkeys(EDGES if query.every else (), time)
    if query.algebra is not None:
        shown = {one.name: shown_column(query.algebra, one.name) for one in query.algebra.attributes}
        return {name: Origin(column) for name, column in shown.items() if column} | {"start": start, "end": time}
    if query.automaton is not None:
        return dict.fromkeys(query.row_times, time)
    components = {component.variable: component for component in query.components}
    if not query.output:
        found = {"start": start, "end": time}
        return found | {name: _events(one, None) for name, one in components.items() if not one.negative}
    found = {}
    for column in query.output:
        match column.expression:
            case Attribute(column=name):
                found[column.name] = Origin(name)
            case Events(variable=variable, column=name):
                found[column.name] = _events(components[variable], name)
            case Moment():
                found[column.name] = time
    return found


def _events(component: Component, column: str | None) -> Origin:
    if column is not None:
        return Origin(column, is_list=component.is_array)
    fields = {name: held.name for name, held in event_fields(component).items()}
    return Origin(fields=fields, is_list=component.is_array)
