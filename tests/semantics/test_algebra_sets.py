"""Streams are sets: equal events are one, and results have an order that does not depend on arrival."""

from __future__ import annotations

from semantics.algebra import A, B, S, given


def test_equal_events_are_one() -> None:
    assert given(A.select("x"), "a1:x=1 a1':x=1 a1'':x=2 a2:x=1") == ["1 [1, 1]", "2 [1, 1]", "1 [2, 2]"]


def test_null_equals_null() -> None:
    assert given(A.select("x"), "a1:x=null a1':x=null a2:x=1") == ["- [1, 1]", "1 [2, 2]"]


def test_what_is_no_number_equals_itself() -> None:
    events = [{"ts": 1, "type": "A", "x": float("nan")}, {"ts": 1, "type": "A", "x": float("nan")}]
    assert given(A.select("x"), [*events, {"ts": 1, "type": "A", "x": 0.5}]) == ["0.5 [1, 1]", "nan [1, 1]"]


def test_events_of_two_types_may_be_equal() -> None:
    assert given(S.select("x"), "a1:x=1 b1:x=1") == ["1 [1, 1]"]


def test_two_ways_to_one_event() -> None:
    assert given(A.select("x").next(B.select("y")).select("x"), "a1:x=1 b2:y=1 b2':y=2") == ["1 [1, 2]"]


def test_the_interval_tells_events_apart() -> None:
    assert given(A.next(B).extend(c="0").select("c"), "a1 a2 b3") == ["0 [1, 3]", "0 [2, 3]"]


def test_results_come_by_end_then_start_then_values() -> None:
    found = given(A.select("x").next(B.select("y")), "a1:x=2 a1':x=1 a2:x=9 b3:y=null b3':y=7")
    assert found == ["1 7 [1, 3]", "1 - [1, 3]", "2 7 [1, 3]", "2 - [1, 3]", "9 7 [2, 3]", "9 - [2, 3]"]
