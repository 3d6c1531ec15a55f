from __future__ import annotations

from semantics.harness import found, rows

PAIR = "PATTERN SEQ(A a, B b)"


def test_components_bind_events_in_the_order_of_time() -> None:
    assert found(PAIR, "a1 b2") == ["a1 b2"]
    assert found(PAIR, "b1 a2") == []


def test_every_choice_of_events_in_order_is_a_match() -> None:
    assert found(PAIR, "a1 a2 b3 b4") == ["a1 b3", "a1 b4", "a2 b3", "a2 b4"]
    assert found(PAIR, "a1 b2 a3 b4") == ["a1 b2", "a1 b4", "a3 b4"]


def test_other_events_may_lie_between() -> None:
    assert found("PATTERN SEQ(A a, B b, C c)", "a1 x2 b3 a4 c5") == ["a1 b3 c5"]


def test_one_component_matches_every_event_of_its_type() -> None:
    assert found("PATTERN A a", "a1 b2 a3") == ["a1", "a3"]


def test_two_components_of_one_type_bind_two_events() -> None:
    assert found("PATTERN SEQ(A first, A second)", "a1 a2 a3") == ["a1 a2", "a1 a3", "a2 a3"]


def test_infix_and_seq_mean_the_same() -> None:
    events = "a1 b2 a3 b4 c5 b6 c7"
    expected = ["a1 b2 c5", "a1 b2 c7", "a1 b4 c5", "a1 b4 c7", "a1 b6 c7", "a3 b4 c5", "a3 b4 c7", "a3 b6 c7"]
    assert found("PATTERN SEQ(A a, B b, C c)", events) == expected
    assert found("PATTERN A a; B b; C c", events) == expected
    assert found("EVENT A; B; C", events) == expected


def test_seq_and_infix_nest() -> None:
    for pattern in ("SEQ(A, (B; C), D)", "A; SEQ(B b, C c); D", "SEQ(A, SEQ(B, C), D)", "(A; B); (C; D)"):
        assert found(f"PATTERN {pattern}", "a1 c2 b3 c4 d5") == ["a1 b3 c4 d5"]


def test_any_binds_an_event_of_any_of_its_types() -> None:
    assert found("PATTERN SEQ(ANY(A, B) v, C c)", "a1 b2 c3") == ["a1 c3", "b2 c3"]
    assert found("PATTERN SEQ(C c, ANY(A, B) v)", "a1 c2 b3 c4") == ["c2 b3"]


def test_without_a_type_column_every_component_ranges_over_all_events() -> None:
    assert found(PAIR, "a1 b2 c3", type=None) == ["a1 b2", "a1 c3", "b2 c3"]
    assert found(PAIR, [{"ts": 1, "eid": "e1"}, {"ts": 2, "eid": "e2"}]) == ["e1 e2"]


def test_a_match_starts_with_its_earliest_event_and_ends_with_its_latest() -> None:
    (match,) = rows("PATTERN SEQ(A a, B b, C c)", "a1 b5 c7")
    assert (match["start"], match["end"]) == (1, 7)


def test_predicates_choose_among_the_matches() -> None:
    events = "a1:x=1 a2:x=5 b3:x=3 b4:x=7"
    assert found(f"{PAIR} WHERE b.x > a.x", events) == ["a1 b3", "a1 b4", "a2 b4"]
    assert found(f"{PAIR} WHERE b.x > a.x AND a.x > 1", events) == ["a2 b4"]
    assert found(f"{PAIR} WHERE b.x < a.x OR b.x > 6", events) == ["a1 b4", "a2 b3", "a2 b4"]


def test_a_condition_without_variables_holds_for_all_matches_or_none() -> None:
    assert found(f"{PAIR} WHERE 1 < 2", "a1 b2") == ["a1 b2"]
    assert found(f"{PAIR} WHERE 2 < 1", "a1 b2") == []
