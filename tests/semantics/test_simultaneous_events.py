from __future__ import annotations

from semantics.harness import found

PAIR = "PATTERN SEQ(A a, B b)"
TRIPLE = "PATTERN SEQ(A a, B b, C c)"
CLOSURE = "PATTERN SEQ(A+ a[], B b)"
NEXT = "WHERE skip_till_next_match { }"
STRICT = "WHERE strict_contiguity { }"


def test_simultaneous_events_are_never_in_order() -> None:
    assert found(PAIR, "a1 b1") == []
    assert found(TRIPLE, "a1 b2 c2 c3") == ["a1 b2 c3"]


def test_each_of_them_follows_what_came_before_and_precedes_what_comes_after() -> None:
    assert found(TRIPLE, "a1 b2 b2' c3") == ["a1 b2 c3", "a1 b2' c3"]


def test_a_closure_never_takes_two_simultaneous_events() -> None:
    assert found("PATTERN SEQ(A a, B+ b[])", "a1 b2 b2'") == ["a1 [b2']", "a1 [b2]"]


def test_next_match_forks_for_every_simultaneous_event_that_fits() -> None:
    assert found(f"{PAIR} {NEXT}", "a1 b2 b2' b3") == ["a1 b2", "a1 b2'"]
    assert found(f"{TRIPLE} {NEXT}", "a1 b2 b2' c3 c3' c4") == [
        "a1 b2 c3",
        "a1 b2 c3'",
        "a1 b2' c3",
        "a1 b2' c3'",
    ]


def test_next_match_keeps_the_run_as_it_was_only_if_it_may_ignore_all_of_them() -> None:
    assert found(f"{PAIR} {NEXT}", "a1 b2 x2 b3") == ["a1 b2"]
    assert found(f"{PAIR} {NEXT}", "a1 x2 x2' b3") == ["a1 b3"]


def test_next_match_forks_a_closure_for_every_event_it_can_take() -> None:
    assert found(f"{CLOSURE} {NEXT}", "a1 a2 a2' b3") == ["[a1 a2'] b3", "[a1 a2] b3", "[a2'] b3", "[a2] b3"]


def test_next_match_takes_one_and_begins_with_another() -> None:
    # a2 is taken and b2 begins: the run with a1 alone may ignore b2 but not a2, so it does not see b3
    assert found(f"{CLOSURE} {NEXT}", "a1 a2 b2 b3") == ["[a1 a2] b3", "[a1] b2", "[a2] b3"]


def test_events_at_the_time_of_one_that_is_bound_do_not_break_strict_contiguity() -> None:
    assert found(f"{PAIR} {STRICT}", "a1 x1 b2") == ["a1 b2"]
    assert found(f"{PAIR} {STRICT}", "a1 b2 x2") == ["a1 b2"]
    assert found(f"{TRIPLE} {STRICT}", "a1 b2 x2 c3") == ["a1 b2 c3"]
    assert found(f"{TRIPLE} {STRICT}", "a1 b2 b2' c3") == ["a1 b2 c3", "a1 b2' c3"]


def test_simultaneous_events_of_which_none_fits_break_strict_contiguity() -> None:
    assert found(f"{PAIR} {STRICT}", "a1 x2 x2' b3") == []
    assert found(f"{PAIR} {STRICT}", "a1 b1 x2 b3") == []


def test_strict_contiguity_takes_one_and_begins_with_another() -> None:
    assert found(f"{CLOSURE} {STRICT}", "a1 a2 b2 b3") == ["[a1 a2] b3", "[a1] b2", "[a2] b3"]


def test_partition_contiguity_looks_at_the_ties_within_the_partition() -> None:
    query = f"{TRIPLE} WHERE partition_contiguity {{ [id] }}"
    assert found(query, "a1:id=1 b2:id=1 x2:id=1 c3:id=1") == ["a1 b2 c3"]
    assert found(query, "a1:id=1 b2:id=1 b2':id=2 c3:id=1") == ["a1 b2 c3"]
    assert found(query, "a1:id=1 x2:id=1 b3:id=1 c4:id=1") == []


def test_tie_breaking_columns_put_events_in_order() -> None:
    order = ["ts", "seq"]
    assert found(PAIR, "a1:seq=1 b1:seq=2", order=order) == ["a1 b1"]
    assert found(PAIR, "a1:seq=2 b1:seq=1", order=order) == []
    assert found(PAIR, "a1:seq=9 b2:seq=1", order=order) == ["a1 b2"]


def test_several_columns_break_ties_one_after_another() -> None:
    events = "a1:day=1,seq=2 b1:day=2,seq=1 b1':day=1,seq=1"
    assert found(PAIR, events, order=["ts", "day", "seq"]) == ["a1 b1"]


def test_tie_breaking_columns_decide_what_is_next() -> None:
    events = "a1:seq=1 b2:seq=1 b2':seq=2 c3:seq=1"
    assert found(f"{PAIR} {NEXT}", events, order=["ts", "seq"]) == ["a1 b2"]
    assert found(f"{TRIPLE} {STRICT}", events, order=["ts", "seq"]) == []
    assert found("PATTERN SEQ(A a, B+ b[], C c)", events, order=["ts", "seq"]) == [
        "a1 [b2 b2'] c3",
        "a1 [b2'] c3",
        "a1 [b2] c3",
    ]


def test_tie_breaking_columns_decide_what_lies_between() -> None:
    query = "PATTERN SEQ(A a, !(N n), B b)"
    assert found(query, "a1:seq=1 n1:seq=2 b2:seq=1") == ["a1 b2"]
    assert found(query, "a1:seq=1 n1:seq=2 b2:seq=1", order=["ts", "seq"]) == []
    assert found(query, "a1:seq=2 n1:seq=1 b2:seq=1", order=["ts", "seq"]) == ["a1 b2"]


def test_windows_measure_time_not_tie_breakers() -> None:
    events = "a1:seq=1 b1:seq=9 b2:seq=1"
    assert found(f"{PAIR} WITHIN 1", events, order=["ts", "seq"]) == ["a1 b1"]
