"""Expressions of the algebra on the automaton: they give what the interpreter of the definitions gives."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.physical.automaton import memory
from ouzel.physical.automaton.registers import FIXED
from ouzel.physical.automaton.row_plan import RowPlan
from ouzel.physical.compiled import kernel, share
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.testing.algebra import TYPES, events, expressions
from semantics.everywhere import pushed

LASTING = ("start", "end")
EVALUATIONS = ("merging", "basic", "backtracking")


def rows(expression: oz.Stream, table: pa.Table, engine: str, **options: Any) -> list[dict[str, Any]]:
    options = {"types": TYPES, "engine": engine, **options}
    found = oz.match(table, expression, **options)
    assert found.schema.equals(oz.match(table.slice(0, 0), expression, **options).schema)
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


@given(expressions(linear_plus=False), events(least=4, lasting=True), st.integers(1, 5))
def test_events_that_last(expression: oz.Stream, table: pa.Table, size: int) -> None:
    # what is called as a column of the result cannot be an attribute of it
    expected = rows(expression, table, "reference", time=LASTING)
    assert repr(rows(expression, table, "automaton", time=LASTING)) == repr(expected)
    found = pushed(expression, table, size=size, types=TYPES, engine="automaton", time=LASTING)
    assert repr(found) == repr(expected)


@given(expressions(), events(least=4), st.integers(1, 5))
def test_what_is_forgotten_makes_no_difference(expression: oz.Stream, table: pa.Table, size: int) -> None:
    with patch.object(memory, "SPARE", 0):
        found = pushed(expression, table, size=size, restored=False, types=TYPES, engine="automaton")
    assert repr(found) == repr(rows(expression, table, "automaton"))


@given(expressions(), events(least=4))
def test_threads_make_no_difference(expression: oz.Stream, table: pa.Table) -> None:
    expected = rows(expression, table, "automaton", threads=1)
    with patch.object(share, "PARALLEL_FROM", 0):
        assert repr(rows(expression, table, "automaton", threads=3)) == repr(expected)


@settings(max_examples=3)
@given(expressions(), events(least=4))
def test_compiled(expression: oz.Stream, table: pa.Table) -> None:
    expected = rows(expression, table, "reference")
    with patch.object(kernel, "COMPILE_FROM", 0):
        assert repr(rows(expression, table, "automaton")) == repr(expected)


# ---- what automata are made of ---------------------------------------------------------------------------

QUOTES = pa.table(
    {
        "ts": [1, 2, 3, 4, 4, 5, 6, 7],
        "name": ["a", "b", "a", None, "a", "b", "a", None],
        "price": [1, 5, 2, 9, 3, 4, 1, 8],
    }
)
S = oz.stream()


def plan_of(expression: oz.Stream, table: pa.Table = QUOTES) -> RowPlan:
    (plan,) = compile_query(expression.text, ingest(table, Reading(), Report())[0].schema, {}, "automaton").plans
    assert isinstance(plan.physical, RowPlan)
    return plan.physical


def agree(expression: oz.Stream, table: pa.Table = QUOTES) -> pa.Table:
    found, expected = (oz.match(table, expression, engine=engine) for engine in ("automaton", "reference"))
    assert found.equals(expected)
    assert pushed(expression, table, size=2, engine="automaton") == expected.to_pylist()
    return found


RISES = S.extend(n="1").fold(
    S, where="name = name.last", step=lambda s: s.where("price > price.last").extend(n="n.last + 1")
)


def test_a_key_that_every_condition_wants_partitions_the_stream() -> None:
    renamed = S.rename(firm="name", last="price")
    for expression in (
        RISES,
        S.next(renamed, where="firm = name"),
        S.next(renamed, where="name = firm AND last > price").next(S.prefixed("t"), where="t.name = firm"),
        S.union(S.where("price > 2")).next(renamed, where="name = firm"),
    ):
        assert [test.attribute for test in plan_of(expression).automaton.partition] == ["name"]
        assert not any(
            "name" in condition.conjunct.text
            for move in plan_of(expression).automaton.moves
            for condition in move.guard.conditions
        )
        assert agree(expression).num_rows


def test_where_a_condition_lets_other_keys_in_the_stream_is_one() -> None:
    renamed = S.rename(firm="name", last="price")
    for expression in (
        S.next(renamed, where="firm = name OR last > 8"),
        S.next(renamed).where("firm = name"),
        S.next(renamed, where="firm = name").next(S.prefixed("t"), where="t.price > price"),
    ):
        assert not plan_of(expression).automaton.partition
        agree(expression)


def test_an_event_without_a_key_may_be_a_result_alone() -> None:
    both = S.union(
        S.next(S, where="name = 'a'").next(S.prefixed("t"), where="t.name = name").select("name", "price")
    )
    assert not plan_of(both).automaton.partition
    assert None in agree(both)["name"].to_pylist()


def test_conditions_on_single_events_are_bits_of_masks() -> None:
    expression = S.where("price > 2").next(S.where("price < 5"), where="price != 3").where("price > 3")
    plan = plan_of(expression)
    assert {conjunct.text.split(".")[1] for conjunct in plan.query.conjuncts} == {
        "price > 2",
        "price < 5",
        "price != 3",
        "price > 3",
    }
    assert not plan.operands.columns
    agree(expression)


def test_more_conditions_on_single_events_than_there_are_bits() -> None:
    expression = S.where("price > 0")
    for number in range(40):
        step = S.where(f"price > {-number}").rename(**{f"p{number}": "price", f"n{number}": "name"})
        expression = expression.union(S.next(step, where=f"n{number} = name").select("name", "price"))
    assert len(plan_of(expression).query.components) <= 62
    agree(expression)
    wide = S.where("price > 0")
    for number in range(70):
        wide = wide.union(S.where(f"price = {number}"))
    assert len(plan_of(wide).query.components) == 1
    agree(wide)


def test_registers_that_are_not_alive_together_share_columns() -> None:
    expression = S.select("price").rename(p0="price")
    for number in range(3):
        further = S.select("price").rename(**{f"p{number + 1}": "price"})
        expression = expression.next(further, where=f"p{number + 1} > p{number}").select(f"p{number + 1}")
    slots = plan_of(expression).slots
    # a price with whether it is null, its event, and the event at the start
    assert len(slots.integers) > 6
    assert slots.widths == (FIXED + 4, 1)
    assert agree(expression).num_rows


def test_attributes_keep_their_types() -> None:
    values = {
        "i": pa.array([1, 2, None], pa.int8()),
        "u": pa.array([1, 2**64 - 1, None], pa.uint64()),
        "f": pa.array([0.5, float("nan"), None], pa.float32()),
        "d": pa.array([Decimal("1.50"), Decimal("2.25"), None], pa.decimal128(30, 2)),
        "t": pa.array([1, 2, None], pa.timestamp("us", "UTC")),
        "l": pa.array([[1], [], None], pa.list_(pa.int32())),
        "s": pa.array([{"a": 1}, {"a": None}, None], pa.struct({"a": pa.int64()})),
        "c": pa.array(["a", "b", None]).dictionary_encode(),
        "b": pa.array([b"a", b"b", None]),
        "o": pa.array([True, False, None]),
    }
    table = pa.table({"ts": [1, 2, 3], **values})
    expression = S.select("i", "u", "f", "d").next(S.select("t", "l", "s", "c", "b", "o"))
    found, expected = (oz.match(table, expression, engine=engine) for engine in ("automaton", "reference"))
    assert found.schema == expected.schema
    assert [field.type for field in found.schema][:-2] == [one.type for one in values.values()]
    assert repr(found.to_pylist()) == repr(expected.to_pylist())


def test_equal_results_are_one() -> None:
    table = pa.table({"ts": [1, 1, 2, 2, 2], "x": [1.0, 1.0, None, float("nan"), float("nan")]})
    found = oz.match(table, S.next(S.rename(y="x")), engine="automaton")
    assert repr(found["y"].to_pylist()) == "[nan, None]"


def test_texts_that_are_computed_go_on_in_the_next_batch() -> None:
    longest = S.extend(seen="name").fold(
        S, step=lambda s: s.extend(seen="CASE WHEN price > 3 THEN upper(name) ELSE seen.last END")
    )
    with patch.object(memory, "SPARE", 0):
        agree(longest.where("seen = 'B' OR seen IS NULL"))


@pytest.mark.parametrize("name", ["first", "last"])
def test_averages_by_initialiser_accumulator_and_finaliser(name: str) -> None:
    total = S.extend(total="price", n="1").fold(
        S, where="name = name.last", step=lambda s: s.extend(total="total.last + price", n="n.last + 1")
    )
    found = agree(total.extend(**{name: "total / n"}).select("name", name).where(f"{name} > 1"))
    assert {"name": "a", name: 2.0, "start": 1, "end": 4} in found.to_pylist()


# ---- how long runs are of use ----------------------------------------------------------------------------

BOUNDED = {
    "what follows": lambda s: s.next(s.rename(q="p"), where="q > 10 AND duration() <= 200"),
    "iterations": lambda s: s.extend(q="p").fold(s.rename(q="p"), where="q > 10 AND 200 >= duration()"),
    "a step": lambda s: s.fold(s, where="p > 10", step="duration() < 200"),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_a_bound_on_the_duration_lets_runs_go(name: str) -> None:
    schema = pa.schema({"ts": "int64", "p": "int64"})
    matcher = oz.matcher(BOUNDED[name](oz.stream()), schema, engine="automaton")
    with patch.object(memory, "SPARE", 64):
        for batch in range(20):
            times = range(batch * 100_000, (batch + 1) * 100_000, 500)
            matcher.push(pa.table({"ts": times, "p": [1] * len(times)}, schema))
    assert matcher.open_runs < 100


def test_what_lasts_longer_is_no_result_but_alone() -> None:
    table = pa.table({"start": [1, 2, 9], "end": [9, 3, 12], "p": [1, 2, 3]})
    s = oz.stream()
    pairs = s.next(s.rename(q="p"), where="duration() <= 4")
    for expression in (pairs, s.extend(q="p").union(pairs.select("p", "q"))):
        found = oz.match(table, expression, engine="automaton", time=LASTING)
        assert found.equals(oz.match(table, expression, engine="reference", time=LASTING))
