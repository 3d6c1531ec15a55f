"""Values of every kind, in random queries: no engine is passed over because of one, and all find the same."""

from __future__ import annotations

import json
import re
import warnings
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from engines.splits import ingested
from ouzel.compile import compile_query
from ouzel.physical.compiled import kernel
from ouzel.testing.strategies import RandomQuery, queries, register_functions, streams

Events = list[dict[str, Any]]
INTEGERS = {name: pa.int64() for name in ("ts", "k", "x", "y")}
OTHERS = {"s": pa.string(), "u": pa.uint64(), "z": pa.null()}
SCHEMA = pa.schema({"eid": pa.string(), "type": pa.string(), **INTEGERS, **OTHERS})
CUTS = st.lists(st.integers(0, 9), max_size=4)
# What engines may say of a query that they pass over: nothing in it is about values.
STRUCTURE = re.compile(r"every element|in sequence|strategy|alternative|aggregates|loop")


def table(events: Events) -> pa.Table:
    return pa.Table.from_pylist(events, schema=SCHEMA)


def found(query: str, events: pa.Table, engine: str) -> list[str] | str:
    """The matches, or that the query is refused or fails."""
    register_functions()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        try:
            return sorted(map(json.dumps, oz.match(events, query, engine=engine).to_pylist()))
        except oz.OuzelError as error:
            return str(error)


@settings(max_examples=100)
@given(queries(non_overlap=True, totals=True, kinds=True), streams(kinds=True))
def test_engines_agree(query: RandomQuery, events: Events) -> None:
    assert found(query.text, table(events), "auto") == found(query.text, table(events), "reference")


@settings(max_examples=100)
@given(queries(kinds=True), streams(kinds=True))
def test_no_engine_is_passed_over_because_of_values(query: RandomQuery, events: Events) -> None:
    register_functions()
    (plan,) = compile_query(query.text, ingested(table(events)).schema, {}).plans
    if plan.engine == "reference":
        assert all(STRUCTURE.search(why) for _name, why in plan.passed_over), plan.passed_over


@settings(max_examples=100)
@given(queries(non_overlap=True, totals=True, kinds=True), streams(kinds=True), CUTS, st.integers(0, 4))
def test_batches_make_no_difference(query: RandomQuery, events: Events, cuts: list[int], restored: int) -> None:
    ordered = table(sorted(events, key=lambda event: event["ts"]))
    edges = [0, *sorted(set(cuts)), len(events)]
    register_functions()
    matcher = oz.matcher(query.text, SCHEMA, watermark=1)
    rows: list[Any] = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        rows += matcher.push(ordered.slice(begin, max(end - begin, 0))).to_pylist()
        matcher = oz.restore(matcher.snapshot()) if number == restored else matcher
    rows += matcher.finish().to_pylist()
    assert sorted(map(json.dumps, rows)) == found(query.text, ordered, "reference")


@settings(max_examples=2)
@given(queries(kinds=True), streams(kinds=True))
def test_compiled(query: RandomQuery, events: Events) -> None:
    with patch.object(kernel, "COMPILE_FROM", 0):
        assert found(query.text, table(events), "auto") == found(query.text, table(events), "reference")
