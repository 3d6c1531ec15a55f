"""What runs compute of decimals and unsigned integers, and beside them: what the interpreter has."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import ouzel as oz
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
    with patch.object(kernel, "COMPILE_FROM", 0):
        assert oz.match(events, expression, engine="automaton").equals(expected)
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
    assert agree(COUNTED.fold(S, step=lambda s: s.extend(n="n.last + 1").where(condition)))
