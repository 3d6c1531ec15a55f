from __future__ import annotations

import pytest

from semantics.harness import found


def anywhere(pattern: str, events: str, conditions: str = "") -> list[str]:
    return found(f"PATTERN {pattern} WHERE skip_till_any_match {{ {conditions} }}", events)


@pytest.mark.parametrize("pattern", ["SEQ(A a, B b, C c)", "SEQ(A+ a[], B b)", "SEQ(A a, (B b | C c))"])
def test_it_is_the_default(pattern: str) -> None:
    events = "a1 b2 a3 c4 b5 c6"
    assert anywhere(pattern, events) == found(f"PATTERN {pattern}", events)


def test_every_event_may_be_ignored() -> None:
    assert anywhere("SEQ(A a, B b, C c)", "a1 b2 b3 c4 c5") == ["a1 b2 c4", "a1 b2 c5", "a1 b3 c4", "a1 b3 c5"]


def test_predicates_and_partitions_choose_among_them() -> None:
    events = "a1:id=1,x=2 b2:id=1,x=1 b3:id=2,x=3 b4:id=1,x=4 b5:id=1,x=5"
    assert anywhere("SEQ(A a, B b)", events, "[id] AND b.x > a.x") == ["a1 b4", "a1 b5"]


def test_a_closure_takes_every_choice_of_events() -> None:
    assert anywhere("SEQ(A+ a[], B b)", "a1 a2 b3") == ["[a1 a2] b3", "[a1] b3", "[a2] b3"]
    assert anywhere("SEQ(A+ a[], B b)", "a1 a2 a3 b4") == [
        "[a1 a2 a3] b4",
        "[a1 a2] b4",
        "[a1 a3] b4",
        "[a1] b4",
        "[a2 a3] b4",
        "[a2] b4",
        "[a3] b4",
    ]


def test_a_closure_passes_over_what_begins_the_next_component() -> None:
    assert anywhere("SEQ(A+ a[], B b)", "a1 b2 a3 b4") == ["[a1 a3] b4", "[a1] b2", "[a1] b4", "[a3] b4"]


def test_an_event_may_be_taken_or_begin_the_next_component() -> None:
    assert anywhere("SEQ(A+ a[], A b)", "a1 a2 a3") == ["[a1 a2] a3", "[a1] a2", "[a1] a3", "[a2] a3"]


def test_a_closure_at_the_end_reports_every_prefix_of_every_choice() -> None:
    assert anywhere("SEQ(A a, B+ b[])", "a1 b2 b3") == ["a1 [b2 b3]", "a1 [b2]", "a1 [b3]"]


def test_a_closure_computes_transitive_closure() -> None:
    # shipments that leave where the one before arrived
    events = "a1:at=x s2:origin=x,at=y s3:origin=x,at=z s4:origin=y,at=z s5:origin=z,at=w"
    conditions = "s[1].origin = a.at AND s[i].origin = s[i-1].at"
    assert anywhere("SEQ(A a, S+ s[])", events, conditions) == [
        "a1 [s2 s4 s5]",
        "a1 [s2 s4]",
        "a1 [s2]",
        "a1 [s3 s5]",
        "a1 [s3]",
    ]


def test_an_optional_component_is_bound_or_not() -> None:
    assert anywhere("SEQ(A a, B? b, C c)", "a1 b2 c3") == ["a1 - c3", "a1 b2 c3"]
    assert anywhere("SEQ(A a, B* b[], C c)", "a1 b2 c3") == ["a1 [] c3", "a1 [b2] c3"]


def test_all_alternatives_are_found() -> None:
    assert anywhere("SEQ(A a, (B b | C c), D d)", "a1 b2 c3 d4") == ["a1 - c3 d4", "a1 b2 - d4"]
    pattern = "SEQ(A a, (SEQ(B b, C c) | D d), E e)"
    assert anywhere(pattern, "a1 b2 d3 c4 e5") == ["a1 - - d3 e5", "a1 b2 c4 - e5"]
