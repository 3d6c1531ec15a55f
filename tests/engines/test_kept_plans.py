"""A query keeps the plans it was compiled to last; whatever they depend on makes new ones."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pyarrow as pa

import ouzel as oz
from ouzel import api
from ouzel.compile import compile_query

EVENTS = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "B"], "x": [1, 2, 3]})
REALS = EVENTS.set_column(2, "x", EVENTS.column("x").cast("float64"))
QUERY = "PATTERN SEQ(A a, B b) RETURN a.x + b.x AS x"


def compilations(*calls: dict[str, Any], query: oz.Query) -> int:
    with patch.object(api, "compile_query", wraps=compile_query) as compiling:
        for call in calls:
            oz.match(call.pop("events", EVENTS), query, **call)
    return compiling.call_count


def test_the_same_events_are_compiled_for_once() -> None:
    assert compilations({}, {"threads": 2}, query=oz.query(QUERY)) == 1


def test_other_columns_and_engines_are_compiled_for() -> None:
    query = oz.query(QUERY)
    assert compilations({}, {"events": REALS}, {"engine": "reference"}, {}, query=query) == 4
    assert oz.match(EVENTS, query).schema.field("x").type == pa.int64()
    assert oz.match(REALS, query).schema.field("x").type == pa.float64()


def test_parameters_are_those_of_the_call() -> None:
    query = oz.query("PATTERN SEQ(A a, B b) WHERE b.x > $x RETURN b.x AS x", {"x": 0})
    found = [oz.match(EVENTS, query, params={"x": x}).column("x").to_pylist() for x in (1, 2, 1)]
    assert found == [[2, 3], [3], [2, 3]]


def test_a_function_may_be_registered_anew() -> None:
    query_text = "PATTERN SEQ(A a, B b) WHERE kept(b.x) RETURN b.x AS x"
    oz.register_function("kept", lambda x: x > 2, returns="boolean")
    query = oz.query(query_text)
    assert oz.match(EVENTS, query).column("x").to_pylist() == [3]
    oz.register_function("kept", lambda x: x < 3, returns="boolean")
    assert oz.match(EVENTS, query).column("x").to_pylist() == [2]
