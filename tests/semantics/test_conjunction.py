from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found, rows


def test_events_in_any_order() -> None:
    assert found("PATTERN A & B", "a1 b2 a3") == ["a1 b2", "a3 b2"]
    assert found("PATTERN A & B & C", "c1 a2 b3") == ["a2 b3 c1"]


def test_simultaneous_events_too() -> None:
    assert found("PATTERN A & B", "a1 b1") == ["a1 b1"]


def test_they_are_distinct() -> None:
    assert found("PATTERN A x & A y", "a1 a2") == ["a1 a2", "a2 a1"]
    assert found("PATTERN A x & A y", "a1") == []
    assert found("PATTERN A & ANY(A, B) v", "a1 b2") == ["a1 b2"]


def test_it_spans_from_the_earliest_to_the_latest() -> None:
    (match,) = rows("PATTERN A & B & C", "b1 c3 a7")
    assert (match["start"], match["end"]) == (1, 7)


def test_the_window_bounds_the_span() -> None:
    assert found("PATTERN A & B WITHIN 3", "b1 a3 b5 b6") == ["a3 b1", "a3 b5"]
    assert found("PATTERN A & B WITHIN 3 INCLUSIVE", "b1 a3 b5 b6") == ["a3 b1", "a3 b5", "a3 b6"]


def test_predicates_between_the_events() -> None:
    assert found("PATTERN A & B WHERE A.x < B.x", "b1:x=3 a2:x=2 b3:x=1") == ["a2 b1"]
    assert found("PATTERN A & B WHERE [id]", "b1:id=1 a2:id=2 b3:id=2") == ["a2 b3"]


def test_in_a_sequence_everything_before_precedes_all_of_it() -> None:
    assert found("PATTERN A; (B & C)", "b1 a2 c3 b4") == ["a2 b4 c3"]
    assert found("PATTERN A; (B & C)", "a1 b1 c2") == []


def test_in_a_sequence_everything_behind_follows_all_of_it() -> None:
    assert found("PATTERN (A & B); C", "b1 a2 c3") == ["a2 b1 c3"]
    assert found("PATTERN (A & B); C", "a1 c2 b3") == []


def test_it_binds_tighter_than_a_sequence_and_an_alternative() -> None:
    assert found("PATTERN A; B & C; D", "a1 c2 b3 d4") == ["a1 b3 c2 d4"]
    assert found("PATTERN A & B | C", "b1 a2 c3") == ["- - c3", "a2 b1 -"]


def test_it_nests_in_seq() -> None:
    assert found("PATTERN SEQ(A a, (B b & C c), D d)", "a1 c2 b3 d4") == ["a1 b3 c2 d4"]


def test_sequences_as_operands() -> None:
    assert found("PATTERN (A; B) & C", "a1 c2 b3") == ["a1 b3 c2"]
    assert found("PATTERN (A; B) & C", "b1 c2 a3") == []
    assert found("PATTERN (A; B) & (C; D)", "c1 a2 d3 b4") == ["a2 b4 c1 d3"]


def test_alternatives_as_operands() -> None:
    assert found("PATTERN A & (B | C)", "c1 a2 b3") == ["a2 - c1", "a2 b3 -"]


def test_a_closure_as_an_operand() -> None:
    assert found("PATTERN A & B+ b[]", "b1 a2 b3") == ["a2 [b1 b3]", "a2 [b1]", "a2 [b3]"]


def test_the_interval_around_a_conjunction() -> None:
    query = "PATTERN A; !N; (B & C); !M; D"
    assert found(query, "a1 c2 n3 m4 b5 d6") == ["a1 b5 c2 d6"]
    assert found(query, "a1 n2 c3 b4 d5") == found(query, "a1 c2 b3 m4 d5") == []


def test_an_event_that_must_not_happen_within_the_window_around() -> None:
    refuting = [t for t in range(10) if not found("PATTERN A & !B WITHIN 3", f"a5 b{t}")]
    assert refuting == [3, 4, 5, 6, 7]


def test_the_window_around_reaches_from_end_minus_t_to_start_plus_t() -> None:
    refuting = [t for t in range(12) if not found("PATTERN A & C & !B WITHIN 5", f"a5 c3 b{t}")]
    assert refuting == [1, 2, 3, 4, 5, 6, 7]
    refuting = [t for t in range(12) if not found("PATTERN A & !B WITHIN 3 INCLUSIVE", f"a5 b{t}")]
    assert refuting == [2, 3, 4, 5, 6, 7, 8]


def test_it_must_satisfy_the_conjuncts_that_mention_it() -> None:
    query = "PATTERN A & !B WHERE B.x > A.x WITHIN 3"
    assert found(query, "a1:x=5 b2:x=3") == ["a1"]
    assert found(query, "a1:x=5 b2:x=7") == []


def test_the_event_itself_does_not_refute_the_match() -> None:
    assert found("PATTERN A x & !A y WITHIN 3", "a1 a5 a6") == ["a1"]


def test_the_whole_match_counts_in_a_larger_pattern() -> None:
    # the match goes from 5 to 7, so no b may lie between 2 and 10
    refuting = [t for t in range(12) if not found("PATTERN (A & !B); C WITHIN 5", f"a5 c7 b{t}")]
    assert refuting == [3, 4, 5, 6, 7, 8, 9]


def test_what_must_not_follow_one_operand_may_come_before_another() -> None:
    refuting = [t for t in range(12) if not found("PATTERN (A; !B) & C WITHIN 5", f"a3 c5 b{t}")]
    assert refuting == [4, 5, 6, 7]


def test_beside_an_empty_closure_all_of_the_window_counts() -> None:
    refuting = [t for t in range(12) if not found("PATTERN (D*; !B) & A & C WITHIN 5", f"a3 c5 b{t}")]
    assert refuting == [1, 2, 3, 4, 5, 6, 7]


def test_a_negative_operand_needs_a_window() -> None:
    with pytest.raises(oz.QueryError, match="'& !B' without WITHIN"):
        oz.query("PATTERN A & !B")


@pytest.mark.parametrize("strategy", ["strict_contiguity", "partition_contiguity", "skip_till_next_match"])
def test_it_has_a_meaning_under_skip_till_any_match_only(strategy: str) -> None:
    with pytest.raises(oz.QueryError, match=f"{strategy} with '&' or a grouping closure"):
        oz.query(f"PATTERN A & B WHERE {strategy} {{ [id] }}")
    assert found("PATTERN A & B WHERE skip_till_any_match { }", "b1 a2") == ["a2 b1"]
