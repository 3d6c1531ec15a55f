"""The shared plan: it finds what the reference finds, for one query and for many at once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.testing.algebra import TYPES, events, expressions
from ouzel.testing.strategies import RandomQuery, queries, streams
from semantics.everywhere import pushed

LASTING = ("start", "end")
TEXT_TYPES = {name: {"eid": "string", "k": "int64", "x": "int64", "y": "int64"} for name in "ABCD"}
PLAIN: dict[str, Any] = {
    "strategies": ("skip_till_any_match", "skip_till_next_match"),
    **dict.fromkeys(("closures", "negation", "alternatives", "count_windows"), False),
}


def shared(expression: Any, table: Any, **options: Any) -> Any:
    """What the shared plan finds; a case that it refuses is none."""
    try:
        return oz.match(table, expression, engine="shared", **{"types": TYPES, **options})
    except oz.OuzelError as error:
        assume("cannot run this query" not in str(error))
        raise


def rows(found: Any) -> Any:
    return found.to_pylist() if isinstance(found, pa.Table) else found


@given(expressions(), events(least=4))
def test_expressions(expression: oz.Stream, table: pa.Table) -> None:
    found = shared(expression, table)
    expected = oz.match(table, expression, types=TYPES, engine="reference")
    assert found.schema.equals(expected.schema)
    assert repr(rows(found)) == repr(rows(expected))


@given(expressions(), events(least=4, lasting=True))
def test_events_that_last(expression: oz.Stream, table: pa.Table) -> None:
    found = shared(expression, table, time=LASTING)
    expected = oz.match(table, expression, types=TYPES, engine="reference", time=LASTING)
    assert repr(rows(found)) == repr(rows(expected))


@given(expressions(), events(least=4), st.integers(1, 5))
def test_batches_make_no_difference(expression: oz.Stream, table: pa.Table, size: int) -> None:
    expected = shared(expression, table)
    assert repr(pushed(expression, table, size=size, types=TYPES, engine="shared")) == repr(rows(expected))


@settings(max_examples=200)
@given(queries(**PLAIN), streams(max_events=12))
def test_texts(query: RandomQuery, stream: list[dict[str, Any]]) -> None:
    found = shared(query.text, stream, types=TEXT_TYPES)
    assert found == oz.match(stream, query.text, types=TEXT_TYPES, engine="reference")


def test_a_duration_counts_from_the_first_event_of_a_union() -> None:
    either = oz.stream("A").union(oz.stream("A"))
    pairs = either.fold(oz.stream("A"), where="duration() <= 2")
    ticks = [{"ts": ts, "type": "A", "x": ts} for ts in (0, 2, 3)]
    assert oz.match(ticks, pairs, engine="shared") == oz.match(ticks, pairs, engine="reference")
