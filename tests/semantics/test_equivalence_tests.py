from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found

PAIR = "PATTERN SEQ(A a, B b)"
TRIPLE = "PATTERN SEQ(A a, B b, C c)"
SPELLED_OUT = [
    "[id]",
    "a.id = b.id AND a.id = c.id",
    "a.id = b.id AND b.id = c.id",
    "c.id = b.id AND c.id = a.id",
    "a.id = b.id = c.id",
    "a.id = c.id AND a.id = b.id AND b.id = c.id",
]


def test_all_components_have_one_value() -> None:
    events = "a1:id=1 a2:id=2 b3:id=1 c4:id=2 c5:id=1 b6:id=2 c7:id=2"
    assert found(f"{TRIPLE} WHERE [id]", events) == ["a1 b3 c5", "a2 b6 c7"]


def test_a_test_of_two_attributes() -> None:
    events = "a1:id=1,site=x b2:id=1,site=y b3:id=2,site=x b4:id=1,site=x"
    assert found(f"{PAIR} WHERE [id, site]", events) == ["a1 b4"]
    assert found(f"{PAIR} WHERE [id] AND [site]", events) == ["a1 b4"]


def test_a_test_with_a_constant() -> None:
    events = "a1:name=John a2:name=Ann b3:name=Ann b4:name=John"
    assert found(f"{PAIR} WHERE [name='John']", events) == ["a1 b4"]
    assert found(f"{PAIR} WHERE [name='Eve']", events) == []


def test_a_constant_and_another_attribute() -> None:
    events = "a1:name=John,id=1 b2:name=John,id=2 b3:name=John,id=1 b4:name=Ann,id=1"
    assert found(f"{PAIR} WHERE [name='John', id]", events) == ["a1 b3"]


def test_negative_components_too() -> None:
    query = "PATTERN SEQ(A a, !(N n), B b) WHERE [id]"
    assert found(query, "a1:id=1 n2:id=2 b3:id=1") == ["a1 b3"]
    assert found(query, "a1:id=1 n2:id=1 b3:id=1") == []


def test_every_element_of_a_closure() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { [id] }"
    assert found(query, "a1:id=1 a2:id=2 a3:id=1 b4:id=1") == ["[a1 a3] b4", "[a3] b4"]


def test_whichever_alternative_is_bound() -> None:
    query = "PATTERN SEQ(A a, (B b | C c), D d) WHERE [id]"
    assert found(query, "a1:id=1 b2:id=2 c3:id=1 d4:id=1") == ["a1 - c3 d4"]


def test_an_optional_component_only_if_it_is_bound() -> None:
    query = "PATTERN SEQ(A a, B? b, C c) WHERE [id]"
    assert found(query, "a1:id=1 b2:id=2 c3:id=1") == ["a1 - c3"]


def test_other_predicates_beside_it() -> None:
    events = "a1:id=1,x=1 b2:id=1,x=5 b3:id=2,x=9 b4:id=1,x=0"
    assert found(f"{PAIR} WHERE [id] AND b.x > a.x", events) == ["a1 b2"]


@pytest.mark.parametrize("test", SPELLED_OUT)
def test_spelled_out_it_means_the_same_matches(test: str) -> None:
    events = "a1:id=1 a2:id=2 b3:id=1 c4:id=2 c5:id=1 b6:id=null c7:id=null"
    assert found(f"{TRIPLE} WHERE {test}", events) == ["a1 b3 c5"]


@pytest.mark.parametrize("test", SPELLED_OUT)
def test_spelled_out_it_means_the_same_partitions(test: str) -> None:
    query = f"{TRIPLE} WHERE partition_contiguity {{ {test} }}"
    assert found(query, "a1:id=1 b2:id=2 b3:id=1 x4:id=2 c5:id=1") == ["a1 b3 c5"]
    assert found(query, "a1:id=1 b2:id=1 x3:id=1 c4:id=1") == []


@pytest.mark.parametrize("test", SPELLED_OUT)
def test_spelled_out_it_counts_positions_in_the_same_partitions(test: str) -> None:
    query = f"{TRIPLE} WHERE {test} WITHIN 3 EVENTS"
    assert found(query, "a1:id=1 b2:id=1 x3:id=2 c4:id=1") == ["a1 b2 c4"]
    assert found(query, "a1:id=1 b2:id=1 x3:id=1 c4:id=1") == []


@pytest.mark.parametrize("test", ["[id]", "a.id = b.id"])
def test_spelled_out_it_keeps_matches_apart_in_the_same_partitions(test: str) -> None:
    events = "a1:id=1 a2:id=2 b3:id=2 b4:id=1 b5:id=1"
    assert found(f"{PAIR} WHERE {test} OUTPUT NON_OVERLAP", events) == ["a1 b4", "a2 b3"]


THROUGH_A_NEGATIVE = [
    "[id]",
    "a.id = n.id AND a.id = b.id",
    "a.id = b.id AND n.id = b.id",
    "a.id = n.id AND n.id = b.id",
    "a.id = n.id = b.id",
]


@pytest.mark.parametrize("test", THROUGH_A_NEGATIVE)
def test_spelled_out_with_a_negative_component(test: str) -> None:
    query = f"PATTERN SEQ(A a, !(N n), B b) WHERE {test}"
    assert found(query, "a1:id=1 a2:id=2 n3:id=1 b4:id=1 b5:id=2") == ["a2 b5"]
    query = f"PATTERN SEQ(A a, !(N n), B b) WHERE partition_contiguity {{ {test} }}"
    assert found(query, "a1:id=1 n2:id=2 b3:id=1 b4:id=2") == ["a1 b3"]


@pytest.mark.parametrize("test", ["[id]", "n.id = b.id", "b.id = n.id"])
def test_spelled_out_with_no_other_than_a_negative_component(test: str) -> None:
    events = "n1:id=1 b2:id=1 b3:id=2 b4:id=null"
    assert found(f"PATTERN SEQ(!(N n), B b) WHERE {test} WITHIN 8", events) == ["b3"]
    query = f"PATTERN SEQ(B b, !(N n)) WHERE partition_contiguity {{ {test} }} WITHIN 8"
    assert found(query, "b1:id=1 n2:id=2 b3:id=2 b4:id=null") == ["b1", "b3"]


@pytest.mark.parametrize("test", ["[id]", "a.id = b.id", "b.id = a[i].id"])
def test_spelled_out_over_a_closure(test: str) -> None:
    query = f"PATTERN SEQ(A+ a[], B b) WHERE partition_contiguity {{ {test} }}"
    assert found(query, "a1:id=1 a2:id=2 a3:id=1 b4:id=1") == ["[a1 a3] b4", "[a3] b4"]


def test_equalities_that_do_not_tie_all_components_form_no_partitions() -> None:
    with pytest.raises(oz.QueryError, match="partition_contiguity without an equivalence test"):
        oz.query(f"{TRIPLE} WHERE partition_contiguity {{ a.id = b.id }}")
    with pytest.raises(oz.QueryError, match="partition_contiguity without an equivalence test"):
        oz.query(f"{PAIR} WHERE partition_contiguity {{ a.id = b.other }}")


def test_equalities_that_do_not_tie_all_components_are_predicates() -> None:
    events = "a1:id=1 b2:id=2 b3:id=1 c4:id=7"
    assert found(f"{TRIPLE} WHERE skip_till_next_match {{ a.id = b.id }}", events) == ["a1 b3 c4"]


def test_integers_and_floats_of_one_value_are_one_partition() -> None:
    events = {"A": [{"eid": "a1", "ts": 1, "id": 1}], "B": [{"eid": "b2", "ts": 2, "id": 1.0}]}
    query = "PATTERN SEQ(A a, B b) WHERE partition_contiguity { a.id = b.id } RETURN a.eid AS a, b.eid AS b"
    assert oz.match([], query) == []
    assert oz.match(events, query) == [{"a": "a1", "b": "b2"}]
