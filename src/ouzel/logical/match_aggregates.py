"""Stage 2: RETURN under OUTPUT AGGREGATE, each item of which is an aggregate over all matches of a partition."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pyarrow as pa

from ouzel.errors import Span
from ouzel.language import tree
from ouzel.language.tree import Index
from ouzel.logical.bind_reference import OVER_MATCHES, ReferenceBinder
from ouzel.logical.functions import AGGREGATES, COUNT_MATCHES
from ouzel.logical.output import column_type
from ouzel.logical.pattern import Component
from ouzel.logical.values import Kind, ValueType

EDGES = ("window_start", "window_end")
"""The columns that EVERY adds to a result: the first time of a window, and that of the next."""

_FORMS = "count(*), or count, sum, avg, min or max of one attribute of a variable"


@dataclass(frozen=True)
class MatchAggregate:
    """A function of what `column` holds for the events bound to `variable`, once for each match that binds them.

    Without a column it counts the events, without a variable the matches; `type` is that of the result.
    """

    name: str
    function: str
    variable: str | None
    column: str | None
    type: pa.DataType


@dataclass
class MatchAggregateBinder(ReferenceBinder):
    """Binds the items of RETURN under OUTPUT AGGREGATE."""

    def bind(self, written: tree.Query, keys: Collection[str]) -> tuple[MatchAggregate, ...]:
        """All items; `keys` are the attributes of equivalence tests, which are columns of the result, too."""
        self._check_clauses(written)
        taken = dict.fromkeys(keys, "partitions") | dict.fromkeys(EDGES if written.every else (), "windows")
        bound: dict[str, MatchAggregate] = {}
        for item in written.items:
            one = self._item(item)
            if one.name in bound or one.name in taken:
                self.fail(
                    f"two columns of RETURN are called '{one.name}'",
                    (item.name or item).span,
                    required="a name of its own for every column",
                    hint=f"the '{one.name}' of the {taken[one.name]} is a column, too: choose another name"
                    if one.name in taken
                    else "name it with AS",
                )
            bound[one.name] = one
        for key in keys:
            if written.every and key in EDGES:
                self.fail(
                    f"partitions by '{key}' with EVERY",
                    written.every.span,
                    required="partitions by attributes that are not called as the columns of windows: "
                    + ", ".join(EDGES),
                    hint="rename the column, or leave out EVERY",
                )
        return tuple(bound.values())

    def _check_clauses(self, written: tree.Query) -> None:
        assert written.aggregate is not None
        if not written.items:
            self.fail(
                "OUTPUT AGGREGATE without RETURN",
                written.aggregate,
                required="RETURN with aggregates over matches",
                hint="for example RETURN count(*) OUTPUT AGGREGATE",
            )
        if written.into is not None:
            self.fail(
                f"INTO '{written.into.text}' with OUTPUT AGGREGATE",
                written.into.span,
                required="RETURN without INTO",
                hint="events are made of single matches: leave out INTO, or OUTPUT AGGREGATE",
            )

    def _item(self, item: tree.Item) -> MatchAggregate:
        written = item.expression
        name = item.name.text if item.name else item.text
        if isinstance(written, tree.Call) and written.function == COUNT_MATCHES:
            return MatchAggregate(name, "count", None, None, pa.float64())
        if not isinstance(written, tree.Call) or written.function not in OVER_MATCHES:
            self.fail(
                f"'{item.text}' is no aggregate over matches",
                written.span,
                required=_FORMS,
                hint=_hint(written, item.text),
            )
        function = written.function
        component, argument = self.aggregated(written, f"{function}(a.attribute)", "a variable")
        if component.is_array and argument.index not in (Index.NONE, Index.ALL):
            self.fail(
                f"{function} of '{component.variable}{argument.index.value}' with OUTPUT AGGREGATE",
                argument.span,
                required=f"all events of the closure: {function}({component.variable}[].attribute)",
            )
        self.check_index(component, argument)
        if argument.attribute is None:
            self.check_counted(function, argument.span, f"{function}(a.attribute)")
            return MatchAggregate(name, function, component.variable, None, pa.float64())
        column, _missing = self.column(component, argument.attribute)
        result = self._type(function, component, column.name, column.type, written.span)
        return MatchAggregate(name, function, component.variable, column.name, result)

    def _type(
        self, function: str, component: Component, column: str, value_type: ValueType, span: Span
    ) -> pa.DataType:
        """Counts and sums are floats, since there may be more matches than 64 bits can count."""
        self.aggregate_type(function, value_type, span)
        if function not in ("min", "max"):
            return pa.float64()
        if value_type.kind is Kind.STRING:
            self.fail(
                f"type clash in '{function}'",
                span,
                required=f"with OUTPUT AGGREGATE, {function} takes numbers and times; got {value_type}",
            )
        return column_type(component, column)


def _hint(written: tree.Expression | tree.Every, text: str) -> str | None:
    """What may have been meant by an item that is no aggregate."""
    if isinstance(written, tree.Call) and written.function in ("stddev", tree.COUNT_DISTINCT):
        return f"of each match it is RETURN {text}, without OUTPUT AGGREGATE"
    if isinstance(written, tree.Reference) and written.attribute is not None:
        return f"WHERE [{written.attribute.written}] makes a row for each value of it, and a column for the values"
    if isinstance(written, tree.Call) and written.function not in AGGREGATES:
        return "return the aggregates alone, and compute with the columns of the result"
    return None
