"""Names in backticks: any characters, backticks doubled, newlines too; and how they are written back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere

ODD = ["a`b", "x y", "two\nlines", "``", "it's", 'say "x"', "a.b", "ünï", "--", "/*"]


def ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def test_a_doubled_backtick_is_one() -> None:
    events = [{"ts": 1, "type": "A", "a`b": 5}]
    assert oz.match(events, "PATTERN A a WHERE a.`a``b` = 5 RETURN a.`a``b`") == [{"a`b": 5}]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_everywhere(name: str) -> None:
    events = pa.table({"ts": [1, 2], "kind": [f"{name}1", f"{name}2"], name: [7, 7]})
    tick = ticked(name)
    query = f"""
        QUERY {tick}
        PATTERN SEQ({ticked(name + "1")} {tick}, {ticked(name + "2")} b)
        WHERE [{tick}] AND {tick}.{tick} > 5 AND b.{tick} = {tick}.{tick} + 0
        WITHIN 5 RETURN {tick}.{tick}, b.ts AS {ticked(name + "!")}"""
    assert everywhere(query, events, type="kind") == [{name: 7, f"{name}!": 2}]
    assert oz.query(query).names == (name,)
    assert f"{name!r}"[1:-1].replace("\\'", "'") in oz.query(query).explain(events, type="kind")


def test_names_of_columns_are_those_of_attributes() -> None:
    events = [{"ts": 1, "type": "A", "x  y": 1}, {"ts": 2, "type": "B", "x  y": 2}]
    query = "PATTERN SEQ(A `a b`, B b) RETURN `a b`.`x  y`, b.`x  y`"
    assert oz.match(events, query) == [{"a b_x  y": 1, "b_x  y": 2}]
    query = "PATTERN SEQ(A+ `a b`[], B b) RETURN `a b`[1].`x  y`, `a b`[`a b`.LEN].`x  y`, `a b`[].`x  y`"
    assert oz.match(events, query) == [{"a b[1]_x  y": 1, "a b[a b.LEN]_x  y": 1, "a b[]_x  y": [1]}]


def test_spaces_in_texts_and_names_stay_as_they_are() -> None:
    events = [{"ts": 1, "type": "A", "s": "x  y"}]
    query = "PATTERN A a WHERE a.s = 'x  y'   -- two spaces\n  RETURN upper(a.s)  = /* and */ 'X  Y'"
    assert oz.match(events, query) == [{"upper(a.s) = 'X  Y'": True}]


@pytest.mark.parametrize(
    ("before", "after"),
    [("a.s = 'x y'", "a.s = 'x  y'"), ("a.`s t` = 1", "a.`s  t` = 1"), ("a.s = 'x\ny'", "a.s = 'x y'")],
)
def test_a_snapshot_of_another_text_is_refused(before: str, after: str) -> None:
    schema: Any = pa.schema({"ts": "int64", "type": "string", "s": "string", "s t": "int64", "s  t": "int64"})
    snapshot = oz.matcher(f"PATTERN A a WHERE {before}", schema).snapshot()
    with pytest.raises(oz.StateError, match="conditions"):
        oz.matcher(f"PATTERN A a WHERE {after}", schema).restore(snapshot)


def test_types_with_odd_names_are_told_apart_in_snapshots() -> None:
    schema: Any = pa.schema({"ts": "int64", "type": "string"})
    snapshot = oz.matcher("PATTERN `A/B` a", schema).snapshot()
    with pytest.raises(oz.StateError, match="pattern"):
        oz.matcher("PATTERN ANY(A, B) a", schema).restore(snapshot)


def test_names_with_newlines_make_no_lines_of_messages() -> None:
    with pytest.raises(oz.QueryError, match=r"unknown attribute 'a\\nb'") as error:
        oz.match([{"ts": 1, "type": "A", "x": 1}], "PATTERN A a WHERE a.`a\nb` = 1")
    assert error.value.line == 1


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("PATTERN SEQ(A a, B b) WHERE `x y` = 1", "write a.`x y`"),
        ("PATTERN SEQ(A+ a[], B b) WHERE a[].`x y` = 1", "write a[i].`x y`"),
        ("PATTERN SEQ(A a, B b) RETURN a.`x y` OUTPUT AGGREGATE", "WHERE [`x y`] makes a row"),
        ("PATTERN SEQ(`A B`, `A B`)", "write `A B` `A B2`"),
    ],
)
def test_hints_write_names_as_a_query_does(query: str, hint: str) -> None:
    with pytest.raises(oz.QueryError) as error:
        oz.match([{"ts": 1, "type": "A", "x y": 1}], query)
    assert hint in str(error.value)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("PATTERN A a WHERE a.`x = 1", "a name without an end"),
        ("PATTERN A a WHERE a.`x``", "a name without an end"),
        ("PATTERN A a WHERE a.`` = 1", "a name without characters"),
    ],
)
def test_names_that_are_none(query: str, message: str) -> None:
    with pytest.raises(oz.QueryError, match=message):
        oz.query(query)
