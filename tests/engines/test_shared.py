"""The shared plan: it finds what the reference finds, for one query and for many at once."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.physical.shared import graph, runs
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


def test_what_is_refused_changes_nothing() -> None:
    """A value that no plan takes must not leave a place behind, by which later queries are told apart."""
    schema = pa.schema({"ts": "int64", "type": "string", "x": "float64"})
    template = "PATTERN A a; B b WHERE b.x > a.x * $f WITHIN 100 RETURN b.x AS x"
    matcher = oz.matcher(oz.queries(template, [{"id": "one", "f": 1}, {"id": "two", "f": 1000}]), schema)
    with pytest.raises(oz.OuzelError, match="cannot share the plan"):
        matcher.add("big", {"f": 2**60})
    matcher.add("three", {"f": 2})
    matcher.add("four", {"f": 4})
    ticks = pa.table({"ts": [1, 2, 3], "type": ["A", "B", "A"], "x": [1.0, 3.0, 0.0]})
    assert [row["id"] for row in matcher.push(ticks).to_pylist()] == ["one", "three"]


ALTERNATIVES = "PATTERN A a; B b; B c; B d WHERE " + " AND ".join(f"({v}.x > $v OR {v}.y > $v)" for v in "bcd")


@pytest.mark.parametrize("limits", [{"max_matches": 84}, {"max_runs": 70}])
def test_alternatives_make_no_run_or_match_twice(limits: dict[str, Any]) -> None:
    ticks = [
        {"ts": 0, "type": "A", "x": 0, "y": 0},
        *({"ts": n, "type": "B", "x": 1, "y": 1} for n in range(1, 10)),
    ]
    found = oz.match(ticks, oz.queries(ALTERNATIVES, [{"id": 1, "v": 0}]), limits=oz.Limits(**limits))
    assert len(found) == 84


def test_runs_that_are_too_old_make_room() -> None:
    template = "PATTERN A a; B b WHERE [k] AND b.x > $v WITHIN 10 RETURN b.x AS x"
    count = 5_000
    ticks = pa.table(
        {
            **{"ts": range(count + 1), "type": ["A"] * count + ["B"], "k": [*range(count), count - 1]},
            "x": [1] * (count + 1),
        }
    )
    for limits in (oz.Limits(max_runs=100), oz.Limits(max_runs=100, on_limit="shed")):
        found = oz.match(ticks, oz.queries(template, [{"id": 1, "v": 0}]), limits=limits)
        assert found.to_pylist() == [{"id": 1, "x": 1}]


def test_times_that_are_nearly_too_late() -> None:
    last = 2**63 - 2
    template = "PATTERN A a; B b WHERE b.x > $v WITHIN 100 RETURN b.x AS x"
    ticks = pa.table({"ts": [last - 20, last - 10, last], "type": ["A", "C", "B"], "x": [1, 1, 1]})
    one = oz.queries(template, [{"id": 1, "v": 0}])
    assert oz.match(ticks, one, time_unit="ns").to_pylist() == [{"id": 1, "x": 1}]


def test_growing_makes_no_difference() -> None:
    """Arrays begin with room for few, which is undone and done again."""
    template = oz.stream().where("x >= $v").next(oz.stream().rename(y="x"), where="y > x")
    ticks = [{"ts": n // 3, "x": n % 7} for n in range(60)]
    values = [{"id": n, "v": n % 5} for n in range(20)]
    expected = oz.match(ticks, oz.queries(template, values))
    with patch.object(runs, "_LEAST", 1):
        assert oz.match(ticks, oz.queries(template, values)) == expected


def test_a_value_that_nothing_equals_concerns_its_query_alone() -> None:
    template = "PATTERN A a; A b WHERE a.x = $v AND b.x = $w RETURN b.x AS x"
    values = [{"id": n, "v": None if n == 3 else 1.5 if n == 4 else n % 2, "w": n % 3} for n in range(9)]
    ticks = [{"ts": n, "type": "A", "x": n % 3} for n in range(12)]
    found = oz.match(ticks, oz.queries(template, values))
    for row in values:
        text = template.replace("$v", str(row["v"])).replace("$w", str(row["w"])).replace("None", "null")
        expected = [] if row["v"] is None else oz.match(ticks, text, engine="reference")
        assert [one["x"] for one in found if one["id"] == row["id"]] == [one["x"] for one in expected]


def test_queries_of_one_plan_are_told_apart_by_all_that_they_ask() -> None:
    """States are merged by a hash of what they ask; here many have the same slot."""
    template = "PATTERN A a; A b WHERE a.x = $v AND b.x > $w RETURN b.x AS x"
    values = [{"id": n, "v": n % 7, "w": n % 5} for n in range(70)]
    ticks = [{"ts": n, "type": "A", "x": n % 9} for n in range(40)]
    expected = oz.match(ticks, oz.queries(template, values), tuning={"merging": "off"})
    with patch.object(graph, "_heads", lambda count: np.full(2, -1)):
        assert oz.match(ticks, oz.queries(template, values)) == expected
