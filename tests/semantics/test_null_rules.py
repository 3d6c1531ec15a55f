from __future__ import annotations

import pytest

from semantics.harness import found


def where(condition: str, events: str) -> list[str]:
    return found(f"PATTERN A a WHERE {condition}", events)


@pytest.mark.parametrize("sign", ["=", "!=", "<", "<=", ">", ">="])
def test_a_comparison_with_null_is_not_true(sign: str) -> None:
    assert where(f"a.x {sign} 1", "a1:x=null a2:x=null,y=1") == []
    assert where(f"1 {sign} a.x", "a1:x=null a2:x=null,y=1") == []
    assert where(f"a.x {sign} NULL", "a1:x=1 a2:x=null") == []


@pytest.mark.parametrize("sign", ["=", "!=", "<", "<=", ">", ">="])
def test_nor_is_its_negation(sign: str) -> None:
    assert where(f"NOT (a.x {sign} 1)", "a1:x=null") == []
    assert where(f"NOT (NOT (a.x {sign} 1))", "a1:x=null") == []


def test_null_is_not_equal_to_null() -> None:
    assert where("a.x = a.y", "a1:x=null,y=null a2:x=1,y=1") == ["a2"]
    assert where("a.x != a.y", "a1:x=null,y=null a2:x=1,y=2") == ["a2"]


def test_or_is_true_if_one_side_is_whatever_the_other() -> None:
    events = "a1:x=null,y=5 a2:x=5,y=null a3:x=null,y=0 a4:x=null,y=null"
    assert where("a.x > 1 OR a.y > 1", events) == ["a1", "a2"]


def test_and_is_false_if_one_side_is_whatever_the_other() -> None:
    events = "a1:x=null,y=5 a2:x=null,y=0 a3:x=0,y=null a4:x=5,y=0 a5:x=5,y=5"
    assert where("a.x > 1 AND a.y > 1", events) == ["a5"]
    assert where("NOT (a.x > 1 AND a.y > 1)", events) == ["a2", "a3", "a4"]


def test_not_of_or_needs_both_sides_to_be_false() -> None:
    events = "a1:x=null,y=5 a2:x=null,y=0 a3:x=0,y=0"
    assert where("NOT (a.x > 1 OR a.y > 1)", events) == ["a3"]


def test_three_valued_logic_inside_an_expression() -> None:
    # unknown AND false is false, unknown OR true is true, unknown otherwise
    events = "a1:x=null,y=0 a2:x=null,y=5"
    assert where("(a.x > 1 AND a.y > 1) = false", events) == ["a1"]
    assert where("(a.x > 1 OR a.y > 1) = true", events) == ["a2"]
    assert where("(a.x > 1 AND a.y > 1) IS NULL", events) == ["a2"]
    assert where("(NOT (a.x > 1)) IS NULL", events) == ["a1", "a2"]


def test_in_a_list_with_null_is_never_false() -> None:
    events = "a1:x=1 a2:x=2 a3:x=null"
    assert where("a.x IN (1, NULL)", events) == ["a1"]
    assert where("a.x NOT IN (1, NULL)", events) == []
    assert where("a.x NOT IN (1, 3)", events) == ["a2"]


def test_between_with_null_is_false_if_one_bound_is_missed() -> None:
    events = "a1:x=1 a2:x=7 a3:x=null"
    assert where("a.x BETWEEN 5 AND NULL", events) == []
    assert where("a.x NOT BETWEEN 5 AND NULL", events) == ["a1"]


def test_like_with_null_is_not_true() -> None:
    events = "a1:s=abc a2:s=null"
    assert where("a.s LIKE '%'", events) == ["a1"]
    assert where("a.s NOT LIKE 'x%'", events) == ["a1"]


def test_is_null_and_is_not_null() -> None:
    events = "a1:x=1 a2:x=null"
    assert where("a.x IS NULL", events) == ["a2"]
    assert where("a.x IS NOT NULL", events) == ["a1"]
    assert where("NOT (a.x IS NULL)", events) == ["a1"]
    assert where("a.x + 1 IS NULL", events) == ["a2"]


def test_a_boolean_attribute_that_is_null_is_neither_true_nor_false() -> None:
    events = "a1:flag=true a2:flag=false a3:flag=null"
    assert where("a.flag", events) == ["a1"]
    assert where("NOT a.flag", events) == ["a2"]
    assert where("a.flag OR NOT a.flag", events) == ["a1", "a2"]


def test_case_passes_over_a_condition_that_is_null() -> None:
    assert where("CASE WHEN a.x > 1 THEN false ELSE true END", "a1:x=null a2:x=5 a3:x=0") == ["a1", "a3"]


def test_null_keys_are_in_no_partition() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE [id]"
    assert found(query, "a1:id=null b2:id=null a3:id=1 b4:id=1") == ["a3 b4"]
    assert found(query, "a1:id=null b2:id=1") == []
    assert found("PATTERN SEQ(A a, B b) WHERE a.id = b.id", "a1:id=null b2:id=null c3:id=1") == []


def test_a_null_refutes_no_match() -> None:
    query = "PATTERN SEQ(A a, !(N n), B b) WHERE n.x > 1"
    assert found(query, "a1 n2:x=null b3") == ["a1 b3"]
    assert found(query, "a1 n2:x=2 b3") == []
    assert found("PATTERN SEQ(A a, !(N n), B b) WHERE [id]", "a1:id=1 n2:id=null b3:id=1") == ["a1 b3"]
