"""What Spark can drop before anything crosses to Python: columns, types, and events that no component wants."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Constant, Expression
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED, NESTED
from ouzel.logical.values import Kind
from ouzel.runtimes.spark.columns import type_column
from ouzel.runtimes.spark.malformed import Required
from ouzel.runtimes.spark.sql import VARIABLE, Sql
from ouzel.runtimes.spark.task import Task

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_SIGNS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
Field = Callable[[str], Any]
"""Makes a field of Arrow's, or of SQL."""
Queries = Sequence[BoundQuery]
_PLAIN = (Kind.INTEGER, Kind.STRING, Kind.BOOLEAN)


def wanted_by_spark(queries: Queries, task: Task, schema: StructType) -> str | None:
    """A condition in SQL for the primitive events that some query wants; None if all are needed.

    Malformed events pass too: they are an error, or they are counted.
    """
    odd = compared_otherwise(schema)
    if type_column(task) in odd or any(VARIABLE in name for name in task.schema.names):
        return None
    condition: Sql | None = _wanted(queries, task, Sql.field, odd)
    return None if condition is None else condition.text


def wanted_by_arrow(queries: Queries, task: Task) -> Any:
    """The same condition as an Arrow expression."""
    return _wanted(queries, task, pc.field)


def compared_otherwise(schema: StructType) -> frozenset[str]:
    """The columns whose texts Spark compares in a way of its own: by a collation, or padded as a CHAR is."""
    from pyspark.sql.types import StringType

    return frozenset(
        field.name
        for field in schema.fields
        if isinstance(field.dataType, StringType)
        and (field.dataType != StringType() or any("CHAR_VARCHAR" in key for key in field.metadata or ()))
    )


def types_wanted_by_arrow(queries: Queries, task: Task) -> Any:
    """The part of it that looks at types alone, as an Arrow expression; None if there is none."""
    types, readers = type_column(task), _readers(queries)
    if types is None or minds_all(queries):
        return None
    names = {name for query in readers for component in query.components for name in component.type_names}
    if INFERRED in names:
        return None  # a stream of all events
    condition = pc.field(types).isin(sorted(names))
    declared = task.reading.types
    return condition if declared is None else condition | ~pc.field(types).isin(sorted(declared))


def minds_all(queries: Queries) -> bool:
    """Whether primitive events matter that no component wants; of a set, its template knows the window."""
    shown = (query if query.members is None else query.members.template for query in _readers(queries))
    return any(query.minds_all_events for query in shown)


def described(queries: Queries) -> list[str]:
    """The conditions that Spark's scan checks, in words."""
    if minds_all(queries):
        return []
    each = [(query, component) for query in _readers(queries) for component in query.components]
    found = [c.text for query, component in each for c in _conditions(component, query, frozenset())]
    return list(dict.fromkeys(found))


def _readers(queries: Queries) -> list[BoundQuery]:
    """Those that read primitive events."""
    return [query for query in queries if query.reads_primitive]


def _wanted(queries: Queries, task: Task, field: Field, odd: frozenset[str] = frozenset()) -> Any:
    if minds_all(queries):
        return None
    types = type_column(task)
    each = [(query, component) for query in _readers(queries) for component in query.components]
    tests = [(component, _tests_of(component, query, field, odd)) for query, component in each]
    if types is None and not all(own for _component, own in tests):
        return None
    conditions = []
    for component, own in tests:
        if own:
            names = sorted(component.type_names)
            of_type = [] if types is None or INFERRED in names else [field(types).isin(names)]
            conditions.append(_balanced(and_, [*of_type, *own]))
    free = sorted({name for component, own in tests if not own for name in component.type_names})
    if INFERRED in free:
        return None
    if types is not None and free:
        conditions.append(field(types).isin(free))
    return _balanced(or_, [*conditions, Required.of(task).broken(field)])


def _balanced(sign: Callable[[Any, Any], Any], conditions: Sequence[Any]) -> Any:
    """All of them, nested no deeper than need be: those of hundreds of queries are still read."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return sign(_balanced(sign, conditions[:half]), _balanced(sign, conditions[half:]))


def _tests_of(component: Component, query: BoundQuery, field: Field, odd: frozenset[str]) -> list[Any]:
    """What is asked of every event of a component, besides its type."""
    return [
        _balanced(or_, [_comparison(literal, field) for literal in conjunct.literals])
        for conjunct in _conditions(component, query, odd)
    ]


def _conditions(component: Component, query: BoundQuery, odd: frozenset[str]) -> list[Conjunct]:
    """The conditions on a component's events that Spark can check; what only composite events have, it has not."""
    if any(event_type.composite for event_type in component.types):
        return []
    return [conjunct for conjunct in query.conditions_on(component) if _can(conjunct, odd)]


def _can(conjunct: Conjunct, odd: frozenset[str]) -> bool:
    attributes = [one for one in conjunct.references if isinstance(one, Attribute)]
    if any(one.missing_in or one.column in odd for one in attributes):
        return False
    return all(_is_comparison(literal) for literal in conjunct.literals)


def _is_comparison(literal: Expression) -> bool:
    """A comparison of an attribute with a constant of the same kind: what is beyond doubt the same in Spark."""
    if not isinstance(literal, Apply):
        return False
    if any(isinstance(one, Attribute) and NESTED in one.column for one in literal.arguments):
        return False
    if literal.function.name == "is null":
        return isinstance(literal.arguments[0], Attribute)
    if literal.function.name not in _SIGNS:
        return False
    left, right = literal.arguments
    if not isinstance(left, Attribute) or not isinstance(right, Constant) or right.value is None:
        return False
    # no floats: to Spark NaN is equal to itself and larger than everything
    return left.type.kind is right.type.kind and left.type.kind in _PLAIN


def _comparison(literal: Expression, field: Field) -> Any:
    assert isinstance(literal, Apply)
    left = literal.arguments[0]
    assert isinstance(left, Attribute)
    column = field(left.column)
    if literal.function.name == "is null":
        return column.is_null()
    right = literal.arguments[1]
    assert isinstance(right, Constant)
    return getattr(operator, _SIGNS[literal.function.name])(column, right.value)
