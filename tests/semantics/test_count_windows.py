from __future__ import annotations

from semantics.harness import found

PAIR = "PATTERN SEQ(A a, B b)"


def test_first_and_last_are_fewer_than_n_positions_apart() -> None:
    assert found(f"{PAIR} WITHIN 3 EVENTS", "a1 x2 b3 b4") == ["a1 b3"]
    assert found(f"{PAIR} WITHIN 2 EVENTS", "a1 x2 b3 b4") == []
    assert found(f"{PAIR} WITHIN 2 EVENTS", "a1 b2 a3 b4") == ["a1 b2", "a3 b4"]


def test_inclusive_allows_n_positions() -> None:
    assert found(f"{PAIR} WITHIN 3 EVENTS INCLUSIVE", "a1 x2 b3 b4 b5") == ["a1 b3", "a1 b4"]


def test_time_does_not_matter() -> None:
    assert found(f"{PAIR} WITHIN 2 EVENTS", "a1 b1000000000") == ["a1 b1000000000"]


def test_all_events_of_the_stream_have_a_position() -> None:
    assert found(f"{PAIR} WITHIN 4 EVENTS", "a1 x2 y3 b4") == ["a1 b4"]
    assert found(f"{PAIR} WITHIN 4 EVENTS", "a1 x2 y3 z4 b5") == []


def test_the_window_spans_the_whole_match() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WITHIN 3 EVENTS"
    assert found(query, "a1 b2 c3 c4") == ["a1 b2 c3"]


def test_a_position_is_the_number_of_events_that_are_over_before() -> None:
    # x2 and x2' are both in position 1, b3 in position 3
    assert found(f"{PAIR} WITHIN 3 EVENTS", "a1 x2 x2' b3") == []
    assert found(f"{PAIR} WITHIN 4 EVENTS", "a1 x2 x2' b3") == ["a1 b3"]
    assert found(f"{PAIR} WITHIN 2 EVENTS", "a1 b2 b2' b3") == ["a1 b2", "a1 b2'"]


def test_simultaneous_events_are_no_positions_apart() -> None:
    assert found("PATTERN A & B WITHIN 1 EVENTS", "a1 b1 a2 b3") == ["a1 b1"]


def test_tie_breaking_columns_give_every_event_a_position_of_its_own() -> None:
    events = "a1:seq=1 x1:seq=2 b1:seq=3"
    assert found(f"{PAIR} WITHIN 2 EVENTS", events, order=["ts", "seq"]) == []
    assert found(f"{PAIR} WITHIN 3 EVENTS", events, order=["ts", "seq"]) == ["a1 b1"]


def test_positions_count_in_the_partition() -> None:
    events = "a1:id=1 x2:id=2 x3:id=2 b4:id=1"
    assert found(f"{PAIR} WHERE [id] WITHIN 2 EVENTS", events) == ["a1 b4"]
    assert found(f"{PAIR} WITHIN 2 EVENTS", events) == []


def test_events_of_other_types_count_in_their_partition() -> None:
    assert found(f"{PAIR} WHERE [id] WITHIN 2 EVENTS", "a1:id=1 x2:id=1 b3:id=1") == []


def test_an_event_without_a_key_counts_in_no_partition() -> None:
    assert found(f"{PAIR} WHERE [id] WITHIN 2 EVENTS", "a1:id=1 x2 b3:id=1") == ["a1 b3"]


def test_ties_count_in_the_partition() -> None:
    events = "a1:id=1 x2:id=1 x2':id=2 b3:id=1"
    assert found(f"{PAIR} WHERE [id] WITHIN 3 EVENTS", events) == ["a1 b3"]


def test_a_closure_takes_only_what_is_in_the_window() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WITHIN 3 EVENTS"
    assert found(query, "a1 a2 a3 b4") == ["[a2 a3] b4", "[a2] b4", "[a3] b4"]


def test_a_grouping_closure_takes_only_what_is_in_the_window() -> None:
    assert found("PATTERN B+; C WITHIN 3 EVENTS", "b1 b2 b3 c4") == ["[b2 b3] c4"]


def test_a_conjunction_counts_from_its_first_event_to_its_last() -> None:
    assert found("PATTERN A & B WITHIN 2 EVENTS", "b1 a2 x3 b4") == ["a2 b1"]
