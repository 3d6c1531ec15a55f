"""Events that may still be corrected: what is looked for among them is found, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from engines.splits import ingested
from ouzel.physical.event_table import EventTable
from ouzel.runtimes.sought import Sought
from ouzel.runtimes.tail import Tail


def numbered(times: list[int]) -> EventTable:
    return ingested([{"ts": ts, "type": "A", "k": 0, "x": ts} for ts in times])


def test_what_is_gone_takes_little_room() -> None:
    tail = Tail(numbered([0]).none())
    for begin in range(0, 2_000, 100):
        tail.add(numbered(list(range(begin, begin + 100))))
        places, _events = tail.at(np.arange(begin, begin + 99))
        tail.remove(places)
    assert len(tail) == 20
    assert tail.size <= 40
    tail.remove(tail.every()[0])
    assert (len(tail), tail.size) == (0, 0)


def test_what_is_forgotten_is_not_there_though_it_is_held() -> None:
    tail = Tail(numbered([0]).none())
    tail.add(numbered([1, 2, 3, 4, 5]))
    tail.forget(2)
    assert tail.size == 5
    assert (len(tail), tail.every()[1].end_times.tolist()) == (4, [2, 3, 4, 5])
    assert tail.at(np.array([1, 2]))[1].end_times.tolist() == [2]
    assert tail.between(0, 4).end_times.tolist() == [2, 3]
    assert tail.count(0, None) == 4
    assert Tail(tail.none).time_before(6, 4) is None
    assert [tail.time_before(6, count) for count in (4, 5)] == [2, None]
    tail.forget(5)
    assert (len(tail), tail.size) == (1, 1)


@pytest.mark.parametrize("some", [[], [3], [3, 3 + 2**16], [-1, 5, 2**40 + 5], [0]], ids=str)
def test_numbers_are_told_apart_that_end_with_the_same_bits(some: list[int]) -> None:
    numbers = np.array([3, 3 + 2**16, 3 + 2**17, -1, 2**16 - 1, 5, 2**40 + 5, 0, -(2**16)], np.int64)
    found = Sought(np.array(some, np.int64)).among(numbers)
    assert found.tolist() == [place for place, number in enumerate(numbers.tolist()) if number in some]


def test_events_are_found_by_time_and_by_number_and_those_that_are_gone_are_not() -> None:
    tail = Tail(ingested([{"ts": 0, "type": "A", "k": 0, "x": 0}]).none())
    batches = [[(5, 1), (2, 7), (3, 1)], [(4, 7), (2, 1)], [(6, 7)], [(1, 7), (6, 1)], [(6, 2)]]
    kept = [(ts, k) for batch in batches for ts, k in sorted(batch)]
    for batch in batches:
        tail.add(ingested([{"ts": ts, "type": "A", "k": k, "x": ts} for ts, k in batch]))
    for gone in ((2, 1), (6, 7)):
        places, events = tail.at(np.array([gone[0]]))
        keys = events.table["k"].to_pylist()
        tail.remove(places[[keys.index(gone[1])]])
        kept.remove(gone)
    for since, until, numbers in ((1, None, [1, 7]), (2, 6, [1, 3]), (5, None, [0, 7]), (1, 4, [7])):
        found = tail.chosen(since, until, "k", np.array(numbers), frozenset({"ts", "k"}))
        assert found.table.column_names == ["ts", "type", "k"] or not len(found)
        expected = [one for one in kept if one[0] >= since and one[1] in numbers and one[0] < (until or 9)]
        told = list(zip(found.table["ts"].to_pylist(), found.table["k"].to_pylist(), strict=True))
        assert told == sorted(expected, key=lambda one: one[0])
