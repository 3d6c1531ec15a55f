"""S1 ;θ S2: each event on the left with the first on the right that starts after it and satisfies θ (2.2)."""

from __future__ import annotations

from semantics.algebra import A, B, S, given

LEFT, RIGHT = A.select("x"), B.select("y")


def test_the_first_event_after_it() -> None:
    assert given(LEFT.next(RIGHT), "b0:y=0 a1:x=1 b2:y=2 b3:y=3") == ["1 2 [1, 2]"]


def test_every_event_on_the_left_has_its_own() -> None:
    assert given(LEFT.next(RIGHT), "a1:x=1 a2:x=2 b3:y=3") == ["1 3 [1, 3]", "2 3 [2, 3]"]


def test_all_that_end_first_together() -> None:
    assert given(LEFT.next(RIGHT), "a1:x=1 b2:y=2 b2':y=3 b3:y=4") == ["1 2 [1, 2]", "1 3 [1, 2]"]


def test_simultaneous_events_do_not_follow_each_other() -> None:
    assert given(LEFT.next(RIGHT), "a1:x=1 b1:y=2") == []


def test_a_condition_passes_over_events() -> None:
    assert given(LEFT.next(RIGHT, where="y > x"), "a1:x=1 b2:y=0 b3:y=null b4:y=5 b5:y=6") == ["1 5 [1, 4]"]


def test_a_condition_behind_it_does_not() -> None:
    assert given(LEFT.next(RIGHT).where("y > x"), "a1:x=1 b2:y=0 b4:y=5") == []


def test_of_simultaneous_events_only_those_that_satisfy_the_condition() -> None:
    assert given(LEFT.next(RIGHT, where="y > x"), "a1:x=1 b2:y=0 b2':y=3 b2'':y=2") == ["1 2 [1, 2]", "1 3 [1, 2]"]


def test_later_values_overwrite_nulls_too() -> None:
    events = "a1:x=1,y=1 b2:x=null,y=2"
    assert given(A.select("x", "y").next(B.select("y", "x")), events) == ["- 2 [1, 2]"]


def test_what_is_new_on_the_right_comes_last() -> None:
    assert given(A.select("x", "y").next(B.select("z", "y")), "a1:x=1,y=1 b2:y=2,z=3") == ["1 2 3 [1, 2]"]


def test_an_overwritten_attribute_may_be_of_another_type() -> None:
    events = {"A": [{"ts": 1, "x": 1}], "B": [{"ts": 2, "x": "one"}]}
    assert given(A.next(B, where="x LIKE 'o%'"), events) == ["one [1, 2]"]


def test_three_in_a_row() -> None:
    three = LEFT.next(RIGHT).next(A.select("x").rename(z="x"), where="z > x")
    assert given(three, "a1:x=1 b2:y=2 a3:x=0 a4:x=5") == ["1 2 5 [1, 4]"]


def test_events_with_an_interval() -> None:
    """Figure 1: e2 overlaps e1, and e4 ends before e3 and e5."""
    rows = [("A", 1, 3), ("B", 2, 4), ("B", 4, 9), ("B", 5, 7), ("B", 8, 10)]
    events = [{"type": name, "start": s, "end": e, "x": f"e{n}"} for n, (name, s, e) in enumerate(rows, 1)]
    assert given(A.next(B.rename(y="x")), events, time=("start", "end")) == ["e1 e4 [1, 7]"]


def test_what_the_right_operand_overwrites_has_its_type() -> None:
    rows = [{"ts": ts, "name": name, "v": ts} for ts, name in enumerate("abc", 1)]
    later = S.extend(name="1").next(S).where("name != 'b'")
    assert given(later, rows) == ["c 3 [2, 3]"]
