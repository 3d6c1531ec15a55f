from __future__ import annotations

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.harness import rows, stream

PAIR = "PATTERN SEQ(A a, B b)"
CLOSURE = "PATTERN SEQ(A{2} a[], B b)"
EVENTS = "a1:x=1 b2:x=5"


def test_without_return_a_match_has_its_start_end_and_variables() -> None:
    assert rows("PATTERN SEQ(A a, !(N n), B+ b[])", "a1 b2") == [
        {
            "start": 1,
            "end": 2,
            "a": {"eid": "a1", "type": "A", "ts": 1},
            "b": [{"eid": "b2", "type": "B", "ts": 2}],
        }
    ]


def test_an_attribute_is_a_column_of_its_name() -> None:
    assert rows(f"{PAIR} RETURN a.x, b.eid", EVENTS) == [{"x": 1, "eid": "b2"}]


def test_attributes_of_one_name_are_told_apart_by_their_variables() -> None:
    assert rows(f"{PAIR} RETURN a.x, b.x", EVENTS) == [{"a_x": 1, "b_x": 5}]


def test_as_names_a_column() -> None:
    assert rows(f"{PAIR} RETURN a.x AS before, b.x AS after", EVENTS) == [{"before": 1, "after": 5}]
    assert rows(f"{PAIR} RETURN a.x AS before, b.x", EVENTS) == [{"before": 1, "x": 5}]


def test_an_expression_is_a_column_of_its_text() -> None:
    assert rows(f"{PAIR} RETURN b.x - a.x, upper(a.eid)", EVENTS) == [{"b.x - a.x": 4, "upper(a.eid)": "A1"}]


def test_constants() -> None:
    assert rows(f"{PAIR} RETURN 'theft' AS kind, 2 AS level, true AS sure", EVENTS) == [
        {"kind": "theft", "level": 2, "sure": True}
    ]


def test_a_whole_variable_is_a_struct() -> None:
    assert rows(f"{PAIR} RETURN a, b AS last", EVENTS) == [
        {
            "a": {"eid": "a1", "type": "A", "ts": 1, "x": 1},
            "last": {"eid": "b2", "type": "B", "ts": 2, "x": 5},
        }
    ]


def test_a_whole_closure_is_a_list_of_structs() -> None:
    elements = [{"eid": "a1", "type": "A", "ts": 1}, {"eid": "a2", "type": "A", "ts": 2}]
    assert rows(f"{CLOSURE} RETURN a", "a1 a2 b3") == [{"a": elements}]
    assert rows(f"{CLOSURE} RETURN a[] AS all", "a1 a2 b3") == [{"all": elements}]


def test_an_attribute_of_a_closure_is_a_list() -> None:
    events = "a1:x=1 a2:x=null b3"
    assert rows(f"{CLOSURE} RETURN a[].x", events) == [{"x": [1, None]}]
    assert rows(f"{CLOSURE} RETURN a.x AS xs", events) == [{"xs": [1, None]}]


def test_elements_and_the_length_of_a_closure() -> None:
    items = "a[1].x AS first, a[a.LEN].x AS last, a.LEN AS n, count(a[]) AS count, a[1].x + b.x AS sum"
    assert rows(f"{CLOSURE} RETURN {items}", "a1:x=1 a2:x=2 b3:x=3") == [
        {"first": 1, "last": 2, "n": 2, "count": 2, "sum": 4}
    ]


def test_the_time_at_which_a_variable_starts_and_ends() -> None:
    assert rows(f"{CLOSURE} RETURN start(a), end(a), start(b), end(b)", "a1 a3 b7") == [
        {"start(a)": 1, "end(a)": 3, "start(b)": 7, "end(b)": 7}
    ]
    assert rows(f"{CLOSURE} RETURN start(a[a.LEN]) AS s, end(a[1]) AS e", "a1 a3 b7") == [{"s": 3, "e": 1}]


def test_a_variable_that_is_not_bound_is_null() -> None:
    items = "b, b.ts AS ts, start(b) AS s, b.ts + 1 AS sum"
    nothing = {"b": None, "ts": None, "s": None, "sum": None}
    assert rows(f"PATTERN SEQ(A a, B? b) RETURN {items}", "a1") == [nothing]
    assert rows(f"PATTERN A a | B b RETURN {items}", "a1") == [nothing]


def test_an_empty_closure_is_an_empty_list_and_has_no_elements() -> None:
    items = "b, b[].ts AS times, b[1].ts AS first, b[b.LEN].ts AS last, start(b) AS s"
    assert rows(f"PATTERN SEQ(A a, B* b[]) RETURN {items}", "a1") == [
        {"b": [], "times": [], "first": None, "last": None, "s": None}
    ]


def test_a_closure_that_is_not_chosen_is_null() -> None:
    query = "PATTERN A a | SEQ(B b, C+ c[]) RETURN c, c[].ts AS times, count(c[]) AS n"
    assert rows(query, "a1") == [{"c": None, "times": None, "n": None}]


def test_a_grouping_closure_is_a_list() -> None:
    assert rows("PATTERN A; B+; C RETURN B.x, sum(B.x) AS sum", "a1 b2:x=1 b3:x=2 c4") == [{"x": [1, 2], "sum": 3}]


def test_every_match_is_a_row_even_if_it_looks_like_another() -> None:
    assert rows(f"{PAIR} RETURN a.x", "a1:x=7 a2:x=7 b3") == [{"x": 7}, {"x": 7}]


def test_columns_keep_their_types() -> None:
    types = {"ts": pa.int32(), "x": pa.int16(), "y": pa.float32(), "type": pa.dictionary(pa.int32(), pa.string())}
    events = pa.Table.from_pylist([{"ts": 1, "x": 1, "y": 0.5, "type": "A"}], pa.schema(types))
    result = oz.match(
        events, "PATTERN SEQ(A+ a[]) RETURN a[1].x, a[].y AS ys, a[1].type, start(a) AS s, a.LEN AS n"
    )
    assert dict(zip(result.schema.names, result.schema.types, strict=True)) == {
        "x": pa.int16(),
        "ys": pa.list_(pa.float32()),
        "type": pa.dictionary(pa.int32(), pa.string()),
        "s": pa.int32(),
        "n": pa.int64(),
    }


def test_the_columns_are_there_when_there_is_no_match() -> None:
    events = pa.Table.from_pylist(stream("a1:x=1 b2:x=2"))
    result = oz.match(events, "PATTERN SEQ(B b, A a) RETURN b.x, a, a.x / b.x AS ratio, a.ts < b.ts AS late")
    assert result.num_rows == 0
    assert result.schema.names == ["x", "a", "ratio", "late"]
    assert result.schema.field("ratio").type == pa.float64()
    assert result.schema.field("late").type == pa.bool_()


def test_negative_components_have_nothing_to_return() -> None:
    with pytest.raises(oz.QueryError, match="'n' is a negative component and binds no event"):
        oz.query("PATTERN SEQ(A a, !(N n), B b) RETURN n.x")


def test_two_columns_of_one_name_are_an_error() -> None:
    with pytest.raises(oz.QueryError, match="two columns of RETURN are called 'x'"):
        oz.query(f"{PAIR} RETURN a.x AS x, b.x AS x")
