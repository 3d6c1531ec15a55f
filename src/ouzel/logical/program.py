"""Stage 2, several queries: a file is a small graph, in which `RETURN … INTO T` feeds whoever mentions T."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import pyarrow as pa

from ouzel.errors import QueryError
from ouzel.language import tree
from ouzel.logical.output import output_type
from ouzel.logical.parameters import check_used
from ouzel.logical.query import BoundQuery, bind
from ouzel.logical.schema import Column, EventType, Schema
from ouzel.logical.values import Kind, from_arrow


def bind_program(
    written: Sequence[tree.Query], source: str, schema: Schema, parameters: Mapping[str, Any] | None
) -> Iterator[BoundQuery]:
    """Bind the queries of a file one by one, in an order in which each comes after those that feed it."""
    names = _names(written, source)
    producers = _producers(written, source, schema)
    for index in _order(written, producers, source):
        query = bind(written[index], source, schema, parameters, names[index])
        yield query
        if query.into is not None:
            schema = schema.with_type(composite_type(query))
    check_used(written, source, parameters or {})  # last: a name without a value says better what was misspelt


def _names(written: Sequence[tree.Query], source: str) -> list[str]:
    """The queries' names; those without one are called query1, query2, … by their place."""
    names: dict[str, None] = {}
    for index, query in enumerate(written):
        name = query.name.text if query.name else f"query{index + 1}"
        if name in names:
            raise QueryError(
                f"two queries are called '{name}'",
                source,
                (query.name or query).span,
                required="a name of its own for every query",
            )
        names[name] = None
    return list(names)


def _producers(written: Sequence[tree.Query], source: str, schema: Schema) -> dict[str, int]:
    """Which query makes which type."""
    producers: dict[str, int] = {}
    for index, query in enumerate(written):
        if query.into is None:
            continue
        name = query.into
        if name.text in producers or name.text in schema.types:
            other = "another query's INTO" if name.text in producers else "a type of the input"
            raise QueryError(
                f"INTO '{name.text}', which is {other} already",
                source,
                name.span,
                required="a new type",
                hint="choose another name",
            )
        producers[name.text] = index
    return producers


def _order(written: Sequence[tree.Query], producers: Mapping[str, int], source: str) -> list[int]:
    needs = {
        index: {producers[name] for name in _mentioned(query.pattern) if name in producers}
        for index, query in enumerate(written)
    }
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        types = {index: name for name, index in producers.items()}
        path = [types[index] for index in reversed(error.args[1])]
        first = written[producers[path[0]]]
        raise QueryError(
            f"queries that feed each other: {' → '.join(path)}",
            source,
            (first.into or first).span,
            required="a graph without cycles",
            hint="a query cannot read what is made from its own matches",
        ) from None


def _mentioned(pattern: tree.Pattern) -> set[str]:
    match pattern:
        case tree.Component():
            return {name.text for name in pattern.types}
        case tree.Negation():
            return _mentioned(pattern.item)
    return {name for item in pattern.items for name in _mentioned(item)}


def composite_type(query: BoundQuery) -> EventType:
    """The type of a query's matches as events: RETURN's columns are its attributes.

    They share the columns of other types' attributes of the same name and type, so that ANY can be of both.
    """
    assert query.into is not None
    if any(column.expression.type.kind is Kind.UNKNOWN for column in query.output):
        return EventType(query.into, None, composite=True)
    components = {component.variable: component for component in query.components}
    attributes: dict[str, Column] = {}
    for column in query.output:
        arrow = output_type(column.expression, components, query.schema.time)
        shared = _column_of_others(query.schema, column.name, arrow)
        attributes[column.name] = Column(shared or f"{query.into}.{column.name}", arrow, from_arrow(arrow))
    return EventType(query.into, attributes, composite=True)


def _column_of_others(schema: Schema, attribute: str, arrow: pa.DataType) -> str | None:
    """The column that holds an attribute of some type in the same form, if there is one."""
    for event_type in (*schema.types.values(), schema.default):
        column = (event_type.attributes or {}).get(attribute) if event_type else None
        if column is not None and column.arrow == arrow and not column.unreadable:
            return column.name
    return None
