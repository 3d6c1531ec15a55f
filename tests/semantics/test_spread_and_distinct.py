"""stddev, that of a sample, and count(distinct …), over closures and grouping closures, on every engine."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pyarrow as pa
import pytest

import ouzel as oz
from semantics.everywhere import everywhere
from semantics.harness import found, rows

CLOSURE = "PATTERN SEQ(A{1,} a[], B b)"
GROUP = "PATTERN A+; B b"


def of(function: str, values: list[Any], pattern: str = GROUP) -> Any:
    """An aggregate of values, over one grouping closure of them all."""
    column = pa.array([*values, None], pa.int64() if set(values) == {None} else None)
    kinds = ["A"] * len(values) + ["B"]
    events = pa.table({"ts": list(range(len(kinds))), "type": kinds, "x": column})
    variable = "A[]" if pattern == GROUP else "a[]"
    found = oz.match(
        events, f"{pattern} RETURN {function.format(variable)} AS v, count({variable}) AS n"
    ).to_pylist()
    return next(row["v"] for row in found if row["n"] == len(values))


@pytest.mark.parametrize("values", [[1, 2, 4], [1.5, 2.5, 2.5], [10**9 + k for k in (4, 7, 13, 16)], [3, None, 5]])
def test_stddev_is_that_of_a_sample(values: list[Any]) -> None:
    present = [value for value in values if value is not None]
    assert math.isclose(of("stddev({}.x)", values), statistics.stdev(present), rel_tol=1e-12)


def test_stddev_of_fewer_than_two_values_is_null() -> None:
    assert of("stddev({}.x)", [1.0]) is None
    assert of("stddev({}.x)", [1, None]) is None
    assert rows("PATTERN SEQ(A* a[], B b) WHERE a[i].x > 9 RETURN stddev(a[].x) AS v", "b1:x=1") == [{"v": None}]


def test_stddev_is_stable() -> None:
    """The textbook's mean of squares less square of the mean would be off by all digits, or negative."""
    assert math.isclose(
        of("stddev({}.x)", [1e16 + k for k in (2, 4, 6, 8)]), statistics.stdev([2, 4, 6, 8]), rel_tol=0.1
    )
    assert of("stddev({}.x)", [0.1] * 3) == 0.0
    assert math.isnan(of("stddev({}.x)", [1.0, math.inf, 2.0]))


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([1, 2, 1, None, 2], 2),
        (["x", "y", "x", None], 2),
        ([True, True, False], 2),
        ([0.0, -0.0, math.nan, math.nan], 2),
        ([None], 0),
    ],
)
@pytest.mark.parametrize("pattern", [GROUP, CLOSURE])
def test_equal_values_count_once(values: list[Any], count: int, pattern: str) -> None:
    assert of("count(distinct {}.x)", values, pattern) == count


def test_distinct_times() -> None:
    events = pa.table(
        {"ts": [1, 2, 3], "type": list("AAB"), "t": pa.array([5, 5, None], pa.timestamp("ns", "UTC"))}
    )
    assert oz.match(events, f"{GROUP} RETURN COUNT( DISTINCT A[].t ) AS n").to_pylist()[0] == {"n": 1}


EVENTS = pa.table(
    {
        "ts": [1, 2, 3, 4, 5, 6, 7, 8],
        "type": list("AAABAAAB"),
        "x": [5, 7, 7, 1, None, 30, 31, 2],
        "y": [0.5, 0.25, 8.0, 1.0, 0.5, None, 0.5, 0.125],
        "s": ["p", "q", "p", None, "p", "r", None, "q"],
    }
)
QUERIES = {
    "of all": """PATTERN SEQ(A+ a[], B b) WHERE stddev(a[].x) > 1.2 AND stddev(a[].y) < 4
        WITHIN 6 RETURN a[].ts, stddev(a[].x) AS x, stddev(a[].y) AS y, b.ts AS at, count(distinct a[].s) AS n""",
    "of those before": """PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match {
        a[i].x > 2 * stddev(a[..i-1].x) AND coalesce(stddev(a[..i-1].y), 0) < 4 }
        WITHIN 6 RETURN a[].ts, b.ts AS at, count(distinct a[].x) + count(distinct a[].y) AS n""",
    "of the next": """PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match { a[i].x >= a[1].x AND
        (a[i].y > stddev(a[..i-1].y) OR stddev(a[..i-1].y) IS NULL) } WITHIN 6 RETURN stddev(a[].y) AS y, b.ts""",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_on_every_engine(query: str) -> None:
    assert everywhere(query, EVENTS, runs_on="automaton")


def test_compiled() -> None:
    assert everywhere(QUERIES["of all"], EVENTS, compiled="automaton")


def test_distinct_in_where() -> None:
    query = "PATTERN SEQ(A+ a[], B b) WHERE count(distinct a[].s) = 2 AND count(distinct a[..i-1].x) < 2 WITHIN 6"
    assert everywhere(f"{query} RETURN a[].ts, b.ts AS at", EVENTS, runs_on="automaton")
    assert found("PATTERN A+; B b WHERE count(distinct A[].x) = 2", "a1:x=1 a2:x=2 a3:x=2 b4") == ["[a1 a2 a3] b4"]


def test_long_closures() -> None:
    values = [k % 1_500 for k in range(3_000)]
    assert of("count(distinct {}.x)", values) == 1_500


def test_a_variable_called_distinct() -> None:
    query = "PATTERN SEQ(A+ distinct[], B b) RETURN count(distinct) AS n, count(distinct distinct[].x) AS d"
    assert rows(query, "a1:x=1 b2") == [{"n": 1, "d": 1}]


WRONG = {
    "sum(distinct a[].x)": ("sum of distinct values", "count(distinct a[].attribute)"),
    "count(distinct b.x)": ("count(distinct …) of a single event", "a closure: count(distinct a[].attribute)"),
    "count(distinct a[])": ("count(distinct …) of whole events", "an attribute: count(distinct a[].attribute)"),
    "count(distinct a[].l)": (
        "type clash in 'count(distinct …)'",
        "count(distinct …) takes values that can be equal",
    ),
    "stddev(a[].s)": ("type clash in 'stddev'", "stddev takes numbers; got string"),
    "stddev(a[])": ("stddev of whole events", "an attribute: stddev(a[].attribute)"),
    "stddev(b.x)": ("stddev of a single event", "a closure: stddev(a[].attribute) or stddev(a[..i-1].attribute)"),
}


@pytest.mark.parametrize("expression", WRONG)
def test_what_is_wrong_is_said(expression: str) -> None:
    events = EVENTS.append_column("l", [[[1]] * 8])
    message, required = WRONG[expression]
    with pytest.raises(oz.QueryError) as error:
        oz.match(events, f"PATTERN SEQ(A+ a[], B b) RETURN {expression}")
    assert error.value.message == message
    assert (error.value.required or "").startswith(required)


@pytest.mark.parametrize("expression", ["stddev(a[].x)", "count(distinct a[].x)"])
def test_not_over_all_matches(expression: str) -> None:
    with pytest.raises(oz.QueryError, match="is no aggregate over matches") as error:
        oz.match(EVENTS, f"PATTERN SEQ(A+ a[], B b) RETURN {expression} OUTPUT AGGREGATE")
    assert error.value.hint == "of each match it is RETURN " + expression + ", without OUTPUT AGGREGATE"
