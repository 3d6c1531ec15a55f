"""Functions of the user's and totals over windows, of values stored in any way: all at once and in batches."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.encodings import stored
from ouzel.testing.strategies import RandomQuery, queries, register_functions, streams
from semantics.everywhere import pushed


def text_of(query: RandomQuery) -> str:
    """The query with calls in RETURN too, unless it returns totals."""
    positive = [one for one in query.components if one.kind != "negative"]
    if query.totals:
        return query.text
    v = positive[0].variable + ("[1]" if positive[0].kind == "closure" else "")
    calls = f"doubled({v}.x) AS f0, glued({v}.s, 'x') AS f1, is_near({v}.x, {v}.y) AS f2"
    return query.text.replace("RETURN ", f"RETURN {calls}, ")


@st.composite
def cases(draw: st.DrawFn) -> tuple[str, pa.Table]:
    query = draw(queries(non_overlap=True, totals=True, kinds=True))
    events = sorted(draw(streams(10, kinds=True)), key=lambda event: event["ts"])
    return text_of(query), draw(stored(events))


def outcome(call: Callable[[], Any]) -> list[str] | str:
    """The rows, or that the query is refused."""
    register_functions()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oz.OuzelWarning)
        try:
            return sorted(map(repr, call()))
        except oz.FunctionError:
            assume(False)  # a function may be called for any event: one that fails says when that is
        except oz.OuzelError as error:
            return str(error)


@settings(max_examples=60)
@given(cases())
def test_engines(case: tuple[str, pa.Table]) -> None:
    text, table = case
    expected = outcome(lambda: oz.match(table, text, engine="reference").to_pylist())
    assert outcome(lambda: oz.match(table, text).to_pylist()) == expected


@settings(max_examples=60)
@given(cases(), st.integers(1, 4), st.booleans())
def test_batches(case: tuple[str, pa.Table], size: int, restored: bool) -> None:
    text, table = case
    expected = outcome(lambda: oz.match(table, text, engine="reference").to_pylist())
    assert outcome(lambda: pushed(text, table, size=size, restored=restored)) == expected
