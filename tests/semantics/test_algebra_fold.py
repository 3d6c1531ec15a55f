"""μ: ;θ again and again, with a step between; x.last is the value before an iteration (Cayuga 2.3, 2.4)."""

from __future__ import annotations

from semantics.algebra import A, B, S, given

X = A.select("x")


def test_all_iterations_from_the_first_on() -> None:
    assert given(X.fold(X), "a1:x=1 a2:x=2 a3:x=3") == ["2 [1, 2]", "3 [1, 3]", "3 [2, 3]"]


def test_what_the_left_operand_gives_is_not_among_them() -> None:
    assert given(X.fold(B.select("x")), "a1:x=1") == []


def test_a_step_ends_what_does_not_satisfy_it() -> None:
    events = "a1:x=1 a2:x=2 a3:x=0 a4:x=5"
    assert given(X.fold(X, step="x > x.last"), events) == ["2 [1, 2]", "5 [3, 4]"]


def test_a_condition_passes_over_what_does_not_satisfy_it() -> None:
    events = "a1:x=1 a2:x=2 a3:x=0 a4:x=5"
    found = given(X.fold(X, where="x > x.last"), events)
    assert found == ["2 [1, 2]", "5 [1, 4]", "5 [2, 4]", "5 [3, 4]"]


def test_the_condition_is_asked_of_the_first_iteration_too() -> None:
    """Figure 5, against the formula of 2.3, which asks it of the left operand."""
    left = A.select("x", "y")
    assert given(left.fold(B.select("x"), where="y = 1"), "a1:x=1,y=2 b2:x=2") == []
    assert given(left.fold(B.select("x"), where="x > x.last"), "a1:x=1,y=2 b2:x=0 b3:x=2") == ["2 2 [1, 3]"]


def test_last_is_there_for_every_attribute_of_the_left_operand() -> None:
    left = A.select("x", "y")
    assert given(left.fold(B.select("x"), where="x > y.last"), "a1:x=9,y=2 b2:x=1 b3:x=3") == ["3 2 [1, 3]"]


def test_what_only_the_left_operand_has_stays() -> None:
    left = A.select("x").extend(first="x")
    assert given(left.fold(A.select("x")), "a1:x=1 a2:x=2") == ["2 1 [1, 2]"]


def test_an_aggregate_by_initialiser_accumulator_and_finaliser() -> None:
    first = X.extend(total="x", n="1")
    both = first.fold(X, step=lambda s: s.extend(total="total.last + x", n="n.last + 1"))
    mean = both.extend(mean="total / n").select("mean")
    assert given(mean, "a1:x=1 a2:x=3 a3:x=8") == ["2.0 [1, 2]", "4.0 [1, 3]", "5.5 [2, 3]"]


def test_a_step_sees_what_it_has_extended_and_last_what_was_before() -> None:
    step = lambda s: s.extend(n="n.last + 1").where("n <= 2 AND n > n.last")  # noqa: E731
    assert given(X.extend(n="0").fold(X, step=step), "a1:x=1 a2:x=2 a3:x=3 a4:x=4")[:2] == [
        "2 1 [1, 2]",
        "3 2 [1, 3]",
    ]


def test_what_a_step_adds_is_dropped() -> None:
    found = given(X.fold(X, step=lambda s: s.extend(d="x - x.last").where("d = 1")), "a1:x=1 a2:x=2 a3:x=9")
    assert found == ["2 [1, 2]"]


def test_a_step_may_select_in_another_order() -> None:
    left = A.select("x", "y")
    found = given(left.fold(B.select("x"), step=lambda s: s.extend(z="1").select("y", "x")), "a1:x=1,y=2 b2:x=3")
    assert found == ["3 2 [1, 2]"]


def test_an_integer_is_a_float_where_the_step_makes_it_one() -> None:
    found = given(X.extend(half="x").fold(X, step=lambda s: s.extend(half="half.last / 2")), "a1:x=4 a2:x=1")
    assert found == ["1 2.0 [1, 2]"]


def test_simultaneous_events_are_ways_apart() -> None:
    found = given(X.fold(X), "a1:x=1 a2:x=2 a2':x=3 a3:x=4")
    assert found == ["2 [1, 2]", "3 [1, 2]", "4 [1, 3]", "4 [2, 3]"]


def test_a_filter_needs_all_simultaneous_events_to_be_passed_over() -> None:
    """Cayuga 3.1: what satisfies θ with one of them does not wait for a later one."""
    assert given(X.fold(X, where="x != 9", step="x > x.last"), "a1:x=1 a2:x=9 a2':x=0 a3:x=5") == ["5 [2, 3]"]


def test_what_follows_a_fold() -> None:
    rise = X.extend(low="x").fold(X, step="x > x.last")
    drop = rise.next(A.select("x").rename(after="x")).where("after < low")
    assert given(drop, "a1:x=2 a2:x=3 a3:x=5 a4:x=1") == ["5 2 1 [1, 4]", "5 3 1 [2, 4]"]


def test_last_behind_a_select_in_a_step() -> None:
    rows = [{"ts": 1, "p": 1, "n": "a"}, {"ts": 2, "p": 2, "n": "a"}]
    rises = S.fold(S, step=lambda s: s.select("p", "n").where("p > p.last"))
    assert given(rises, rows) == ["2 a [1, 2]"]


def test_an_attribute_that_is_called_last() -> None:
    """In backticks it is the attribute; without, it is, too, where nothing else can be meant."""
    plain = A.select("last").prefixed("p")
    assert given(plain.fold(plain, where="p.last > p.last.last"), "a1:last=1 a2:last=0 a3:last=2")[0] == "2 [1, 3]"
    both = A.select("x", "last").rename(p="x", **{"p.last": "last"})
    right = A.select("x").rename(p="x")
    assert given(both.fold(right, where="p > `p.last`"), "a1:x=1,last=5 a2:x=2,last=0 a3:x=6,last=0") == [
        "6 5 [1, 3]",
        "6 0 [2, 3]",
    ]
    assert given(both.where("p.last > 1"), "a1:x=1,last=5") == ["1 5 [1, 1]"]
    renamed = both.rename(q="p.last").fold(right, where="p > p.last")
    assert given(renamed, "a1:x=1,last=5 a2:x=2,last=0") == ["2 5 [1, 2]"]
