"""Rows as numbers: two rows have the same one exactly if they are equal in every column."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ouzel.runtimes.row_numbers import row_numbers

FAR = [-(2**63), 2**63 - 1, 0, 1]
NEAR = [2**62, 2**62 + 1, 2**62 + 7, 2**62 + 2**30]


@pytest.mark.parametrize("kinds", [["near"] * 5, ["far", "near", "far"], ["near", "text", "gaps", "near", "near"]])
def test_rows_have_the_same_number_exactly_if_they_are_equal(kinds: list[str]) -> None:
    rng = np.random.default_rng(len(kinds))
    gaps, texts = [*NEAR[:2], None], ["a", "b", None]
    values: dict[str, list[int | str | None]] = {"near": [*NEAR], "far": [*FAR], "gaps": [*gaps], "text": [*texts]}
    columns = [[values[kind][k] for k in rng.integers(0, len(values[kind]), 300)] for kind in kinds]
    numbers = row_numbers(pa.table(columns, names=[str(k) for k in range(len(kinds))])).tolist()
    rows = list(zip(*columns, strict=True))
    assert len(set(zip(rows, numbers, strict=True))) == len(set(rows)) == len(set(numbers))
    assert max(numbers) < len(rows)


def test_of_no_rows_there_are_no_numbers() -> None:
    assert not len(row_numbers(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})))
