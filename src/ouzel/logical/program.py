"""Stage 2, several queries: a program is a small graph, in which `INTO T` feeds whoever mentions T."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import pyarrow as pa

from ouzel.errors import QueryError
from ouzel.language import algebra_tree as algebra
from ouzel.language import automaton_tree, tree
from ouzel.language.document import Written
from ouzel.language.set_tree import QuerySet
from ouzel.logical.algebra.bind_query import bind_algebra
from ouzel.logical.algebra.resubscribe import Parts
from ouzel.logical.algebra.streams import bases
from ouzel.logical.automata.bind_automaton import bind_automaton
from ouzel.logical.bind_set import bind_set
from ouzel.logical.output import output_type
from ouzel.logical.parameters import check_used
from ouzel.logical.query import BoundQuery, bind
from ouzel.logical.schema import Column, EventType, Schema
from ouzel.logical.values import Kind, from_arrow


def bind_program(
    written: Sequence[Written], source: str, schema: Schema, parameters: Mapping[str, Any] | None
) -> Iterator[BoundQuery]:
    """Bind the queries of a program one by one, in an order in which each comes after those that feed it."""
    names = names_of(written)
    queries = _with_parts(written, names)
    producers = _producers(queries, schema)
    for name in _order(queries, producers):
        query = _bind(queries[name], schema, parameters, name, hidden=name not in names)
        yield query
        if query.into is not None:
            schema = schema.with_type(composite_type(query))
    check_used(written, source, parameters or {})  # last: a name without a value says better what was misspelt


def _bind(
    written: Written, schema: Schema, parameters: Mapping[str, Any] | None, name: str, *, hidden: bool
) -> BoundQuery:
    if isinstance(written, QuerySet):
        return bind_set(written, schema, parameters, name)
    if isinstance(written, algebra.Query):
        return bind_algebra(written, schema, parameters, name, hidden=hidden)
    if isinstance(written, automaton_tree.Query):
        return bind_automaton(written, schema, parameters, name)
    return bind(written, written.source, schema, parameters, name)


def names_of(written: Sequence[Written]) -> tuple[str, ...]:
    """The queries' names; those without one are called query1, query2, … by their place."""
    names: dict[str, None] = {}
    for index, query in enumerate(written):
        name = query.name.text if query.name else f"query{index + 1}"
        if name in names:
            span = query.name.span if query.name and query.span else query.span
            required = "a name of its own for every query"
            raise QueryError(f"two queries are called '{name}'", query.source, span, required=required)
        names[name] = None
    return tuple(names)


def _with_parts(written: Sequence[Written], names: Sequence[str]) -> dict[str, Written]:
    """The queries by name, and those that right operands become."""
    taken = {*names, *(query.into.text for query in written if query.into)}
    queries: dict[str, Written] = {}
    for name, query in zip(names, written, strict=True):
        queries |= Parts(name, taken).cut(query) if isinstance(query, algebra.Query) else {name: query}
    return queries


def _producers(queries: Mapping[str, Written], schema: Schema) -> dict[str, str]:
    """Which query makes which type."""
    producers: dict[str, str] = {}
    for name, query in queries.items():
        if query.into is None:
            continue
        made = query.into.text
        if made in producers or made in schema.types:
            other = "another query's INTO" if made in producers else "a type of the input"
            raise QueryError(
                f"INTO '{made}', which is {other} already",
                query.source,
                query.into.span if query.span else None,
                required="a new type",
                hint="choose another name",
            )
        producers[made] = name
    return producers


def _order(queries: Mapping[str, Written], producers: Mapping[str, str]) -> list[str]:
    needs = {
        name: {producers[made] for made in _mentioned(query) if made in producers}
        for name, query in queries.items()
    }
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        types = {name: made for made, name in producers.items()}
        path = [types[name] for name in reversed(error.args[1])]
        first = queries[producers[path[0]]]
        raise QueryError(
            f"queries that feed each other: {' → '.join(path)}",
            first.source,
            first.into.span if first.into and first.span else first.span,
            required="a graph without cycles",
            hint="a query cannot read what is made from its own matches",
        ) from None


def _mentioned(query: Written) -> set[str]:
    """The types that a query names."""
    if isinstance(query, QuerySet):
        return _mentioned(query.template)
    if isinstance(query, algebra.Query):
        return {name for name in algebra.types(query.stream) if name is not None}
    if isinstance(query, automaton_tree.Query):
        return set(query.automaton.events)
    return _named_in(query.pattern)


def _named_in(pattern: tree.Pattern) -> set[str]:
    match pattern:
        case tree.Component():
            return {name.text for name in pattern.types}
        case tree.Negation():
            return _named_in(pattern.item)
    return {name for item in pattern.items for name in _named_in(item)}


def composite_type(query: BoundQuery) -> EventType:
    """The type of a query's matches as events: RETURN's columns are its attributes, or those of the expression.

    They share the columns of other types' attributes of the same name and type, so that ANY can be of both.
    """
    assert query.into is not None
    columns = _attributes(query)
    if columns is None:
        return EventType(query.into, None, composite=True)
    attributes: dict[str, Column] = {}
    for name, arrow in columns.items():
        shared = _column_of_others(query.schema, name, arrow)
        attributes[name] = Column(shared or f"{query.into}.{name}", arrow, from_arrow(arrow))
    return EventType(query.into, attributes, composite=True)


def _attributes(query: BoundQuery) -> dict[str, pa.DataType] | None:
    """The attributes of a query's matches, None if they are not known yet."""
    members = query.members
    if members is not None:
        own = _attributes(members.template)
        return None if own is None or members.rows is None else {members.id: members.id_type, **own}
    if query.algebra is not None:
        types = [one for base in bases(query.algebra) for one in base.types]
        is_known = all(one.attributes is not None for one in types)
        is_typed = all(one.type.kind is not Kind.UNKNOWN for one in query.algebra.attributes)
        return {one.name: one.arrow for one in query.algebra.attributes} if is_known and is_typed else None
    if query.automaton is not None:
        return {one.name: one.arrow for one in query.automaton.attributes}
    if any(column.expression.type.kind is Kind.UNKNOWN for column in query.output):
        return None
    components = {component.variable: component for component in query.components}
    return {one.name: output_type(one.expression, components, query.schema.time) for one in query.output}


def _column_of_others(schema: Schema, attribute: str, arrow: pa.DataType) -> str | None:
    """The column that holds an attribute of some type in the same form, if there is one."""
    for event_type in (*schema.types.values(), schema.default):
        column = (event_type.attributes or {}).get(attribute) if event_type else None
        if column is not None and column.arrow == arrow and not column.unreadable:
            return column.name
    return None
