from __future__ import annotations

from semantics.harness import found


def after(pattern: str, events: str, conditions: str = "") -> list[str]:
    return found(f"PATTERN {pattern} WHERE skip_till_next_match {{ {conditions} }}", events)


def test_the_first_event_that_can_begin_the_next_component_does() -> None:
    assert after("SEQ(A a, B b, C c)", "a1 b2 b3 c4 c5") == ["a1 b2 c4"]


def test_events_that_cannot_are_ignored() -> None:
    assert after("SEQ(A a, B b)", "a1 x2 c3 a4 b5") == ["a1 b5", "a4 b5"]
    assert after("SEQ(A a, B b)", "a1:x=5 b2:x=3 b3:x=7 b4:x=9", "b.x > a.x") == ["a1 b3"]
    assert after("SEQ(A a, B b)", "a1:id=1 b2:id=2 b3:id=null b4:id=1 b5:id=1", "[id]") == ["a1 b4"]


def test_every_event_may_start_a_run() -> None:
    assert after("SEQ(A first, A second)", "a1 a2 a3") == ["a1 a2", "a2 a3"]


def test_negation_filters_the_matches_and_skips_nothing() -> None:
    # c3 is the next match; that b2 refutes it does not make c4 the next one
    assert after("SEQ(A a, !(B b), C c)", "a1 b2 c3 c4") == []
    assert after("SEQ(A a, !(B b), C c)", "a1 c2 b3 c4") == ["a1 c2"]


def test_a_closure_takes_every_event_that_it_can() -> None:
    assert after("SEQ(A a, B+ b[], C c)", "a1 b2 x3 b4 c5") == ["a1 [b2 b4] c5"]
    assert after("SEQ(B+ b[], C c)", "b1 x2 b3 c4") == ["[b1 b3] c4", "[b3] c4"]


def test_an_open_closure_ignores_an_event_that_begins_the_next_component() -> None:
    # the event cannot be taken, so the run may go on without it; a fork begins with it
    assert after("SEQ(A+ a[], B b)", "a1 b2 a3 b4") == ["[a1 a3] b4", "[a1] b2", "[a3] b4"]
    assert after("SEQ(A+ a[], B b)", "a1 b2 b3") == ["[a1] b2", "[a1] b3"]


def test_a_closure_forks_where_an_event_can_be_taken_and_can_begin() -> None:
    assert after("SEQ(A+ a[], A b)", "a1 a2 a3") == ["[a1 a2] a3", "[a1] a2", "[a2] a3"]


def test_take_predicates_say_what_can_be_taken() -> None:
    events = "a1:x=2 a2:x=1 a3:x=4 a4:x=3 b5"
    assert after("SEQ(A+ a[], B b)", events, "a[i].x > a[i-1].x") == [
        "[a1 a3] b5",
        "[a2 a3] b5",
        "[a3] b5",
        "[a4] b5",
    ]


def test_a_full_closure_is_not_open() -> None:
    # [a1 a2] has no room left, so b3 is its next match; [a2] has, and may ignore b3
    assert after("SEQ(A{1,2} a[], B b)", "a1 a2 b3 b4") == ["[a1 a2] b3", "[a2] b3", "[a2] b4"]


def test_an_incomplete_closure_cannot_be_left() -> None:
    assert after("SEQ(A{2,} a[], B b)", "a1 b2 a3 b4") == ["[a1 a3] b4"]
    assert after("SEQ(A+ a[], B b)", "a1 b2 a3 b4", "a.LEN >= 2") == ["[a1 a3] b4"]


def test_a_closure_at_the_end_reports_every_prefix() -> None:
    assert after("SEQ(A a, B+ b[])", "a1 b2 x3 b4") == ["a1 [b2 b4]", "a1 [b2]"]


def test_a_closure_of_n_equals_n_components() -> None:
    for events in ("a1 a2 a3 b4 b5", "a1 b2 a3 b4", "b1 a2", "a1 a2 a2' b3", "a1 a2 a3 a4 b5"):
        closures = [line.replace("[", "").replace("]", "") for line in after("SEQ(A{2} a[], B b)", events)]
        assert sorted(closures) == after("SEQ(A x, A y, B b)", events)


def test_an_event_that_can_begin_an_optional_component_is_not_ignored() -> None:
    assert after("SEQ(A a, B? b, C c)", "a1 b2 c3") == ["a1 b2 c3"]
    assert after("SEQ(A a, B* b[], C c)", "a1 b2 x3 b4 c5") == ["a1 [b2 b4] c5"]


def test_an_event_that_can_begin_what_follows_an_optional_component_is_not_ignored() -> None:
    assert after("SEQ(A a, B? b, C c)", "a1 c2 b3 c4") == ["a1 - c2"]
    assert after("SEQ(A a, B* b[], C* c[])", "a1 c2 b3") == ["a1 [] []", "a1 [] [c2]"]


def test_the_first_alternative_that_comes_begins_it() -> None:
    assert after("SEQ(A a, (B b | C c), D d)", "a1 b2 c3 d4") == ["a1 b2 - d4"]
    assert after("SEQ(A a, (B b | C c), D d)", "a1 c2 b3 d4") == ["a1 - c2 d4"]


def test_simultaneous_alternatives_both_begin_it() -> None:
    assert after("SEQ(A a, (B b | C c), D d)", "a1 b2 c2 d3") == ["a1 - c2 d3", "a1 b2 - d3"]


def test_a_sequence_as_an_alternative_is_not_left_once_it_has_begun() -> None:
    pattern = "SEQ(A a, (SEQ(B b, C c) | D d), E e)"
    assert after(pattern, "a1 b2 d3 c4 e5") == ["a1 b2 c4 - e5"]
    assert after(pattern, "a1 d2 b3 c4 e5") == ["a1 - - d2 e5"]
    assert after(pattern, "a1 b2 d3 e4") == []
