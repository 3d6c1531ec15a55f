"""The order of results, compared with Python's own sort."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ouzel.kernels import jit, ordering

both = pytest.mark.parametrize("make", [jit.interpreted, jit.compiled])


@both
@pytest.mark.parametrize("together", [1, 5, 200])
def test_sequences_are_in_order_of_their_last_moment_then_of_their_events(make: Any, together: int) -> None:
    random = np.random.default_rng(together)
    moments = np.arange(60) // 4
    found = random.integers(0, 60, (200, 3))
    found[:, 2] = np.repeat(np.sort(random.integers(0, 60, 200 // together)), together)
    order, spare = np.empty((2, 200), np.int64)
    make(ordering.order_sequences)(found, moments, order, spare)
    assert sorted(order.tolist()) == list(range(200))
    rows = found[order].tolist()
    assert rows == sorted(rows, key=lambda row: (moments[row[-1]], row))


@both
def test_columns_have_the_events_of_each_component_in_order(make: Any) -> None:
    columns = np.zeros((2, 3), np.int64)
    make(ordering.fill_columns)(
        np.array([2, 0, 1]), np.array([[0, 1], [1, 2], [0, 2]]), np.array([7, 8, 9]), columns
    )
    assert columns.tolist() == [[7, 7, 8], [9, 8, 9]]


@both
def test_matches_of_a_group_are_in_order_of_events_length_and_sizes(make: Any) -> None:
    random = np.random.default_rng(5)
    sizes = random.integers(0, 3, (50, 2))
    begins = np.concatenate([[0], np.cumsum(sizes.sum(axis=1))])
    flat = random.integers(0, 3, begins[-1])
    order, edges = np.arange(50), np.array([0, 1, 20, 50])

    def content(match: int) -> tuple[list[int], list[int]]:
        return flat[begins[match] : begins[match + 1]].tolist(), sizes[match].tolist()

    make(ordering.order_groups)(order, np.empty(50, np.int64), edges, flat, begins, sizes)
    for low, high in pairwise(edges):
        assert [content(match) for match in order[low:high]] == sorted(map(content, range(low, high)))
