"""Matches in the order of results, however they come."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ouzel as oz
from ouzel.physical.compiled import kernel
from ouzel.physical.finish import order as order_of_results
from ouzel.physical.finish.order import in_order, used_events
from ouzel.physical.match_table import Bound, Many, One

EVENTS = 13
Matches = list[tuple[tuple[int, ...], ...]]

ROWS = st.lists(st.integers(0, EVENTS - 1), min_size=3, max_size=3, unique=True).map(sorted)
SEQUENCES = st.lists(ROWS.map(lambda rows: tuple((row,) for row in rows)), max_size=40, unique=True)
CLOSURES = st.lists(
    st.lists(st.integers(0, EVENTS - 1), min_size=1, max_size=5, unique=True).map(
        lambda rows: ((min(rows),), tuple(sorted(rows))[1:])
    ),
    max_size=40,
    unique=True,
)


def bound_of(matches: Matches, width: int) -> Bound:
    """The first components bind one event, the last of two components any number of them."""
    columns: Bound = {}
    for number in range(width):
        rows = [match[number] for match in matches]
        if width == 3 or number == 0:
            columns[f"v{number}"] = One(np.array([one[0] for one in rows], np.int64))
        else:
            offsets = np.cumsum([0, *map(len, rows)])
            flat = np.array([row for one in rows for row in one], np.int64)
            columns[f"v{number}"] = Many(offsets, flat, np.zeros(len(rows), np.bool_))
    return columns


def events(moments: int) -> tuple[Any, Any]:
    """The moments of events, and their places in canonical order: by moment, and anyhow among equal ones."""
    random = np.random.default_rng(moments)
    ends = np.sort(random.integers(0, moments, EVENTS))
    places = np.empty(EVENTS, np.int64)
    places[np.lexsort((random.permutation(EVENTS), ends))] = np.arange(EVENTS)
    return ends, places


def check(matches: Matches, width: int, moments: int, *, ordered: bool) -> None:
    ends, places = events(moments)

    def key(match: tuple[tuple[int, ...], ...]) -> Any:
        rows = [row for one in match for row in one]
        return ends[rows[-1]], ends[rows[0]], [places[row] for row in rows], [len(one) for one in match]

    bound = bound_of(matches, width)
    used = used_events([one.rows for one in bound.values()], EVENTS)
    with patch.object(kernel, "COMPILE_FROM", 0), patch.object(order_of_results, "BLOCK", moments):
        order = in_order(bound, ends, ends, used, lambda numbers: places[numbers], ordered=ordered)
    found = matches if order is None else [matches[number] for number in order]
    assert [key(one) for one in found] == sorted(map(key, matches))


@settings(max_examples=100)
@given(SEQUENCES, st.integers(1, 30))
def test_sequences_that_come_anyhow(matches: Matches, moments: int) -> None:
    check(matches, 3, moments, ordered=False)


@settings(max_examples=200)
@given(SEQUENCES, st.integers(1, 30))
def test_sequences_that_come_event_by_event(matches: Matches, moments: int) -> None:
    check(sorted(matches, key=lambda match: (match[-1], match)), 3, moments, ordered=True)


@settings(max_examples=100)
@given(CLOSURES, st.integers(1, 30))
def test_closures(matches: Matches, moments: int) -> None:
    check(matches, 2, moments, ordered=False)


# the same kernels serve any order, and it takes seconds to compile them
@pytest.mark.parametrize(
    ("order", "least"),
    [(None, 10**9), (["ts", "seq"], 10**9), (None, 0)],
    ids=["by time", "by two columns", "compiled"],
)
@pytest.mark.parametrize(
    "condition",
    [
        "a.x <= b.x AND b.y != c.y AND c.x + a.x > 3 AND d.y >= a.y",
        "b.x = c.x",
        "a.x = b.x AND b.y = c.y AND c.x != d.x",
        "a.x + b.x + c.x > 9",
    ],
)
@pytest.mark.parametrize("negative", ["", "!(D n), "])
def test_sequences_with_conditions_on_several_of_them(
    order: list[str] | None, least: int, condition: str, negative: str
) -> None:
    random = np.random.default_rng(7)
    kinds, (x, y) = random.choice(list("ABCDA"), 60).tolist(), random.integers(0, 5, (2, 60)).tolist()
    rows = [{"ts": n // 3, "seq": n, "type": kinds[n], "x": x[n], "y": y[n]} for n in range(60)]
    refuting = " AND n.x > b.x" if negative else ""
    query = f"""PATTERN SEQ(A a, B b, {negative}C c, A d) WHERE {condition}{refuting} WITHIN 12
        RETURN a.seq AS a, b.seq AS b, c.seq AS c, d.seq AS d"""
    with patch.object(kernel, "COMPILE_FROM", least):
        found = oz.match(rows, query, engine="scan", order=order)
    assert len(found) > 10
    assert found == oz.match(rows, query, engine="reference", order=order)
