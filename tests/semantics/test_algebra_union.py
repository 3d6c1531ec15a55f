"""∪: the events of both streams, which have the same attributes, perhaps in another order (Cayuga 2.2)."""

from __future__ import annotations

from semantics.algebra import A, B, C, given


def test_the_events_of_both() -> None:
    assert given(A.select("x").union(B.select("x")), "a1:x=1 b2:x=2 c3:x=3") == ["1 [1, 1]", "2 [2, 2]"]


def test_equal_ones_are_one() -> None:
    assert given(A.select("x").union(A.where("x > 0").select("x")), "a1:x=1") == ["1 [1, 1]"]


def test_the_order_of_attributes_is_that_of_the_left() -> None:
    assert given(A.select("x", "y").union(B.select("y", "x")), "a1:x=1,y=2 b2:x=3,y=4") == [
        "1 2 [1, 1]",
        "3 4 [2, 2]",
    ]


def test_integers_and_floats_are_floats() -> None:
    assert given(A.select("x").union(B.extend(x="x / 2").select("x")), "a1:x=1 b2:x=1") == [
        "1.0 [1, 1]",
        "0.5 [2, 2]",
    ]


def test_null_is_of_any_type() -> None:
    assert given(A.select("x").union(B.extend(x="NULL").select("x")), "a1:x=1 b2:x=1") == ["1 [1, 1]", "- [2, 2]"]


def test_a_union_of_sequences() -> None:
    x, y = A.select("x"), B.select("y")
    both = x.next(y).union(y.next(x).select("x", "y"))
    assert given(both, "a1:x=1 b2:y=2 a3:x=3") == ["1 2 [1, 2]", "3 2 [2, 3]"]


def test_a_union_on_the_right() -> None:
    both = A.select("x").next(B.select("y").union(C.select("y")))
    assert given(both, "a1:x=1 c2:y=2 b3:y=3 a4:x=4 b5:y=5") == ["1 2 [1, 2]", "4 5 [4, 5]"]
