"""ANY over composite and primitive types: an attribute of one type of value is read from either."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import pushed

ROWS = [
    {"ts": 1, "type": "A", "k": "u", "x": 3, "f": 1.5},
    {"ts": 2, "type": "B", "k": "u", "x": 4, "f": 2.5},
    {"ts": 3, "type": "T", "k": "u", "x": 5, "f": 3.5},
    {"ts": 4, "type": "T", "k": "v", "x": 6, "f": 4.5},
    {"ts": 5, "type": "D", "k": "u", "x": 9, "f": 0.5},
]
MADE = "QUERY one PATTERN SEQ(A a, B b) WITHIN 9 RETURN a.k AS k, a.x + b.x AS x, a.ts AS ts, b.f AS f INTO C\n"


def found(query: str, **options: Any) -> Any:
    return oz.match(ROWS, f"{MADE}QUERY two {query}", **options)["two"]


CASES = {
    "returned": ("PATTERN ANY(T, C) v RETURN v.x AS x", [{"x": 7}, {"x": 5}, {"x": 6}]),
    "compared": ("PATTERN ANY(T, C) v WHERE v.x >= 6 RETURN v.x AS x", [{"x": 7}, {"x": 6}]),
    "with another": (
        "PATTERN SEQ(ANY(T, C) v, D d) WHERE v.k = d.k RETURN v.x AS x, d.x AS d",
        [{"x": 7, "d": 9}, {"x": 5, "d": 9}],
    ),
    "the same": ("PATTERN SEQ(ANY(T, C) v, D d) WHERE [k] RETURN v.x AS x", [{"x": 7}, {"x": 5}]),
    "a closure": (
        "PATTERN SEQ(ANY(T, C)+ v[], D d) WHERE skip_till_next_match { v[i].x != v[i-1].x } "
        "RETURN v[].x AS x, sum(v[].x) AS n, max(v[].f) AS f",
        [{"x": [7, 5, 6], "n": 18, "f": 4.5}, {"x": [5, 6], "n": 11, "f": 4.5}, {"x": [6], "n": 6, "f": 4.5}],
    ),
    "a negative component": (
        "PATTERN SEQ(A a, !(ANY(T, C) v), D d) WHERE v.x = 7 WITHIN 9 RETURN d.x AS x",
        [{"x": 9}],
    ),
    "the time": ("PATTERN ANY(T, C) v WHERE v.ts < 4 RETURN v.ts AS ts", [{"ts": 1}, {"ts": 3}]),
    "totals": ("PATTERN ANY(T, C) v RETURN sum(v.x) AS n OUTPUT AGGREGATE", [{"n": 18.0}]),
}


@pytest.mark.parametrize("case", CASES)
def test_an_attribute_of_either_type(case: str) -> None:
    query, expected = CASES[case]
    assert found(query) == expected
    assert found(query, types={name: ["k", "x", "f"] for name in "ABTD"}) == expected


def test_one_table_per_type() -> None:
    tables = {kind: pa.Table.from_pylist([row for row in ROWS if row["type"] == kind]) for kind in "ABTD"}
    tables["D"] = tables["D"].set_column(3, "x", pa.array([9.0]))  # clashes, and has a column of its own
    query, expected = CASES["with another"]
    assert oz.match(tables, f"{MADE}QUERY two {query}")["two"].to_pylist() == expected


def test_pandas_and_whole_events() -> None:
    result = oz.match(pd.DataFrame(ROWS), f"{MADE}QUERY two PATTERN ANY(T, C) v RETURN v, v.x AS x")["two"]
    assert result["x"].tolist() == [7, 5, 6]
    assert [event["x"] for event in result["v"]] == [7, 5, 6]


def test_two_composite_types() -> None:
    query = (
        MADE
        + """
        QUERY other PATTERN SEQ(T a, D b) WITHIN 9 RETURN b.x AS x, 'z' AS text INTO E
        QUERY last PATTERN ANY(C, E) v RETURN v.x AS x
    """
    )
    assert oz.match(ROWS, query)["last"] == [{"x": 7}, {"x": 9}, {"x": 9}]


def test_in_a_matcher() -> None:
    query, expected = CASES["with another"]
    assert pushed(f"{MADE}QUERY two {query}", pa.Table.from_pylist(ROWS), of="two") == expected


def test_other_types_of_value_are_still_a_clash() -> None:
    made = MADE.replace("a.x + b.x AS x", "a.f AS x")
    with pytest.raises(oz.QueryError, match="type clash: 'x' differs between the types of 'v'") as error:
        oz.match(ROWS, made + "QUERY two PATTERN ANY(T, C) v RETURN v.x AS x")
    assert error.value.hint == "cast the columns to one type; they are T: int64, C: double"


@pytest.mark.parametrize("name", ["d", "e"])
def test_fields_of_structs_that_composite_events_have(name: str) -> None:
    query = f"""
        QUERY one PATTERN SEQ(A a, B b) WITHIN 9 RETURN a.d AS {name} INTO P
        QUERY two PATTERN SEQ(P p, B b) WHERE p.{name}.c < b.d.c RETURN p.{name}.c AS x
    """
    table = pa.table({"ts": [1, 2, 4], "type": ["A", "B", "B"], "d": [{"c": 1}, {"c": 2}, {"c": 4}]})
    assert oz.match(table, query)["two"].to_pylist() == [{"x": 1}]
    matcher = oz.matcher(query, table.schema)
    matcher.push(table)
    assert matcher.finish()["two"].to_pylist() == [{"x": 1}]
