"""The columns that queries need: all others can be left where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ouzel.logical.algebra.streams import bases
from ouzel.logical.automata.registers import EVENT
from ouzel.logical.expressions import Aggregate, Attribute, Events, Expression, references
from ouzel.logical.output import event_fields
from ouzel.logical.query import BoundQuery


def needed_columns(queries: Iterable[BoundQuery]) -> frozenset[str]:
    """The columns of events that conditions, partitions or results are made of."""
    return frozenset(name for query in queries for name in _of_query(query))


def returned_columns(query: BoundQuery) -> frozenset[str]:
    """The columns of events that its results are made of."""
    return frozenset(_of_results(query))


def _of_query(query: BoundQuery) -> Iterator[str]:
    if query.members is not None:
        yield from _of_query(query.members.template)
    yield from _of_results(query)
    yield from _of_expressions(query, [literal for one in query.conjuncts for literal in one.literals])
    yield from _of_partitions(query)
    if query.automaton is not None:
        for arc in query.automaton.arcs:
            literals = [literal for one in arc.fence for literal in one.literals]
            yield from _of_event([*literals, *(value for _name, value in arc.sets)])


def _of_event(expressions: list[Expression]) -> Iterator[str]:
    """The columns of the event that fences and transfers read."""
    nodes = (node for expression in expressions for node in references(expression))
    yield from (node.column for node in nodes if isinstance(node, Attribute) and node.variable == EVENT)


def _of_results(query: BoundQuery) -> Iterator[str]:
    if query.algebra is not None:
        yield from (column.name for base in bases(query.algebra) for column in base.columns)
        return
    if query.automaton is not None:
        return
    whole = [] if query.output or query.aggregates else [c for c in query.components if not c.negative]
    for component in whole:
        yield from (column.name for column in event_fields(component).values())
    yield from _of_expressions(query, [column.expression for column in query.output])
    yield from (item.column for item in query.aggregates if item.column is not None)
    if query.aggregates:
        yield from _of_partitions(query)


def _of_expressions(query: BoundQuery, expressions: list[Expression]) -> Iterator[str]:
    for node in (node for expression in expressions for node in references(expression)):
        if isinstance(node, Events) and node.column is None:
            fields = event_fields(query.component(node.variable))
            yield from (column.name for column in fields.values())
        elif isinstance(node, Attribute | Events | Aggregate) and node.column is not None:
            yield node.column


def _of_partitions(query: BoundQuery) -> Iterator[str]:
    for test in query.equivalences:
        # events of types that the pattern does not mention are in partitions, too
        names = {name for component in query.components for name in component.type_names} | set(query.schema.types)
        yield from (column for name in sorted(names) if (column := test.column(name)) is not None)
