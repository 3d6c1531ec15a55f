from __future__ import annotations

from semantics.harness import found

PAIR = "PATTERN SEQ(A a, B b)"


def test_all_matches_are_the_default() -> None:
    assert found(PAIR, "a1 a2 b3") == found(f"{PAIR} OUTPUT ALL", "a1 a2 b3") == ["a1 b3", "a2 b3"]


def test_a_match_is_kept_if_it_starts_after_the_end_of_the_last_one_kept() -> None:
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 b2 a3 b4") == ["a1 b2", "a3 b4"]
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 b2 b3 b4") == ["a1 b2"]


def test_a_match_that_starts_when_the_last_one_ends_overlaps() -> None:
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 b3 a3 b4") == ["a1 b3"]
    assert found("PATTERN SEQ(A x, A y) OUTPUT NON_OVERLAP", "a1 a2 a3 a4") == ["a1 a2", "a3 a4"]


def test_matches_are_tried_in_the_order_of_their_ends() -> None:
    # a1 d6 starts first, but b2 c3 and b4 c5 are over before it
    query = "PATTERN (A; D) | (B; C) OUTPUT NON_OVERLAP"
    assert found(query, "a1 b2 c3 b4 c5 d6") == ["- - b2 c3", "- - b4 c5"]
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 a3 b4 b6 a7 b8") == ["a3 b4", "a7 b8"]


def test_of_matches_that_end_together_the_one_that_starts_last() -> None:
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 a2 b3") == ["a2 b3"]


def test_then_the_one_with_the_fewest_events() -> None:
    query = "PATTERN SEQ(A a, B* b[], C c) OUTPUT NON_OVERLAP"
    assert found(query, "a1 b2 b3 c4") == ["a1 [] c4"]
    query = "PATTERN SEQ(A a, B+ b[], C c) OUTPUT NON_OVERLAP"
    assert found(query, "a1 b2 b3 c4") == ["a1 [b2] c4"]


def test_then_the_one_with_the_smallest_positions() -> None:
    assert found("PATTERN SEQ(A a, B b, C c) OUTPUT NON_OVERLAP", "a1 b2 b3 c4") == ["a1 b2 c4"]
    assert found("PATTERN SEQ(A a, B{2} b[], C c) OUTPUT NON_OVERLAP", "a1 b2 b3 b4 c5") == ["a1 [b2 b3] c5"]


def test_starting_last_counts_more_than_few_events() -> None:
    query = "PATTERN SEQ(ANY(A, B) v, B* b[], C c) OUTPUT NON_OVERLAP"
    assert found(query, "a1 b2 b3 c4") == ["b3 [] c4"]


def test_per_partition() -> None:
    events = "a1:id=1 a2:id=2 b3:id=1 b4:id=2 a5:id=1 b6:id=1"
    assert found(f"{PAIR} WHERE [id] OUTPUT NON_OVERLAP", events) == ["a1 b3", "a2 b4", "a5 b6"]


def test_without_an_equivalence_test_the_stream_is_one_partition() -> None:
    events = "a1:id=1 a2:id=2 b3:id=1 b4:id=2 a5:id=1 b6:id=1"
    assert found(f"{PAIR} WHERE a.id <= b.id OUTPUT NON_OVERLAP", events) == ["a1 b3", "a5 b6"]


def test_a_match_that_negation_refutes_takes_no_room() -> None:
    query = "PATTERN SEQ(A a, !(N n), B b) WHERE n.x = a.x OUTPUT NON_OVERLAP"
    assert found(query, "a1:x=1 a2:x=2 n3:x=2 b4") == ["a1 b4"]


def test_under_other_strategies() -> None:
    closure = "PATTERN SEQ(A a, B+ b[])"
    events = "a1 b2 b3 a4 b5"
    assert found(f"{closure} WHERE skip_till_next_match {{ }} OUTPUT NON_OVERLAP", events) == [
        "a1 [b2]",
        "a4 [b5]",
    ]
    assert found(f"{closure} WHERE strict_contiguity {{ }} OUTPUT NON_OVERLAP", events) == ["a1 [b2]", "a4 [b5]"]
    query = f"{closure} WHERE partition_contiguity {{ [id] }} OUTPUT NON_OVERLAP"
    assert found(query, "a1:id=1 a2:id=2 b3:id=1 b4:id=2 b5:id=1") == ["a1 [b3]", "a2 [b4]"]


def test_conjunctions_and_groups() -> None:
    assert found("PATTERN A & B OUTPUT NON_OVERLAP", "a1 b2 a3 b4") == ["a1 b2", "a3 b4"]
    assert found("PATTERN A; B+ OUTPUT NON_OVERLAP", "a1 b2 b3 a4 b5") == ["a1 [b2]", "a4 [b5]"]


def test_simultaneous_matches_that_differ_in_nothing_but_a_tie() -> None:
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 b2 b2'") == ["a1 b2"]
    assert found(f"{PAIR} OUTPUT NON_OVERLAP", "a1 b1 b2") == ["a1 b2"]


def test_under_strict_contiguity_the_stream_is_one_partition() -> None:
    query = "PATTERN SEQ(A a, ANY(A, B) b) WHERE {} {{ [id] }} OUTPUT NON_OVERLAP"
    events = "a1:id=1 a1':id=2 b2:id=1 b2':id=2"
    assert found(query.format("partition_contiguity"), events) == ["a1 b2", "a1' b2'"]
    assert len(found(query.format("strict_contiguity"), events)) == 1
