from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found, stream, tables

EITHER = "PATTERN ANY(A, B) v WHERE"
# A has x, B has y
EVENTS = tables("a1:x=3,y=0 a2:x=7,y=0 b3:y=1 b4:y=9")


def test_a_predicate_on_an_attribute_that_the_type_lacks_is_true() -> None:
    assert found(f"{EITHER} v.x > 5", EVENTS) == ["a2", "b3", "b4"]


def test_its_negation_is_true_as_well() -> None:
    assert found(f"{EITHER} NOT (v.x > 5)", EVENTS) == ["a1", "b3", "b4"]
    assert found(f"{EITHER} v.x > 5 AND NOT (v.x > 5)", EVENTS) == ["b3", "b4"]
    assert found(f"{EITHER} v.x IS NULL", EVENTS) == ["b3", "b4"]
    assert found(f"{EITHER} v.x IS NOT NULL", EVENTS) == ["a1", "a2", "b3", "b4"]


def test_other_predicates_still_count() -> None:
    assert found(f"{EITHER} v.x > 5 AND v.y > 5", EVENTS) == ["b4"]
    assert found(f"{EITHER} v.x > 5 AND v.y < 5", EVENTS) == ["a2", "b3"]


def test_a_true_predicate_makes_its_alternatives_irrelevant() -> None:
    assert found(f"{EITHER} v.x > 5 OR v.y > 5", EVENTS) == ["a2", "b3", "b4"]


def test_a_predicate_that_mentions_it_anywhere_is_true() -> None:
    assert found(f"{EITHER} abs(v.x + v.y) * 2 > 100", EVENTS) == ["b3", "b4"]
    assert found(f"{EITHER} v.x IN (1, 2)", EVENTS) == ["b3", "b4"]
    assert found(f"{EITHER} CASE WHEN v.x > 5 THEN false ELSE false END", EVENTS) == ["b3", "b4"]


def test_an_attribute_that_is_null_is_not_missing() -> None:
    assert found(f"{EITHER} v.x > 5", tables("a1:x=null a2:x=7 b3")) == ["a2", "b3"]


def test_predicates_between_components() -> None:
    query = "PATTERN SEQ(A a, ANY(A, B) v) WHERE v.x < a.x"
    assert found(query, tables("a1:x=5 a2:x=7 b3:y=1 a4:x=1")) == ["a1 a4", "a1 b3", "a2 a4", "a2 b3"]


def test_types_declared_for_one_table_mean_the_same() -> None:
    events = stream("a1:x=3,y=0 a2:x=7,y=0 b3:y=1 b4:y=9")
    types = {"A": ["eid", "x", "y"], "B": ["eid", "y"]}
    assert found(f"{EITHER} v.x > 5", events, types=types) == ["a2", "b3", "b4"]
    assert found(f"{EITHER} NOT (v.x > 5)", events, types=types) == ["a1", "b3", "b4"]


def test_in_one_table_without_declared_types_every_type_has_every_attribute() -> None:
    events = stream("a1:x=3 a2:x=7 b3:y=1")
    assert found(f"{EITHER} v.x > 5", events) == ["a2"]


def test_an_attribute_that_no_type_of_the_component_has_is_an_error() -> None:
    with pytest.raises(oz.QueryError, match="unknown attribute 'x' of B"):
        oz.match(EVENTS, "PATTERN B b WHERE b.x > 5")


def test_an_event_without_the_attribute_refutes_a_match() -> None:
    query = "PATTERN SEQ(A a, !(ANY(B, N) n), C c) WHERE n.x > 5"
    assert found(query, tables("a1 n2:x=3 c4 b9")) == ["a1 c4"]
    assert found(query, tables("a1 n2:x=9 c4 b9")) == []
    assert found(query, tables("a1 b2 c4 n9:x=9")) == []


def test_a_closure_takes_an_event_without_the_attribute() -> None:
    query = "PATTERN SEQ(ANY(A, B)+ v[], C c) WHERE strict_contiguity { v[i].x > 5 }"
    assert found(query, tables("a1:x=9 b2 a3:x=7 c4")) == ["[a1 b2 a3] c4", "[a3] c4", "[b2 a3] c4"]
    assert found(query, tables("a1:x=9 b2 a3:x=1 c4")) == []


def test_a_step_from_or_to_an_element_without_the_attribute_is_free() -> None:
    query = "PATTERN SEQ(ANY(A, B)+ v[], C c) WHERE strict_contiguity { v[i].x > v[i-1].x }"
    assert found(query, tables("a1:x=9 b2 a3:x=7 c4")) == ["[a1 b2 a3] c4", "[a3] c4", "[b2 a3] c4"]
    assert found(query, tables("a1:x=9 a2:x=7 c4 b8")) == ["[a2] c4"]


def test_an_equivalence_test_passes_over_components_that_lack_the_attribute() -> None:
    query = "PATTERN SEQ(A a, X x, B b) WHERE [id]"
    assert found(query, tables("a1:id=1 x2:y=0 b3:id=1 b4:id=2")) == ["a1 x2 b3"]


def test_an_event_that_lacks_the_attribute_refutes_in_every_partition() -> None:
    query = "PATTERN SEQ(A a, !(N n), B b) WHERE [id]"
    assert found(query, tables("a1:id=1 a2:id=2 n3:y=0 b4:id=1 b5:id=2")) == []


def test_an_event_of_a_type_not_in_the_pattern_that_lacks_the_attribute_is_in_no_partition() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE partition_contiguity { [id] }"
    assert found(query, tables("a1:id=1 x2:y=0 b3:id=1")) == ["a1 b3"]
    query = "PATTERN SEQ(A a, B b) WHERE [id] WITHIN 2 EVENTS"
    assert found(query, tables("a1:id=1 x2:y=0 b3:id=1")) == ["a1 b3"]


def test_what_a_column_holds_for_a_type_that_lacks_the_attribute_does_not_matter() -> None:
    types = {"A": ["eid", "k"], "B": ["eid", "k"], "C": ["eid"]}
    events = stream("a1:k=1 b2:k=1 c2:k=1 a3:k=1 c4:k=1 b5:k=1")
    counted = "PATTERN SEQ(!(B n), A a) WHERE [k] WITHIN 1 EVENTS INCLUSIVE"
    assert found(counted, events, types=types) == ["a1"]
    contiguous = "PATTERN SEQ(A a, B b) WHERE partition_contiguity { [k] }"
    assert found(contiguous, events, types=types) == ["a1 b2", "a3 b5"]


def test_an_event_of_a_type_in_the_pattern_that_lacks_the_attribute_is_in_every_partition() -> None:
    query = "PATTERN SEQ(A a, X x, B b) WHERE partition_contiguity { [id] }"
    assert found(query, tables("a1:id=1 x2:y=0 x3:y=0 b4:id=1")) == []
    assert found(query, tables("a1:id=1 a2:id=2 x3:y=0 b4:id=1 b5:id=2")) == ["a1 x3 b4", "a2 x3 b5"]


def test_pairwise_equalities_with_a_missing_attribute_are_no_equivalence_test() -> None:
    query = "PATTERN SEQ(A a, ANY(A, X) v, A c) WHERE a.id = v.id AND v.id = c.id"
    assert found(query, tables("a1:id=1 x2:y=0 a3:id=2")) == ["a1 x2 a3"]


@pytest.mark.parametrize("strategy", ["partition_contiguity", "skip_till_next_match"])
def test_an_event_in_every_partition_begins_a_run_in_each(strategy: str) -> None:
    query = f"PATTERN SEQ(X x, A a) WHERE {strategy} {{ [id] }}"
    assert found(query, tables("x1:y=0 a2:id=1 a3:id=2")) == ["x1 a2", "x1 a3"]


@pytest.mark.parametrize("pattern", ["A & !N", "SEQ(A, !N)"])
def test_a_match_of_no_partition_is_refuted_by_any(pattern: str) -> None:
    query = f"PATTERN {pattern} WHERE [id] WITHIN 3"
    assert found(query, tables("a5:y=0 n6:id=2 n1:id=1")) == []
    assert found(query, tables("a5:y=0 n1:id=1")) == ["a5"]
