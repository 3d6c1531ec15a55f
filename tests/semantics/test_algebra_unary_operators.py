"""σ, π, ρ and α: what they keep, in which order, under which names (Cayuga 2.1, 2.4)."""

from __future__ import annotations

import ouzel as oz
from semantics.algebra import A, S, given
from semantics.harness import rows


def test_the_attributes_of_a_stream_are_all_columns_but_time_and_type() -> None:
    assert rows(A, "a1:x=5,y=2 b2:x=1") == [{"eid": "a1", "x": 5, "y": 2, "start": 1, "end": 1}]


def test_all_events() -> None:
    assert given(S.select("x"), "a1:x=5 b2:x=1") == ["5 [1, 1]", "1 [2, 2]"]


def test_without_a_type_column_every_stream_is_of_all_events() -> None:
    assert given(A, [{"ts": 1, "x": 5}, {"ts": 2, "x": 1}]) == ["5 [1, 1]", "1 [2, 2]"]


def test_where_keeps_what_is_true() -> None:
    assert given(A.where("x > 1").select("x"), "a1:x=5 a2:x=1 a3:x=null") == ["5 [1, 1]"]


def test_select_orders_as_listed() -> None:
    assert rows(A.select("y", "x"), "a1:x=5,y=2") == [{"y": 2, "x": 5, "start": 1, "end": 1}]


def test_rename_keeps_places() -> None:
    found = rows(A.select("x", "y").rename(z="x"), "a1:x=5,y=2")
    assert list(found[0]) == ["z", "y", "start", "end"]


def test_rename_acts_at_once() -> None:
    assert given(A.select("x", "y").rename(x="y", y="x"), "a1:x=5,y=2") == ["5 2 [1, 1]"]


def test_extend_appends() -> None:
    assert given(A.select("x").extend(y="x + 1", z="-x"), "a1:x=5") == ["5 6 -5 [1, 1]"]


def test_extend_replaces_in_place() -> None:
    assert given(A.select("x", "y").extend(x="x + y"), "a1:x=5,y=2") == ["7 2 [1, 1]"]


def test_extend_acts_at_once() -> None:
    assert given(A.select("x", "y").extend(x="y", y="x"), "a1:x=5,y=2") == ["2 5 [1, 1]"]


def test_prefixed_names() -> None:
    found = rows(A.select("x", "y").prefixed("S1").where("S1.x > `S1.y`"), "a1:x=5,y=2 a2:x=1,y=2")
    assert found == [{"S1.x": 5, "S1.y": 2, "start": 1, "end": 1}]


def test_prefixed_twice() -> None:
    assert list(rows(A.select("x").prefixed("S").prefixed("T"), "a1:x=5")[0]) == ["T.S.x", "start", "end"]


def test_a_column_called_last_is_an_attribute_like_any_other() -> None:
    assert given(A.select("last").where("last > 1"), "a1:last=5") == ["5 [1, 1]"]
    assert given(A.select("last").prefixed("p").where("p.last > 1"), "a1:last=5") == ["5 [1, 1]"]


def test_names_in_backticks() -> None:
    events = [{"ts": 1, "type": "A", "my x": 5}]
    assert given(A.where("`my x` = 5").rename(**{"my y": "my x"}).where("`my y` > 4"), events) == ["5 [1, 1]"]


def test_functions_and_cases() -> None:
    value = "CASE WHEN x > 3 THEN upper(eid) ELSE coalesce(eid, '') END"
    assert given(A.extend(e=value).select("e"), "a1:x=5 a2:x=1") == ["A1 [1, 1]", "a2 [2, 2]"]


def test_functions_that_users_register() -> None:
    oz.register_function("thrice", lambda x: 3 * x, returns="integer")
    assert given(A.extend(y="thrice(x)").select("y"), "a1:x=5") == ["15 [1, 1]"]


def test_types_that_are_declared() -> None:
    events = [{"ts": 1, "type": "A", "x": 1, "y": 2}, {"ts": 2, "type": "B", "x": 3, "y": 4}]
    types = {"A": ["x"], "B": ["x", "y"]}
    assert given(A, events, types=types) == ["1 [1, 1]"]
    assert given(S, events, types=types) == ["1 - [1, 1]", "3 4 [2, 2]"]


def test_one_table_per_type() -> None:
    events = {"A": [{"ts": 1, "x": 1}], "B": [{"ts": 2, "y": 2}]}
    assert given(oz.stream("B"), events) == ["2 [2, 2]"]
    assert given(S, events) == ["1 - [1, 1]", "- 2 [2, 2]"]
