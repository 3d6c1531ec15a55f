"""Random expressions of the algebra: in batches, cut into parts or narrowed they give what they give at once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import ouzel as oz
from ouzel.compile import compile_query
from ouzel.language import algebra_tree, parse
from ouzel.logical.algebra.bind_formula import Context
from ouzel.logical.algebra.bind_stream import bind_stream
from ouzel.logical.algebra.streams import is_linear_plus
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.reference.algebra import Interpreter
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.events import Event, Values
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.testing.algebra import TYPES, events, expressions
from semantics.everywhere import pushed

Row = dict[str, Any]
sizes = st.integers(1, 5)


def rows(expression: oz.Stream, table: pa.Table) -> list[Row]:
    found: list[Row] = oz.match(table, expression, types=TYPES, engine="reference").to_pylist()
    return found


def in_batches(expression: oz.Stream, table: pa.Table, size: int) -> list[Row]:
    return pushed(expression, table, size=size, types=TYPES, engine="reference")


def read(table: pa.Table) -> EventTable:
    return ingest(table, Reading(types=TYPES), Report())[0]


@given(expressions(), events(least=4), sizes)
def test_linear_plus_expressions_in_batches(expression: oz.Stream, table: pa.Table, size: int) -> None:
    found, expected = in_batches(expression, table, size), rows(expression, table)
    assert [repr(row) for row in found] == [repr(row) for row in expected]


@given(expressions(linear_plus=False), events(least=4), sizes)
def test_any_expressions_in_batches(expression: oz.Stream, table: pa.Table, size: int) -> None:
    found, expected = in_batches(expression, table, size), rows(expression, table)
    assert [repr(row) for row in found] == [repr(row) for row in expected]


@given(expressions(linear_plus=False), events(least=4), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(expression: oz.Stream, table: pa.Table, random: Any) -> None:
    places = list(range(table.num_rows))
    random.shuffle(places)
    assert repr(rows(expression, table.take(pa.array(places, pa.int64())))) == repr(rows(expression, table))


@given(expressions(linear_plus=False), events(least=4, lasting=True), sizes)
def test_events_that_last_in_batches(expression: oz.Stream, table: pa.Table, size: int) -> None:
    time = ("start", "end")
    found = pushed(expression, table, size=size, types=TYPES, time=time)
    expected = oz.match(table, expression, types=TYPES, time=time).to_pylist()
    assert [repr(row) for row in found] == [repr(row) for row in expected]


@given(expressions(), events(least=4))
def test_what_is_to_be_linear_plus_is_so(expression: oz.Stream, table: pa.Table) -> None:
    (plan,) = compile_query(expression.text, read(table).schema).plans
    assert plan.query.algebra is not None
    assert is_linear_plus(plan.query.algebra)


@given(expressions(linear_plus=False), events(least=4))
def test_a_whole_tree_gives_what_its_parts_give(expression: oz.Stream, table: pa.Table) -> None:
    """Neither resubscription nor attributes that are left out change a result."""
    (written,) = parse(expression.text)
    assert isinstance(written, algebra_tree.Query)
    given_events = read(table)
    bound = bind_stream(Context(given_events.schema, {}, ""), written.stream).stream
    found = interpreter_of(given_events).stream(bound)
    names = [one.name for one in bound.attributes]
    whole = [{**{name: one.data[name] for name in names}, "start": one.start, "end": one.end} for one in found]
    assert sorted(map(repr, whole)) == sorted(map(repr, rows(expression, table)))


def interpreter_of(given_events: EventTable) -> Interpreter:
    names, codes, times = given_events.types.names, given_events.types.codes, given_events.ends.tolist()
    found = [Event(row, names[codes[row]], *4 * (times[row],)) for row in given_events.order]
    bounds = Bounds(Limits(), Counters())
    return Interpreter(found, Values(given_events.table), given_events.schema, bounds)
