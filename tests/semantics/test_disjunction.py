from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found, rows

CHOICE = "PATTERN SEQ(A a, (B b | C c), D d)"


def test_either_and_the_variable_of_the_other_is_null() -> None:
    assert found("PATTERN A | B", "a1 b2 c3") == ["- b2", "a1 -"]
    assert found("PATTERN A | B | C", "c1") == ["- - c1"]
    assert rows("PATTERN A a | B b RETURN a.ts AS a, b.ts AS b", "b1") == [{"a": None, "b": 1}]


def test_in_a_sequence() -> None:
    assert found(CHOICE, "a1 b2 c3 d4") == ["a1 - c3 d4", "a1 b2 - d4"]
    assert found(CHOICE, "b1 a2 d3") == []


def test_it_binds_tighter_than_a_sequence() -> None:
    assert found("PATTERN A; B | C; D", "a1 b2 c3 d4") == ["a1 - c3 d4", "a1 b2 - d4"]


def test_at_the_start_and_at_the_end() -> None:
    assert found("PATTERN (A | B); C", "a1 b2 c3") == ["- b2 c3", "a1 - c3"]
    assert found("PATTERN C; (A | B)", "c1 a2 b3") == ["c1 - b3", "c1 a2 -"]


def test_a_conjunct_that_mentions_an_unbound_variable_is_not_applied() -> None:
    query = "PATTERN A a | B b WHERE a.x > 5 AND b.x < 3"
    assert found(query, "a1:x=9 a2:x=1 b3:x=9 b4:x=1") == ["- b4", "a1 -"]
    assert found("PATTERN A a | B b WHERE a.x = b.x", "a1:x=1 b2:x=2") == ["- b2", "a1 -"]


def test_nor_if_it_mentions_other_variables_too() -> None:
    events = "a1 b2:x=1 c3:x=1 d4:x=0"
    assert found(f"{CHOICE} WHERE d.x > b.x", events) == ["a1 - c3 d4"]
    assert found(f"{CHOICE} WHERE b.x > 5 OR d.x > 5", events) == ["a1 - c3 d4"]


def test_a_test_for_null_is_not_applied_either() -> None:
    assert found(f"{CHOICE} WHERE b.x IS NULL", "a1 b2:x=1 c3:x=1 d4:x=0") == ["a1 - c3 d4"]
    assert found(f"{CHOICE} WHERE b.x IS NOT NULL", "a1 c3:x=1 d4:x=0") == ["a1 - c3 d4"]


def test_sequences_as_alternatives() -> None:
    query = "PATTERN A; ((B; C) | D); E"
    assert found(query, "a1 b2 d3 c4 e5") == ["a1 - - d3 e5", "a1 b2 c4 - e5"]
    assert found(query, "a1 c2 b3 e4") == []
    assert found("PATTERN (A; B) | (B x; A y)", "a1 b2 a3") == ["- - b2 a3", "a1 b2 - -"]


def test_closures_in_alternatives() -> None:
    query = "PATTERN SEQ(A a, (B+ b[] | C c), D d)"
    assert found(query, "a1 b2 b3 c4 d5") == ["a1 - c4 d5", "a1 [b2 b3] - d5", "a1 [b2] - d5", "a1 [b3] - d5"]


def test_the_closure_that_is_not_chosen_is_null_not_empty() -> None:
    query = "PATTERN SEQ(A a, (B* b[] | C c), D d)"
    assert found(query, "a1 c2 d3") == ["a1 - c2 d3", "a1 [] - d3"]


def test_an_alternative_of_an_alternative() -> None:
    assert found("PATTERN A; (B | (C | D))", "a1 b2 c3 d4") == ["a1 - - d4", "a1 - c3 -", "a1 b2 - -"]


def test_alternatives_with_predicates_between_them_and_others() -> None:
    query = f"{CHOICE} WHERE b.x > a.x AND c.x < a.x AND d.x = 1"
    events = "a1:x=5 b2:x=7 b3:x=3 c4:x=7 c5:x=3 d6:x=1 d7:x=0"
    assert found(query, events) == ["a1 - c5 d6", "a1 b2 - d6"]


def test_an_equivalence_test_covers_the_alternative_that_is_bound() -> None:
    assert found(f"{CHOICE} WHERE [id]", "a1:id=1 b2:id=1 c3:id=2 d4:id=1") == ["a1 b2 - d4"]


def test_the_window_spans_the_alternative_that_is_bound() -> None:
    assert found("PATTERN (A | B); C WITHIN 3", "a1 b2 c4") == ["- b2 c4"]


def test_negation_inside_an_alternative() -> None:
    query = "PATTERN A; ((B; !N; C) | D); E"
    assert found(query, "a1 b2 n3 c4 d5 e6") == ["a1 - - d5 e6"]


def test_negation_beside_an_alternative() -> None:
    query = "PATTERN A; !N; (B | C); D"
    assert found(query, "a1 b2 n3 c4 d5") == ["a1 b2 - d5"]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("strict_contiguity", []),
        ("partition_contiguity", []),
        ("skip_till_next_match", ["a1 b2 - d5"]),
        ("skip_till_any_match", ["a1 - c4 d5", "a1 b2 - d5"]),
    ],
)
def test_under_every_strategy(strategy: str, expected: list[str]) -> None:
    events = "a1:id=1 b2:id=1 x3:id=2 c4:id=1 d5:id=1"
    query = f"{CHOICE} WHERE {strategy} {{ [id] }}"
    assert found(query, events) == expected
    assert found(query, "a1:id=1 c2:id=1 d3:id=1") == ["a1 - c2 d3"]


def test_a_negative_component_is_no_alternative() -> None:
    with pytest.raises(oz.QueryError, match=r"a negative component as an alternative of '\|'"):
        oz.query("PATTERN A; (!B | C); D")
