"""duration() is end - start + 1 in ticks: of the event at hand, in the right operand of that alone (Cayuga 2)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from semantics.algebra import A, B, given

AB = A.select("x").next(B.select("y"))
EVENTS = "a1:x=1 b4:y=2"


def test_an_instantaneous_event_lasts_one_tick() -> None:
    assert given(A.extend(d="duration()").select("d"), "a1:x=1") == ["1 [1, 1]"]


def test_a_composite_event_lasts_from_first_to_last() -> None:
    assert given(AB.extend(d="duration()").select("d"), EVENTS) == ["4 [1, 4]"]


def test_in_the_condition_of_next_it_is_that_of_both() -> None:
    assert given(A.select("x").next(B.select("y"), where="duration() > 4"), "a1:x=1 b4:y=2 b5:y=3") == [
        "1 3 [1, 5]"
    ]


def test_in_the_right_operand_it_is_that_of_the_event_alone() -> None:
    assert given(A.select("x").next(B.where("duration() = 1").select("y")), EVENTS) == ["1 2 [1, 4]"]
    assert given(A.select("x").next(B.where("duration() > 1").select("y")), EVENTS) == []


def test_in_the_right_operand_that_is_composite() -> None:
    both = A.select("x").next(B.select("y").next(B.select("y").rename(z="y")).where("duration() = 3"))
    assert given(both, "a1:x=1 b2:y=1 b3:y=2 b5:y=3") == ["1 2 3 [1, 5]"]


def test_in_a_step_it_is_that_of_the_iteration() -> None:
    found = given(A.select("x").fold(A.select("x"), step="duration() <= 3"), "a1:x=1 a2:x=2 a3:x=3 a4:x=4")
    assert found == ["2 [1, 2]", "3 [1, 3]", "3 [2, 3]", "4 [2, 4]", "4 [3, 4]"]


@pytest.mark.parametrize("length", ["2 seconds", "2001"])
def test_compared_with_a_length_of_time(length: str) -> None:
    events = [{"ts": 0, "type": "A"}, {"ts": 2000, "type": "B"}]
    assert len(given(A.next(B).where(f"duration() >= {length}"), events)) == 1


def test_of_timestamps_it_counts_their_unit() -> None:
    times = [datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 10)]
    events = pa.table({"ts": pa.array(times, pa.timestamp("s")), "type": ["A", "B"]})
    for condition, count in (("duration() > 10 minutes", 1), ("duration() > 601", 0), ("duration() >= 601", 1)):
        assert len(given(A.next(B).where(condition), events)) == count


@pytest.mark.parametrize("value", ["3 seconds", timedelta(seconds=3), 3000])
def test_a_parameter_is_a_length(value: object) -> None:
    events = [
        {"ts": 0, "type": "A"},
        {"ts": 2999, "type": "B"},
        {"ts": 3000, "type": "A"},
        {"ts": 6000, "type": "B"},
    ]
    assert given(A.next(B).where("duration() <= $d"), events, params={"d": value}) == ["[0, 2999]"]


def test_of_events_that_came_with_an_interval() -> None:
    events = [{"type": "A", "start": 1, "end": 4}]
    assert given(A.extend(d="duration()"), events, time=("start", "end")) == ["4 [1, 4]"]
