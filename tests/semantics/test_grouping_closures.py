from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found


def test_a_group_binds_all_events_between_its_neighbours() -> None:
    assert found("PATTERN A; B+; C", "b1 a2 b3 x4 b5 c6 b7") == ["a2 [b3 b5] c6"]


def test_there_is_one_match_for_every_pair_of_neighbours() -> None:
    assert found("PATTERN A; B+; C", "a1 b2 a3 b4 c5 c6") == [
        "a1 [b2 b4] c5",
        "a1 [b2 b4] c6",
        "a3 [b4] c5",
        "a3 [b4] c6",
    ]


def test_plus_needs_one_star_does_not() -> None:
    assert found("PATTERN A; B+; C", "a1 c2") == []
    assert found("PATTERN A; B*; C", "a1 c2 b3 c4") == ["a1 [] c2", "a1 [b3] c4"]


@pytest.mark.parametrize("group", ["B^2", "B²"])
def test_a_count_takes_every_n_successive_ones(group: str) -> None:
    assert found(f"PATTERN A; {group}; C", "a1 b2 b3 b4 c5") == ["a1 [b2 b3] c5", "a1 [b3 b4] c5"]
    assert found(f"PATTERN A; {group}; C", "a1 b2 c3") == []


def test_events_between_are_strictly_between() -> None:
    assert found("PATTERN A; B+; C", "a1 b1 b2 c3 b3") == ["a1 [b2] c3"]


def test_simultaneous_events_are_in_the_group_together() -> None:
    assert found("PATTERN A; B+; C", "a1 b2 b2' c3") == ["a1 [b2 b2'] c3"]


def test_predicates_of_the_group_alone_select_its_members() -> None:
    events = "a1 b2:x=1 b3:x=5 b4:x=1 b5:x=7 c6"
    assert found("PATTERN A; B+; C WHERE B.x > 3", events) == ["a1 [b3 b5] c6"]
    assert found("PATTERN A; B^2; C WHERE B.x > 3", events) == ["a1 [b3 b5] c6"]
    assert found("PATTERN A; B*; C WHERE B.x > 9", events) == ["a1 [] c6"]
    assert found("PATTERN A; B+ b; C WHERE b.x > 3 OR b.ts = 2", events) == ["a1 [b2 b3 b5] c6"]


def test_predicates_with_other_components_hold_for_all_members_or_there_is_no_match() -> None:
    assert found("PATTERN A; B+; C WHERE B.x > A.x", "a1:x=3 b2:x=5 b3:x=1 c4") == []
    assert found("PATTERN A; B+; C WHERE B.x > A.x", "a1:x=3 b2:x=5 b3:x=4 c4") == ["a1 [b2 b3] c4"]
    assert found("PATTERN A; B+; C WHERE C.x > B.x", "a1 b2:x=5 b3:x=1 c4:x=3 c5:x=9") == ["a1 [b2 b3] c5"]


def test_predicates_on_aggregates_are_about_the_whole_group() -> None:
    events = "a1:x=5 b2:x=2 b3:x=4 c4 b5:x=9 c6"
    assert found("PATTERN A; B+; C WHERE sum(B.x) > 10", events) == ["a1 [b2 b3 b5] c6"]
    assert found("PATTERN A; B+; C WHERE avg(B.x) < A.x", events) == ["a1 [b2 b3] c4"]
    assert found("PATTERN A; B^2; C WHERE sum(B.x) > 10", events) == ["a1 [b3 b5] c6"]
    assert found("PATTERN A; B+ b; C WHERE b.LEN = 2", events) == ["a1 [b2 b3] c4"]
    assert found("PATTERN A; B+ b; C WHERE count(b) > 2", events) == ["a1 [b2 b3 b5] c6"]


def test_only_events_of_the_partition_are_in_the_group() -> None:
    events = "a1:id=1 b2:id=1 b3:id=2 b4:id=null b5:id=1 c6:id=1"
    assert found("PATTERN A; B+; C WHERE [id]", events) == ["a1 [b2 b5] c6"]


def test_the_window_spans_the_whole_match() -> None:
    assert found("PATTERN A; B+; C WITHIN 4", "a1 a2 b3 c5") == ["a2 [b3] c5"]


def test_a_group_at_the_end_has_one_match_per_possible_last_event() -> None:
    assert found("PATTERN A; B+", "a1 b2 b3") == ["a1 [b2 b3]", "a1 [b2]"]
    assert found("PATTERN A; B*", "a1 b2") == ["a1 []", "a1 [b2]"]
    assert found("PATTERN A; B^2", "a1 b2 b3 b4") == ["a1 [b2 b3]", "a1 [b3 b4]"]
    assert found("PATTERN A; B+ WITHIN 3", "a1 b2 b3 b4") == ["a1 [b2 b3]", "a1 [b2]"]
    assert found("PATTERN A; B+", "a1 b2 b2' b3") == ["a1 [b2 b2' b3]", "a1 [b2 b2']"]


def test_a_group_at_the_start_takes_all_events_in_the_window_of_the_end() -> None:
    assert found("PATTERN B+; C", "b1 b2 c3") == ["[b1 b2] c3"]
    assert found("PATTERN B+; C WITHIN 3", "b1 b2 b3 c4") == ["[b2 b3] c4"]
    assert found("PATTERN B+; C WITHIN 3 INCLUSIVE", "b1 b2 b3 c4") == ["[b1 b2 b3] c4"]
    assert found("PATTERN B+; C; D WITHIN 3", "b1 b2 c3 d4") == ["[b2] c3 d4"]
    assert found("PATTERN B*; C WITHIN 3", "b1 c4") == ["[] c4"]
    assert found("PATTERN B^2; C WITHIN 4", "b1 b2 b3 b4 c5") == ["[b2 b3] c5", "[b3 b4] c5"]


def test_groups_at_both_ends() -> None:
    assert found("PATTERN A+; B; C+ WITHIN 4", "a1 a2 b3 c4 c5") == ["[a1 a2] b3 [c4]", "[a2] b3 [c4 c5]"]


def test_a_group_alone() -> None:
    assert found("PATTERN B+ WITHIN 3", "b1 b2 b5") == ["[b1 b2]", "[b1]", "[b5]"]
    assert found("PATTERN B^2", "b1 b2 b3") == ["[b1 b2]", "[b2 b3]"]


def test_negation_beside_a_group() -> None:
    assert found("PATTERN A; !N; B+; C", "a1 n2 b3 c4") == []
    assert found("PATTERN A; !N; B+; C", "a1 b2 n3 c4") == ["a1 [b2] c4"]
    assert found("PATTERN A; B+; !N; C", "a1 n2 b3 c4") == ["a1 [b3] c4"]
    assert found("PATTERN A; B+; !N; C", "a1 b2 n3 c4") == []


def test_negation_beside_an_empty_group() -> None:
    assert found("PATTERN A; B*; !N; C", "a1 n2 c3") == []
    assert found("PATTERN A; B*; !N; C", "a1 n2 b3 c4") == ["a1 [b3] c4"]


def test_groups_beside_conjunctions_and_alternatives() -> None:
    assert found("PATTERN (A & X); B+; C", "b1 a2 b3 x4 b5 c6") == ["a2 x4 [b5] c6"]
    assert found("PATTERN A; B+; (C | D)", "a1 b2 c3 b4 d5") == ["a1 [b2 b4] - d5", "a1 [b2] c3 -"]
    assert found("PATTERN A; (B+ | C); D", "a1 b2 c3 b4 d5") == ["a1 - c3 d5", "a1 [b2 b4] - d5"]


def test_an_array_variable_makes_it_a_sase_closure() -> None:
    expected = ["a1 [b2 b3] c4", "a1 [b2] c4", "a1 [b3] c4"]
    assert found("PATTERN A; B+ b[]; C", "a1 b2 b3 c4") == expected
    assert found("PATTERN SEQ(A, B+, C)", "a1 b2 b3 c4") == expected
    assert found("PATTERN A; B+ b; C", "a1 b2 b3 c4") == ["a1 [b2 b3] c4"]


@pytest.mark.parametrize("strategy", ["strict_contiguity", "partition_contiguity", "skip_till_next_match"])
def test_it_has_a_meaning_under_skip_till_any_match_only(strategy: str) -> None:
    with pytest.raises(oz.QueryError, match=f"{strategy} with '&' or a grouping closure"):
        oz.query(f"PATTERN A; B+; C WHERE {strategy} {{ [id] }}")


def test_a_group_inside_a_conjunction_has_the_outer_neighbours() -> None:
    assert found("PATTERN ((A; B+) & D); E", "a1 b2 d3 e4 b5") == ["a1 [b2] d3 e4"]
    assert found("PATTERN X; ((B+; A) & D)", "b1 x2 b3 a4 d5") == ["x2 [b3] a4 d5"]
