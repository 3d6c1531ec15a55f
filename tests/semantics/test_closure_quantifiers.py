from __future__ import annotations

import pytest

import ouzel as oz
from semantics.harness import found, rows

AROUND = "PATTERN SEQ(A a, B* b[], C c)"


def closure(quantifier: str, events: str) -> list[str]:
    return found(f"PATTERN SEQ(A{quantifier} a[], B b)", events)


def test_plus_takes_one_or_more() -> None:
    assert closure("+", "b1 a2 a3 b4") == ["[a2 a3] b4", "[a2] b4", "[a3] b4"]


def test_star_takes_none_or_more() -> None:
    assert closure("*", "b1 a2 b3") == ["[] b1", "[] b3", "[a2] b3"]


def test_a_question_mark_takes_one_or_none_and_its_variable_is_no_list() -> None:
    assert found("PATTERN SEQ(A? a, B b)", "b1 a2 a3 b4") == ["- b1", "- b4", "a2 b4", "a3 b4"]


def test_n_takes_exactly_n() -> None:
    assert closure("{2}", "a1 a2 a3 b4") == ["[a1 a2] b4", "[a1 a3] b4", "[a2 a3] b4"]
    assert closure("{2}", "a1 b2") == []


def test_n_and_more() -> None:
    assert closure("{2,}", "a1 a2 a3 b4") == ["[a1 a2 a3] b4", "[a1 a2] b4", "[a1 a3] b4", "[a2 a3] b4"]
    assert closure("{0,}", "b1 a2 b3") == closure("*", "b1 a2 b3")
    assert closure("{1,}", "b1 a2 b3") == closure("+", "b1 a2 b3")


def test_n_to_m() -> None:
    assert closure("{1,2}", "a1 a2 a3 b4") == [
        "[a1 a2] b4",
        "[a1 a3] b4",
        "[a1] b4",
        "[a2 a3] b4",
        "[a2] b4",
        "[a3] b4",
    ]
    assert closure("{0,1}", "a1 b2") == ["[] b2", "[a1] b2"]
    assert closure("{2,3}", "a1 a2 b3") == ["[a1 a2] b3"]


def test_a_closure_over_any() -> None:
    query = "PATTERN SEQ(ANY(A, B)+ v[], C c) WHERE skip_till_next_match { }"
    assert found(query, "a1 b2 c3") == ["[a1 b2] c3", "[b2] c3"]


def test_a_closure_over_a_group_is_an_error() -> None:
    with pytest.raises(oz.QueryError, match="a closure '\\+' over a group in parentheses"):
        oz.query("PATTERN SEQ((A a; B b)+, C c)")


def test_a_closure_at_the_end_reports_every_prefix_that_is_complete() -> None:
    assert found("PATTERN SEQ(A a, B{2,} b[])", "a1 b2 b3 b4") == [
        "a1 [b2 b3 b4]",
        "a1 [b2 b3]",
        "a1 [b2 b4]",
        "a1 [b3 b4]",
    ]
    ended = "PATTERN SEQ(A a, B{1,2} b[]) WHERE skip_till_next_match { }"
    assert found(ended, "a1 b2 b3 b4") == ["a1 [b2 b3]", "a1 [b2]"]


def test_proceed_predicates_say_which_prefixes_are_complete() -> None:
    events = "a1 b2:x=2 b3:x=2 b4:x=2"
    ended = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match"
    assert found(f"{ended} {{ b.LEN = 2 }}", events) == ["a1 [b2 b3]"]
    assert found(f"{ended} {{ sum(b[].x) > 3 }}", events) == ["a1 [b2 b3 b4]", "a1 [b2 b3]"]
    assert found(f"{ended} {{ b[b.LEN].x > 2 }}", events) == []


def test_components_at_the_end_that_may_be_empty() -> None:
    assert found("PATTERN SEQ(A a, B? b)", "a1 b2") == ["a1 -", "a1 b2"]
    assert found("PATTERN SEQ(A a, B* b[], C* c[])", "a1 b2 c3") == [
        "a1 [] []",
        "a1 [] [c3]",
        "a1 [b2] []",
        "a1 [b2] [c3]",
    ]


def test_components_at_the_start_that_may_be_empty() -> None:
    assert found("PATTERN SEQ(A* a[], B? b, C c)", "a1 c2") == ["[] - c2", "[a1] - c2"]


def test_a_match_binds_an_event() -> None:
    assert found("PATTERN SEQ(A* a[], B? b)", "a1 b2 x3") == ["[] b2", "[a1] -", "[a1] b2"]


def test_a_conjunct_on_the_elements_of_an_empty_closure_is_not_applied() -> None:
    events = "a1:x=9 b2:x=1 c3:x=0"
    for condition in (
        "b[1].x > 5",
        "b[i].x > 5",
        "b.x > 5",
        "b[b.LEN].x > 5",
        "c.x > b[1].x",
        "c.x > b[i].x",
        "b[1].x > 5 OR c.x > 5",
    ):
        assert found(f"{AROUND} WHERE {condition}", events) == ["a1 [] c3"]


def test_a_conjunct_on_an_optional_variable_that_is_null_is_not_applied() -> None:
    events = "a1 b2:x=1 c3:x=0"
    for condition in ("b.x > 5", "c.x > b.x", "b.x > 5 OR c.x > 5"):
        assert found(f"PATTERN SEQ(A a, B? b, C c) WHERE {condition}", events) == ["a1 - c3"]


def test_the_length_of_an_empty_closure_is_zero() -> None:
    assert found(f"{AROUND} WHERE b.LEN = 0", "a1 b2 c3") == ["a1 [] c3"]
    assert found(f"{AROUND} WHERE b.LEN > 0", "a1 b2 c3") == ["a1 [b2] c3"]
    assert rows(f"{AROUND} RETURN b.LEN AS n", "a1 c2") == [{"n": 0}]


def test_aggregates_of_an_empty_closure_have_a_value_or_are_null() -> None:
    events = "a1 b2:x=1 c3"
    assert found(f"{AROUND} WHERE count(b[]) = 0", events) == ["a1 [] c3"]
    assert found(f"{AROUND} WHERE count(b[].x) > 0", events) == ["a1 [b2] c3"]
    assert found(f"{AROUND} WHERE sum(b[].x) > 0", events) == ["a1 [b2] c3"]
    assert found(f"{AROUND} WHERE sum(b[].x) IS NULL", events) == ["a1 [] c3"]
    assert found(f"{AROUND} WHERE coalesce(max(b[].x), 7) = c.ts + 4", events) == ["a1 [] c3"]
