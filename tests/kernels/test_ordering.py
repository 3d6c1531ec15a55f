"""The order of results, compared with Python's own sort."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ouzel.kernels import jit, ordering

both = pytest.mark.parametrize("make", [jit.interpreted, jit.compiled])


@both
def test_values_are_gathered_by_row(make: Any) -> None:
    out = np.zeros(3, np.float64)
    make(ordering.gather)(np.array([0.5, 1.5, 2.5]), np.array([2, 0, 2], np.int32), out)
    assert out.tolist() == [2.5, 0.5, 2.5]


@both
def test_matches_of_a_group_are_in_order_of_start_events_length_and_sizes(make: Any) -> None:
    random = np.random.default_rng(5)
    sizes = random.integers(0, 3, (50, 2))
    begins = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    flat = random.integers(0, 3, begins[-1])
    starts = random.integers(0, 2, 50)
    order, edges = np.arange(50), np.array([0, 1, 20, 50])

    def content(match: int) -> tuple[int, list[int], list[int]]:
        return starts[match], flat[begins[match] : begins[match + 1]].tolist(), sizes[match].tolist()

    make(ordering.order_groups)(order, np.empty(50, np.int64), edges, starts, flat, begins, sizes)
    for low, high in pairwise(edges):
        assert [content(match) for match in order[low:high]] == sorted(map(content, range(low, high)))
