"""RETURN a.* and RETURN *: every attribute, in the order of the input."""

from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere
from semantics.harness import rows, tables

PAIR = "PATTERN SEQ(A a, B b)"
EVENTS = pa.table({"ts": [1, 2, 3], "type": list("AAB"), "y": [5, 6, 7], "x": ["p", None, "q"]})


def test_every_attribute_of_a_variable() -> None:
    assert everywhere(f"{PAIR} WITHIN 5 RETURN a.*", EVENTS, runs_on="scan") == [
        {"a_ts": 1, "a_type": "A", "a_y": 5, "a_x": "p"},
        {"a_ts": 2, "a_type": "A", "a_y": 6, "a_x": None},
    ]


def test_every_attribute_of_every_variable() -> None:
    found = everywhere("PATTERN SEQ(A+ a[], !(C c), B b) WITHIN 5 RETURN *", EVENTS, runs_on="automaton")
    assert list(found[0]) == ["a_ts", "a_type", "a_y", "a_x", "b_ts", "b_type", "b_y", "b_x"]
    assert {tuple(row["a_y"]) for row in found} == {(5,), (6,), (5, 6)}
    assert {row["b_x"] for row in found} == {"q"}


def test_beside_other_columns() -> None:
    query = f"{PAIR} RETURN a.*, b.ts AS t, b.y - a.y AS rise, a.x"
    assert oz.match(EVENTS, query).column_names == ["a_ts", "a_type", "a_y", "a_x", "t", "rise", "x"]


def test_of_a_closure_and_of_one_of_its_elements() -> None:
    closure = "PATTERN SEQ(A{2} a[], B b)"
    assert rows(f"{closure} RETURN a[].*", "a1 a2 b3")[0]["a_eid"] == ["a1", "a2"]
    assert rows(f"{closure} RETURN a[1].*", "a1 a2 b3") == [{"a[1]_eid": "a1", "a[1]_type": "A", "a[1]_ts": 1}]
    assert rows(f"{closure} RETURN a[a.LEN].*", "a1 a2 b3")[0] == {
        "a[a.LEN]_eid": "a2",
        "a[a.LEN]_type": "A",
        "a[a.LEN]_ts": 2,
    }


def test_of_what_is_not_bound() -> None:
    assert rows("PATTERN SEQ(A a, B? b) RETURN b.*", "a1") == [{"b_eid": None, "b_type": None, "b_ts": None}]
    assert rows("PATTERN A a | B b RETURN b.*", "a1") == [{"b_eid": None, "b_type": None, "b_ts": None}]


def test_types_with_their_own_attributes() -> None:
    assert rows(f"{PAIR} RETURN *", tables("a1:x=1 b2:y=2")) == [
        {"a_eid": "a1", "a_ts": 1, "a_x": 1, "b_eid": "b2", "b_ts": 2, "b_y": 2}
    ]
    assert rows("PATTERN ANY(A, B) c RETURN c.*", tables("a1:x=1 b2:y=2")) == [
        {"c_eid": "a1", "c_ts": 1, "c_x": 1, "c_y": None},
        {"c_eid": "b2", "c_ts": 2, "c_x": None, "c_y": 2},
    ]


def test_declared_types() -> None:
    events = EVENTS.append_column("z", [[1, 2, 3]])
    found = oz.match(events, f"{PAIR} RETURN *", types={"A": ["x"], "B": ["z", "y"]})
    assert found.column_names == ["a_ts", "a_type", "a_x", "b_ts", "b_type", "b_z", "b_y"]


def test_into() -> None:
    query = f"QUERY p {PAIR} WITHIN 5 RETURN a.* INTO P  QUERY q PATTERN P p WHERE p.a_y > 5 RETURN p.*"
    assert rows(query, EVENTS, of="q") == [{"p_a_ts": 2, "p_a_type": "A", "p_a_y": 6, "p_a_x": None}]


def test_without_data_the_columns_are_not_known() -> None:
    query = oz.query(f"{PAIR} RETURN a.*, b.y")
    assert "a.*, y" in query.explain()
    assert "a_ts, a_type, a_y, a_x, y" in query.explain(EVENTS)
    assert "a.*, b.*" in oz.query(f"{PAIR} RETURN *").explain()
    assert oz.match([], query) == []


def test_names_in_backticks() -> None:
    events = [{"ts": 1, "type": "A", "my x": 2}]
    assert oz.match(events, "PATTERN A `my a` RETURN `my a`.*") == [
        {"my a_ts": 1, "my a_type": "A", "my a_my x": 2}
    ]


@pytest.mark.parametrize(
    ("items", "message", "hint"),
    [
        ("a.*, b.y AS a_y", "two columns of RETURN are called 'a_y'", "leave one out, or name one with AS"),
        ("a.*, a.*", "two columns of RETURN are called 'a.*'", "leave one out, or name one with AS"),
        ("*, a.*", "two columns of RETURN are called 'a.*'", "leave one out, or name one with AS"),
        ("c.*", "'c' is a negative component and binds no event", None),
        ("d.*", "unknown variable 'd'", None),
        ("a[1].*", "the index [1] on 'a', which is no closure", None),
        ("a.* AS x", "unexpected 'AS'", "a.* makes several columns, called a_x, a_y, …: name single ones with AS"),
        ("* AS x", "unexpected 'AS'", "a.* makes several columns, called a_x, a_y, …: name single ones with AS"),
        ("count(a.*)", "unexpected '*'", "a.* stands in RETURN alone; count(*) counts matches, count(a[]) events"),
    ],
)
def test_what_is_wrong_is_said(items: str, message: str, hint: str | None) -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.match(EVENTS, f"PATTERN SEQ(A a, !(C c), B b) WITHIN 5 RETURN {items}")
    assert error.value.message == message
    assert hint is None or error.value.hint == hint


def test_two_variables_that_make_one_name() -> None:
    events = [{"ts": 1, "type": "A", "b_ts": 1}]
    with pytest.raises(oz.QueryError, match="two columns of RETURN are called 'a_b_ts'"):
        oz.match(events, "PATTERN SEQ(A a, A a_b) RETURN *")


def test_not_in_where_and_not_under_aggregate() -> None:
    with pytest.raises(oz.QueryError, match="unexpected"):
        oz.query("PATTERN A a WHERE a.* = 1")
    with pytest.raises(oz.QueryError, match=r"'a\.\*' is no aggregate over matches"):
        oz.query("PATTERN A a RETURN a.* OUTPUT AGGREGATE")
