"""Numbers for keys, positions within partitions, and matches that stand apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ouzel.kernels import jit, numbering

both = pytest.mark.parametrize("make", [jit.interpreted, jit.compiled])


@both
def test_keys_are_numbered_as_they_appear_and_known_ones_again(make: Any) -> None:
    random = np.random.default_rng(3)
    keys = random.integers(-(2**63), 2**63 - 1, 40)[random.integers(0, 40, 100)]
    first: dict[int, int] = {}
    expected = [first.setdefault(key, len(first)) for key in keys.tolist()]
    values, slots, numbers = np.empty(64, np.int64), np.full(64, -1, np.int32), np.empty(100, np.int64)
    number = make(numbering.number_keys)
    count = number(keys[:30], values, 0, slots, numbers[:30])
    count = number(keys[30:], values, count, slots, numbers[30:])
    assert (count, numbers.tolist()) == (len(first), expected)
    assert values[:count].tolist() == list(first)


@both
def test_places_in_order_keep_equal_numbers_as_they_come(make: Any) -> None:
    numbers = np.random.default_rng(4).integers(-3, 9, 200)
    edges, places = np.zeros(9 + 3 + 2, np.int64), np.empty(200, np.int64)
    make(numbering.order_by_number)(numbers, -3, edges, places)
    assert places.tolist() == np.argsort(numbers, kind="stable").tolist()


@both
def test_numbers_are_told_by_the_flags_of_their_last_bits(make: Any) -> None:
    numbers = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 300)
    flags, places = np.arange(16) % 5 == 0, np.empty(300, np.int64)
    count = make(numbering.flagged)(numbers, flags, places)
    assert places[:count].tolist() == np.flatnonzero(flags[numbers & 15]).tolist()


@both
def test_events_of_one_moment_have_one_position(make: Any) -> None:
    moments = np.array([1, 1, 2, 2, 2, 3])
    parts = np.array([0, 0, 1, 0, -1, 0])
    seen, over, latest = np.array([10, 3]), np.array([9, 2]), np.array([0, 2])
    positions = np.full(6, 99)
    make(numbering.number_positions)(moments, parts, seen, over, latest, positions)
    assert positions.tolist() == [10, 10, 2, 12, 0, 13]
    assert (seen.tolist(), over.tolist(), latest.tolist()) == ([14, 4], [13, 2], [3, 2])


@both
def test_a_match_is_kept_if_it_starts_after_the_last_one_of_its_partition(make: Any) -> None:
    parts, until = np.array([0, 0, 1, 0]), np.array([4, -(2**63)])
    starts, ends = np.array([4, 5, 1, 7]), np.array([6, 7, 9, 8])
    keep = make(numbering.mark_apart)(np.array([0, 1, 2, 3]), parts, until, starts, ends)
    assert keep.tolist() == [False, True, True, False]
    assert until.tolist() == [7, 9]


@both
@pytest.mark.parametrize(
    ("counted", "well"),
    [
        ([(2, 20), (7, 60), (4, 40)], True),
        ([(0, 10), (2, 30), (6, 50)], True),
        ([], True),
        ([(3, 30)], False),  # taken
        ([(2, 20), (2, 20)], False),  # twice
        ([(4, 55)], False),  # later than the next
        ([(4, 29)], False),  # earlier than the one before
        ([(7, 60), (6, 61)], False),
    ],
)
def test_numbers_that_are_taken_or_contradict_times(make: Any, counted: list[tuple[int, int]], well: bool) -> None:
    # one partition with the moments 1, 3 and 5, at ten times that
    known, before, tails = np.array([1, 3, 5]), np.array([-1, 0, 1]), np.array([2])
    numbers, times = np.ascontiguousarray(np.array(counted, np.int64).reshape(-1, 2).T)
    order, parts = np.argsort(-numbers, kind="stable"), np.zeros(len(numbers), np.int64)
    found = make(numbering.are_well_counted)(order, parts, numbers, times, tails, known, 10 * known, before)
    assert found == well
