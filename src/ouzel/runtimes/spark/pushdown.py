"""What Spark can drop before anything crosses to Python: columns, types, and events that no component wants."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache, reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Constant, Expression
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import NESTED
from ouzel.logical.values import Kind
from ouzel.runtimes.spark.columns import backquoted, type_column
from ouzel.runtimes.spark.malformed import Required
from ouzel.runtimes.spark.task import Task

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import StructType

_SIGNS = {"=": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
Field = Callable[[Any], Any]
_PLAIN = (Kind.INTEGER, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN)


class Wanted:
    """Says Spark which events the queries of a program want; what they have in common it is told once.

    Malformed events pass too: they are an error, or they are counted.
    """

    def __init__(self, task: Task, schema: StructType) -> None:
        """Of events with a schema of Spark's."""
        from pyspark.sql import functions as f

        self.task, self.odd = task, compared_otherwise(schema)
        self._terms = _Terms(cache(lambda name: f.col(backquoted(name))), lambda column: column.isNull())

    def by(self, query: BoundQuery) -> Column | None:
        """A condition for the events that some component wants; None if all are needed."""
        if type_column(self.task) in self.odd:
            return None
        condition: Column | None = _wanted(query, self.task, self._terms, self.odd)
        return condition


def compared_otherwise(schema: StructType) -> frozenset[str]:
    """The columns whose texts Spark compares in a way of its own: by a collation, or padded as a CHAR is."""
    from pyspark.sql.types import StringType

    return frozenset(
        field.name
        for field in schema.fields
        if isinstance(field.dataType, StringType)
        and (field.dataType != StringType() or any("CHAR_VARCHAR" in key for key in field.metadata or ()))
    )


def wanted_by_arrow(query: BoundQuery, task: Task) -> Any:
    """The same condition as an Arrow expression."""
    return _wanted(query, task, _Terms(pc.field, lambda column: column.is_null()))


def types_wanted_by_arrow(query: BoundQuery, task: Task) -> Any:
    """The part of it that looks at types alone, as an Arrow expression; None if there is none."""
    types = type_column(task)
    if types is None or query.minds_all_events:
        return None
    names = {name for component in query.components for name in component.type_names}
    condition = pc.field(types).isin(sorted(names))
    declared = task.reading.types
    return condition if declared is None else condition | ~pc.field(types).isin(sorted(declared))


class _Terms:
    """Conditions of Spark's or of Arrow's, each made once."""

    def __init__(self, field: Field, is_null: Field) -> None:
        self.field, self.is_null = field, is_null
        self._made: dict[Any, Any] = {}

    def among(self, column: str, values: frozenset[str]) -> Any:
        return self._once(("among", column, values), lambda: self.field(column).isin(sorted(values)))

    def malformed(self, task: Task) -> Any:
        long_time = pa.types.is_int64(task.schema.field(task.reading.time).type)
        required = Required.by(task.reading, task.schema.names, long_time=long_time)
        return self._once("malformed", lambda: required.broken(self.field, self.is_null))

    def malformed_or_among(self, task: Task, column: str | None, values: frozenset[str]) -> Any:
        if column is None or not values:
            return self.malformed(task)
        key = "malformed or among", values
        return self._once(key, lambda: self.among(column, values) | self.malformed(task))

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


def _wanted(query: BoundQuery, task: Task, terms: _Terms, odd: frozenset[str] = frozenset()) -> Any:
    if query.minds_all_events:
        return None
    types = type_column(task)
    tests = [(one, _tests_of(one, query, terms, odd)) for one in query.components]
    if types is None and not all(own for _component, own in tests):
        return None
    # every term is a dozen calls of Java's: those that many queries have in common are made once
    free = frozenset(name for component, own in tests if not own for name in component.type_names)
    each = [_of_component(component, own, types, terms) for component, own in tests if own]
    return reduce(or_, [*each, terms.malformed_or_among(task, types, free)])


def described(query: BoundQuery) -> list[str]:
    """The conditions that Spark's scan checks, in words."""
    if query.minds_all_events:
        return []
    return [c.text for component in query.components for c in query.conditions_on(component) if _can(c)]


def _tests_of(component: Component, query: BoundQuery, terms: _Terms, odd: frozenset[str]) -> list[Any]:
    """What is asked of every event of a component, besides its type."""
    return [
        reduce(or_, [_comparison(literal, terms.field, terms.is_null) for literal in conjunct.literals])
        for conjunct in query.conditions_on(component)
        if _can(conjunct, odd)
    ]


def _of_component(component: Component, tests: list[Any], types: str | None, terms: _Terms) -> Any:
    if types is None:
        return reduce(and_, tests)
    return reduce(and_, tests, terms.among(types, frozenset(component.type_names)))


def _can(conjunct: Conjunct, odd: frozenset[str] = frozenset()) -> bool:
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
    same = left.type.kind is right.type.kind and left.type.kind in _PLAIN
    # to Spark NaN is equal to itself and larger than everything
    return same and left.type.kind is not Kind.FLOAT


def _comparison(literal: Expression, field: Field, is_null: Field) -> Any:
    assert isinstance(literal, Apply)
    left = literal.arguments[0]
    assert isinstance(left, Attribute)
    column = field(left.column)
    if literal.function.name == "is null":
        return is_null(column)
    right = literal.arguments[1]
    assert isinstance(right, Constant)
    return getattr(operator, _SIGNS[literal.function.name])(column, right.value)
