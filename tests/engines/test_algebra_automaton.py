"""Expressions of the algebra on the automaton: they give what the interpreter of the definitions gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.algebra import TYPES, events, expressions
from semantics.everywhere import pushed

EVALUATIONS = ("merging", "basic", "backtracking")


def rows(expression: oz.Stream, table: pa.Table, engine: str, **options: Any) -> list[dict[str, Any]]:
    found = oz.match(table, expression, types=TYPES, engine=engine, **options)
    assert found.schema.equals(oz.match(table.slice(0, 0), expression, types=TYPES, engine=engine).schema)
    return list(found.to_pylist())


@given(expressions(), events(least=4))
def test_linear_plus_expressions(expression: oz.Stream, table: pa.Table) -> None:
    assert repr(rows(expression, table, "automaton")) == repr(rows(expression, table, "reference"))


@given(expressions(linear_plus=False), events(least=4))
def test_any_expressions(expression: oz.Stream, table: pa.Table) -> None:
    """What is no linear-plus expression runs by resubscription, over events that last."""
    assert repr(rows(expression, table, "automaton")) == repr(rows(expression, table, "reference"))


@given(expressions(linear_plus=False), events(least=4), st.integers(1, 5))
def test_batches_make_no_difference(expression: oz.Stream, table: pa.Table, size: int) -> None:
    found = pushed(expression, table, size=size, types=TYPES, engine="automaton")
    assert repr(found) == repr(rows(expression, table, "automaton"))


@given(expressions(), events(least=4), st.sampled_from(EVALUATIONS))
def test_evaluations_agree(expression: oz.Stream, table: pa.Table, evaluation: str) -> None:
    found = rows(expression, table, "automaton", tuning={"evaluation": evaluation})
    assert repr(found) == repr(rows(expression, table, "automaton"))
