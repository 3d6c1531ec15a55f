"""What runs compute of decimals and unsigned integers, and beside them: what the interpreter has."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
from engines.test_algebra_automaton import plan_of
from ouzel.physical.compiled import kernel
from semantics.everywhere import pushed

S = oz.stream()
EVALUATIONS = ("merging", "basic", "backtracking")
AMOUNTS = [*map(Decimal, ("-2.00", "1.00", "2.00", "2.05", "9999999999999999.99")), None]
NUMBERS: dict[str, tuple[list[Any], pa.DataType]] = {
    "i": ([-(2**63), -2, 1, 2, 3, 2**63 - 1, None], pa.int64()),
    "u": ([0, 1, 2, 3, 2**63 - 1, 2**63, 2**64 - 1, None], pa.uint64()),
    "d": (AMOUNTS, pa.decimal128(18, 2)),
    "e": (AMOUNTS, pa.decimal128(18, 2)),
    "w": ([*map(Decimal, ("1.00", "3.00", "123456789012345678901234.56")), None], pa.decimal128(30, 2)),
    "v": ([*map(Decimal, ("1.0000", "2.0500", "12345678901234567890.1234")), None], pa.decimal128(30, 4)),
    "f": ([-2.0, 1.0, 2.05, 1e16, 2.0**63, None], pa.float64()),
}


def table(seed: int, count: int = 9) -> pa.Table:
    chance = random.Random(seed)
    columns = {
        name: pa.array([chance.choice(values) for _ in range(count)], arrow)
        for name, (values, arrow) in NUMBERS.items()
    }
    return pa.table({"ts": sorted(chance.randrange(12) for _ in range(count)), **columns})


def agree(expression: oz.Stream, tables: int = 6) -> int:
    """How many rows it gives, on the automaton as on the reference, however it is evaluated and cut."""
    found = 0
    for seed in range(tables):
        events = table(seed)
        expected = oz.match(events, expression, engine="reference")
        for evaluation in EVALUATIONS:
            assert oz.match(events, expression, engine="automaton", tuning={"evaluation": evaluation}).equals(
                expected
            )
        assert pushed(expression, events, size=4, engine="automaton") == expected.to_pylist()
        found += expected.num_rows
    return found


COUNTED = S.extend(n="1")


@pytest.mark.parametrize(
    "condition",
    [
        "n.last < u",
        "u != n.last",
        "n.last <= w",
        "w > n.last",
        "n.last = d",
        "d >= n.last",
        "n.last IN (u, 5)",
        "n.last < f",
    ],
)
def test_integers_that_are_computed_beside_other_numbers(condition: str) -> None:
    assert agree(COUNTED.fold(S, step=lambda s: s.extend(n="n.last + 1").where(condition)), 4)


U, D = S.select("u", "i", "f", "w"), S.select("d", "e", "u", "w", "v", "f", "i")
UNSIGNED = {
    "before": "u.last",
    "the larger": "greatest(held.last, u)",
    "the least": "least(held.last, u)",
    "the first that is there": "coalesce(held.last, u)",
    "a choice": "CASE WHEN u > held.last THEN u WHEN i = 1 THEN NULL ELSE held.last END",
    "a choice of choices": "CASE WHEN i > 0 THEN greatest(u, held.last) ELSE least(u.last, held.last) END",
}


@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_integers_are_held(name: str) -> None:
    made = U.extend(held="u").fold(U, step=lambda s: s.extend(held=UNSIGNED[name]))
    assert agree(made, 4)
    assert agree(made.where("held >= 2").select("held"), 2)


@pytest.mark.parametrize("name", ["before", "last"])
def test_decimals_are_held(name: str) -> None:
    value = {"before": "d.last", "last": "held.last"}[name]
    made = D.extend(held="e").fold(D, step=lambda s: s.extend(held=value))
    assert agree(made, 4)
    assert agree(made.where("held >= 2").select("held"), 2)


@pytest.mark.parametrize("of", ["u", "d"])
@pytest.mark.parametrize(
    "condition",
    [
        "held.last < {0}",
        "{0} != held.last",
        "held.last = i",
        "held.last >= 2",
        "held.last > 1.05",
        "held.last <= w",
        "v > held.last",
        "held.last < u",
        "held.last < f",
        "held.last IS NULL",
        "held.last IN ({0}, 2)",
        "held.last + 1 > 2",
        "held.last / 2 < f",
        "abs(held.last) = held.last",
        "coalesce(held.last, {0}) = {0}",
    ],
)
def test_conditions_on_what_is_held(of: str, condition: str) -> None:
    made = D.extend(held=of).fold(D, step=lambda s: s.extend(held=f"{of}.last").where(condition.format(of)))
    assert agree(made.select("held", of), 3)


def test_what_follows_reads_what_is_held() -> None:
    held = D.extend(held="e", more="u").fold(D, step=lambda s: s.extend(held="d.last", more="u.last"))
    pairs = held.next(S.select("d", "u").prefixed("t"), where="t.d >= held AND t.u > more")
    made = pairs.extend(larger="greatest(more, t.u)", doubled="2 * held").select("held", "larger", "doubled")
    assert agree(made)


def test_compiled() -> None:
    step = {"n": "n.last + 1", "more": UNSIGNED["a choice of choices"].replace("held", "more"), "held": "d.last"}
    asked = "held.last IS NULL OR held.last > 1.05 OR held.last <= w OR n.last < u OR more.last != u"
    sums = "more.last + 1 > i OR more.last / 2 < 5"
    made = D.extend(held="e", more="u", n="1").fold(D, where=f"{asked} OR {sums}", step=lambda s: s.extend(**step))
    assert not plan_of(made, table(0)).operands.calls
    agree(made)
    with patch.object(kernel, "COMPILE_FROM", 0):
        found = oz.match(table(0), made, engine="automaton")
    assert found.num_rows
    assert found.equals(oz.match(table(0), made, engine="reference"))


@pytest.mark.parametrize(
    "arrow",
    [
        pa.decimal32(7, 2),
        pa.decimal64(16, 2),
        pa.decimal128(18, 18),
        pa.decimal256(18, 0),
        pa.dictionary(pa.int32(), pa.decimal128(10, 2)),
        pa.dictionary(pa.int8(), pa.uint64()),
    ],
)
def test_types_that_are_stored_otherwise(arrow: pa.DataType) -> None:
    value_type = arrow.value_type if pa.types.is_dictionary(arrow) else arrow
    unit = 2**63 if pa.types.is_uint64(value_type) else Decimal(1).scaleb(-value_type.scale)
    column = pa.array([unit, 0 * unit, None, 5 * unit if unit != 2**63 else 5], value_type)
    column = column.dictionary_encode().cast(arrow) if pa.types.is_dictionary(arrow) else column
    events = pa.table({"ts": [1, 2, 3, 4], "x": column})
    before = S.extend(held="x").fold(S, step=lambda s: s.extend(held="x.last"))
    found, expected = (oz.match(events, before, engine=engine) for engine in ("automaton", "reference"))
    assert found.schema.field("held").type == arrow
    assert (found.schema, found.to_pylist()) == (expected.schema, expected.to_pylist())


@pytest.mark.parametrize("name", ["w", "l"])
def test_what_no_integer_stands_for_is_left_to_the_interpreter(name: str) -> None:
    events = table(0).append_column("l", pa.array([[1]] * 9))
    before = S.select(name).extend(held=name).fold(S.select(name), step=lambda s: s.extend(held=f"{name}.last"))
    with pytest.raises(oz.OuzelError, match=r"it computes held, .*, which no register holds"):
        oz.match(events, before, engine="automaton")
    assert oz.match(events, before).num_rows
