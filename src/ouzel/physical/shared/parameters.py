"""Values of parameters as columns, one value for each query of a set; and whether they can be had as such."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.kernels import shared_tests as kernel
from ouzel.logical.expressions import Constant, Expression, walk
from ouzel.logical.members import Members
from ouzel.logical.parameters import names_in
from ouzel.logical.query import BoundQuery
from ouzel.logical.values import Kind, from_arrow
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.outline import Outline
from ouzel.physical.shared.questions import EXACT, Test, Values

_NUMBERS = (Kind.INTEGER, Kind.UNSIGNED, Kind.FLOAT, Kind.DECIMAL)


def values_of(members: Members, rows: pa.Table) -> Values:
    """The values of all parameters, for the queries of some rows."""
    return Values(rows.num_rows, {name: _column(rows.column(name)) for name in members.parameters})


def values_of_row(members: Members, row: Mapping[str, Any]) -> Values:
    """The same for one query, whose values are at hand."""
    return Values(1, {name: [row[name]] for name in members.parameters})


def _column(column: pa.ChunkedArray) -> Any:
    kind = from_arrow(column.type).kind
    if kind is Kind.FLOAT:
        return np.asarray(column.cast(pa.float64()).fill_null(float("nan")))
    if kind is Kind.INTEGER and not column.null_count:
        return np.asarray(column.cast(pa.int64()))
    return column.to_pylist()


def check_parameters(query: BoundQuery, outline: Outline) -> None:
    """Refuse a set whose parameters are not all constants of tests, each of a kind that the test takes."""
    members = query.members
    assert members is not None
    assert members.rows is not None
    own = set(members.parameters)
    written = [name for name in names_in(members.written.template) if name in own]
    if len(written) != sum(_count(one, own) for one in _expressions(members.template)):
        raise UnsuitableError("a parameter is more than a constant in a comparison")
    for end in outline.ends.values():
        if end is not None and any(_count(value, own) for value in end.attributes.values()):
            raise UnsuitableError("a parameter is in the result")
    if any(_count(column.expression, own) for column in members.template.output):
        raise UnsuitableError("a parameter is in the result")
    for test in outline.tests:
        for constant in test.constants:
            if constant.parameter in own:
                _check(test, members.rows.column(constant.parameter), constant.parameter)


def _check(test: Test, values: pa.ChunkedArray, name: str) -> None:
    kind = from_arrow(values.type).kind
    if test.kind == kernel.RANGE:
        assert test.of is not None
        wanted: tuple[Kind, ...] = _NUMBERS
        if test.of.kind in (Kind.STRING, Kind.BOOLEAN):
            wanted = (test.of.kind,)
    elif test.kind == kernel.LASTS:
        wanted = (Kind.INTEGER,)
    else:
        wanted = (Kind.INTEGER, Kind.FLOAT)
    if kind not in wanted:
        raise UnsuitableError(f"values of '{name}' are of type {values.type}")
    if test.kind == kernel.COMPUTED and kind is Kind.INTEGER and len(values):
        ends = pc.min_max(values).as_py()
        if max(abs(ends["min"] or 0), abs(ends["max"] or 0)) > EXACT:
            raise UnsuitableError(f"values of '{name}' are too large for arithmetic with doubles")


def _count(expression: Expression, names: set[str]) -> int:
    return sum(isinstance(node, Constant) and node.parameter in names for node in walk(expression))


def _expressions(query: BoundQuery) -> list[Expression]:
    """All expressions of a query as it was bound."""
    if query.algebra is not None:
        return _of_stream(query.algebra)
    found = [literal for one in query.conjuncts for literal in one.literals]
    found += [test.constant for test in query.equivalences if test.constant is not None]
    return found + [column.expression for column in query.output]


def _of_stream(stream: Any) -> list[Expression]:
    found: list[Expression] = []
    for name, value in vars(stream).items():
        if name in ("of", "left", "right", "step"):
            found += _of_stream(value)
        elif name in ("condition", "where") and value is not None:
            found.append(value)
        elif name == "values":
            found += [one for _name, one in value]
    return found
