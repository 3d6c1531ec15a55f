from __future__ import annotations

from semantics.harness import found


def strict(pattern: str, events: str, conditions: str = "") -> list[str]:
    return found(f"PATTERN {pattern} WHERE strict_contiguity {{ {conditions} }}", events)


def test_no_event_may_lie_between() -> None:
    assert strict("SEQ(A a, B b, C c)", "a1 b2 c3") == ["a1 b2 c3"]
    assert strict("SEQ(A a, B b, C c)", "a1 b2 x3 c4") == []
    assert strict("SEQ(A a, B b, C c)", "a1 b2 b3 c4") == []


def test_every_event_may_start_a_run() -> None:
    assert strict("SEQ(A a, B b)", "x1 a2 a3 b4 b5 a6 b7") == ["a3 b4", "a6 b7"]
    assert strict("SEQ(A first, A second)", "a1 a2 a3") == ["a1 a2", "a2 a3"]


def test_an_event_that_fails_a_predicate_breaks_the_run() -> None:
    assert strict("SEQ(A a, B b)", "a1:x=5 b2:x=1 b3:x=9", "b.x > a.x") == []


def test_an_event_of_another_partition_breaks_the_run() -> None:
    assert strict("SEQ(A a, B b)", "a1:id=1 b2:id=2 b3:id=1", "[id]") == []
    assert strict("SEQ(A a, B b)", "a1:id=1 x2:id=null b3:id=1", "[id]") == []
    assert strict("SEQ(A a, B b)", "a1:id=1 b2:id=1", "[id]") == ["a1 b2"]


def test_a_closure_takes_neighbours_only() -> None:
    assert strict("SEQ(A a, B+ b[], C c)", "a1 b2 b3 c4") == ["a1 [b2 b3] c4"]
    assert strict("SEQ(A a, B+ b[], C c)", "a1 b2 x3 b4 c5") == []
    assert strict("SEQ(B+ b[], C c)", "b1 x2 b3 b4 c5") == ["[b3 b4] c5", "[b4] c5"]


def test_a_closure_dies_of_an_event_it_cannot_take() -> None:
    events = "a1:x=1 a2:x=3 a3:x=2 a4:x=4 b5"
    assert strict("SEQ(A+ a[], B b)", events, "a[i].x > a[i-1].x") == ["[a3 a4] b5", "[a4] b5"]


def test_a_closure_forks_where_an_event_can_be_taken_and_can_begin() -> None:
    assert strict("SEQ(A+ a[], A b)", "a1 a2 a3") == ["[a1 a2] a3", "[a1] a2", "[a2] a3"]


def test_a_closure_at_the_end_reports_every_prefix() -> None:
    assert strict("SEQ(A a, B+ b[])", "a1 b2 b3 x4 b5") == ["a1 [b2 b3]", "a1 [b2]"]


def test_a_closure_that_may_be_empty() -> None:
    assert strict("SEQ(A a, B* b[], C c)", "a1 c2 a3 b4 c5") == ["a1 [] c2", "a3 [b4] c5"]
    assert strict("SEQ(A a, B? b, C c)", "a1 c2 a3 b4 c5 a6 b7 b8 c9") == ["a1 - c2", "a3 b4 c5"]


def test_a_closure_with_counts() -> None:
    assert strict("SEQ(A a, B{2} b[], C c)", "a1 b2 c3 a4 b5 b6 c7 a8 b9 b10 b11 c12") == ["a4 [b5 b6] c7"]
    assert strict("SEQ(B{2,} b[], C c)", "b1 b2 b3 c4") == ["[b1 b2 b3] c4", "[b2 b3] c4"]
    assert strict("SEQ(B{1,2} b[], C c)", "b1 b2 b3 c4") == ["[b2 b3] c4", "[b3] c4"]


def test_alternatives() -> None:
    assert strict("SEQ(A a, (B b | C c), D d)", "a1 b2 d3 a4 c5 d6") == ["a1 b2 - d3", "a4 - c5 d6"]
    assert strict("SEQ(A a, (B b | C c), D d)", "a1 b2 c3 d4") == []


def test_sequences_as_alternatives() -> None:
    pattern = "SEQ(A a, (SEQ(B b, C c) | D d), E e)"
    assert strict(pattern, "a1 b2 c3 e4 a5 d6 e7") == ["a1 b2 c3 - e4", "a5 - - d6 e7"]
    assert strict(pattern, "a1 b2 d3 c4 e5") == []


def test_negation_filters_the_matches() -> None:
    assert strict("SEQ(A a, !(B b), C c)", "a1 c2 a3 b4 c5") == ["a1 c2"]
