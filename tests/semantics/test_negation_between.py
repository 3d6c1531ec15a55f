from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found

NEGATION = "PATTERN SEQ(A a, !(B b), C c)"


def test_an_event_between_refutes_the_match() -> None:
    assert found(NEGATION, "a1 b2 c3") == []
    assert found(NEGATION, "a1 x2 c3") == ["a1 c3"]


def test_an_event_before_or_after_does_not() -> None:
    assert found(NEGATION, "b1 a2 c3 b4") == ["a2 c3"]


def test_it_refutes_those_matches_that_it_lies_in() -> None:
    assert found(NEGATION, "a1 c2 b3 c4 a5 c6") == ["a1 c2", "a5 c6"]


def test_it_lies_strictly_between() -> None:
    assert found(NEGATION, "a1 b1 c2") == ["a1 c2"]
    assert found(NEGATION, "a1 b2 c2") == ["a1 c2"]


def test_between_events_of_its_own_type() -> None:
    assert found("PATTERN SEQ(A a, !(A b), A c)", "a1 a2 a3") == ["a1 a2", "a2 a3"]


def test_other_ways_to_write_it() -> None:
    for pattern in ("SEQ(A, ~(B), C)", "SEQ(A a, ¬(B b), C c)", "A; !B; C", "SEQ(A a, !B b, C c)"):
        assert found(f"PATTERN {pattern}", "a1 b2 c3 a4 c5") == ["a4 c5"]


def test_it_must_satisfy_the_conjuncts_that_mention_it() -> None:
    for condition in ("b.x > 5", "b.x > a.x", "b.x > c.x", "b.x * 2 > a.x + c.x"):
        assert found(f"{NEGATION} WHERE {condition}", "a1:x=5 b2:x=3 c3:x=5") == ["a1 c3"]
        assert found(f"{NEGATION} WHERE {condition}", "a1:x=5 b2:x=7 c3:x=5") == []


def test_it_must_satisfy_all_of_them() -> None:
    condition = "b.x > 1 AND b.y > 1"
    assert found(f"{NEGATION} WHERE {condition}", "a1 b2:x=5,y=0 b3:x=0,y=5 c4") == ["a1 c4"]
    assert found(f"{NEGATION} WHERE {condition}", "a1 b2:x=5,y=5 c4") == []
    assert found(f"{NEGATION} WHERE b.x > 1 OR b.y > 1", "a1 b2:x=5,y=0 c4") == []


def test_other_conjuncts_are_about_the_match() -> None:
    assert found(f"{NEGATION} WHERE a.x < c.x AND b.x > 5", "a1:x=1 a2:x=9 b3:x=1 c4:x=5") == ["a1 c4"]


def test_several_in_one_place() -> None:
    query = "PATTERN SEQ(A a, !(B b), !(C c), D d)"
    assert found(query, "a1 d2") == ["a1 d2"]
    assert found(query, "a1 b2 d3") == found(query, "a1 c2 d3") == []


def test_several_in_several_places() -> None:
    query = "PATTERN SEQ(A a, !(B b), C c, !(D d), E e)"
    assert found(query, "a1 d2 c3 b4 e5") == ["a1 c3 e5"]
    assert found(query, "a1 b2 c3 e4") == found(query, "a1 c2 d3 e4") == []


@pytest.mark.parametrize("negative", ["!(B | C)", "!B; !C", "!B & !C", "!(ANY(B, C) n)", "!(B | C | X)"])
def test_not_one_of_several_types(negative: str) -> None:
    query = f"PATTERN A; {negative}; D"
    assert found(query, "b1 a2 d3 c4") == ["a2 d3"]
    assert found(query, "a1 b2 d3") == found(query, "a1 c2 d3") == []


def test_conjuncts_of_not_one_of_several() -> None:
    query = "PATTERN A; !(B | C); D WHERE B.x > 5"
    assert found(query, "a1 b2:x=1 d3") == ["a1 d3"]
    assert found(query, "a1 c2:x=1 d3") == []


def test_after_a_closure_the_interval_begins_with_its_last_element() -> None:
    query = "PATTERN SEQ(A+ a[], !(N n), B b)"
    assert found(query, "a1 n2 a3 b4") == ["[a1 a3] b4", "[a3] b4"]


def test_before_a_closure_the_interval_ends_with_its_first_element() -> None:
    query = "PATTERN SEQ(A a, !(N n), B+ b[])"
    assert found(query, "a1 b2 n3 b4") == ["a1 [b2 b4]", "a1 [b2]"]


def test_beside_an_empty_closure_the_nearest_component_that_bound_an_event_counts() -> None:
    behind = "PATTERN SEQ(A a, B* b[], !(N n), C c)"
    assert found(behind, "a1 n2 c3") == []
    assert found(behind, "a1 n2 b3 c4") == ["a1 [b3] c4"]
    assert found(behind, "a1 b2 n3 c4") == []
    before = "PATTERN SEQ(A a, !(N n), B* b[], C c)"
    assert found(before, "a1 n2 c3") == []
    assert found(before, "a1 n2 b3 c4") == []
    assert found(before, "a1 b2 n3 c4") == ["a1 [b2] c4"]


def test_on_both_sides_of_an_optional_component() -> None:
    query = "PATTERN SEQ(A a, !(N n), B? b, !(M m), C c)"
    assert found(query, "a1 m2 b3 n4 c5") == ["a1 b3 c5"]
    assert found(query, "a1 m2 c3") == found(query, "a1 n2 c3") == []


def test_a_conjunct_with_every_element_of_a_closure() -> None:
    query = "PATTERN SEQ(A+ a[], !(N n), B b)"
    events = "a1:x=1 a2:x=5 n3:x=3 b4"
    # n3 is above a1 alone: where a2 is taken too, it is not above every element
    assert found(f"{query} WHERE n.x > a[i].x", events) == ["[a1 a2] b4", "[a2] b4"]
    assert found(f"{query} WHERE n.x > avg(a[].x)", events) == ["[a1 a2] b4", "[a2] b4"]
    assert found(f"{query} WHERE n.x > a[1].x", events) == ["[a2] b4"]


def test_a_conjunct_with_an_unbound_variable_is_not_applied() -> None:
    query = "PATTERN SEQ(A a, (B b | C c), !(N n), D d) WHERE n.x = b.x"
    assert found(query, "a1 b2:x=5 n3:x=1 d4") == ["a1 b2 - d4"]
    assert found(query, "a1 c2 n3:x=1 d4") == []


def test_a_conjunct_over_two_negative_components_is_an_error() -> None:
    with pytest.raises(oz.QueryError, match="a conjunct over two negative components, b and d"):
        oz.query("PATTERN SEQ(A a, !(B b), C c, !(D d), E e) WHERE b.x = d.x")
