"""Rows as numbers: two rows have the same one exactly if they are equal in every column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ouzel.runtimes.row_numbers import row_numbers

HUGE = [2**64 - 1, 2**63, 2**63 - 1, 0]
FAR = [-(2**63), 2**63 - 1, 0, 1]
NEAR = [2**62, 2**62 + 1, 2**62 + 7, 2**62 + 2**30]


VALUES: dict[str, pa.Array] = {
    "near": pa.array(NEAR),
    "far": pa.array(FAR),
    "huge": pa.array(HUGE, pa.uint64()),
    "gaps": pa.array([*NEAR[:2], None]),
    "text": pa.array(["a", "b", None]),
    "days": pa.array([0, 1, 30_000], pa.int32()).cast(pa.date32()),
    "times": pa.array([0, 1, 2**40], pa.int64()).cast(pa.timestamp("us", "Asia/Tokyo")),
    "pairs": pa.array([{"x": 1, "y": None}, {"x": None, "y": 1}, None]),
}
KINDS = [
    ["near"] * 5,
    ["far", "near", "far"],
    ["huge", "near", "huge"],
    ["near", "text", "gaps", "near", "near"],
    ["days", "times", "pairs"],
]


@pytest.mark.parametrize("kinds", KINDS, ids=str)
def test_rows_have_the_same_number_exactly_if_they_are_equal(kinds: list[str]) -> None:
    rng = np.random.default_rng(len(kinds))
    columns = [VALUES[kind].take(pa.array(rng.integers(0, len(VALUES[kind]), 300))) for kind in kinds]
    numbers = row_numbers(pa.table(columns, names=[str(k) for k in range(len(kinds))])).tolist()
    rows = list(map(repr, zip(*(column.to_pylist() for column in columns), strict=True)))
    assert len(set(zip(rows, numbers, strict=True))) == len(set(rows)) == len(set(numbers))
    assert max(numbers) < len(rows)


def test_of_no_rows_there_are_no_numbers() -> None:
    assert not len(row_numbers(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})))
