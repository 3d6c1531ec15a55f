"""OUTPUT AGGREGATE straight from the language's definition: matches added up one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.match_aggregates import MatchAggregate
from ouzel.logical.query import BoundQuery
from ouzel.physical.match_totals import MatchTotals, Total
from ouzel.physical.reference.events import Event, Stream
from ouzel.physical.reference.match import Match
from ouzel.physical.reference.partitions import key_of


def totals_of(query: BoundQuery, matches: Sequence[Match], stream: Stream) -> MatchTotals:
    """The totals of each partition, or of each partition and window, that has a match; of one, if it is all."""
    tests, every = query.equivalences, query.every
    apart: dict[Any, list[Match]] = {} if tests or every else {(None, ()): []}
    for match in matches:
        window = match.last.end_time // every.length if every else None
        apart.setdefault((window, key_of(match.events, tests, stream)), []).append(match)
    own = list(apart.values())
    return MatchTotals(
        tuple(np.array([_row_with(test, group) for group in own], np.int64) for test in tests),
        np.array([len(group) for group in own], np.float64),
        tuple(_total(item, own, stream) for item in query.aggregates),
        np.array([window for window, _key in apart], np.int64) if every else None,
    )


def _row_with(test: EquivalenceTest, matches: Sequence[Match]) -> int:
    """The row of an event that has a test's attribute, -1 if there is none."""
    events = (event for match in matches for event in match.events)
    return next((event.row for event in events if test.column(event.type) is not None), -1)


def _total(item: MatchAggregate, groups: Sequence[Sequence[Match]], stream: Stream) -> Total:
    if item.variable is None:
        return Total(np.array([len(group) for group in groups], np.float64))
    values = [_values(item, item.variable, group, stream) for group in groups]
    counts = np.array([len(one) for one in values], np.float64)
    if item.function in ("sum", "avg"):
        return Total(counts, sums=np.array([_sum(one) for one in values], np.float64))
    if item.function in ("min", "max"):
        return Total(counts, rows=np.array([_best(item.function, one) for one in values], np.int64))
    return Total(counts)


def _values(
    item: MatchAggregate, variable: str, matches: Sequence[Match], stream: Stream
) -> list[tuple[Any, int]]:
    """What is added up: the value of each event bound to the variable, once per match, and its row."""
    found: list[tuple[Any, int]] = []
    for match in matches:
        bound = match.bindings.get(variable)
        for event in (bound,) if isinstance(bound, Event) else bound or ():
            value = True if item.column is None else stream.value(event, item.column)
            found += [] if value is None else [(value, event.row)]
    return found


def _sum(values: Sequence[tuple[Any, int]]) -> float:
    total = 0.0
    for value, _row in values:
        total += float(value)
    return total


def _best(function: str, values: Sequence[tuple[Any, int]]) -> int:
    """The row of the least or greatest value; what is no number is that only of its like."""
    numbers = [one for one in values if one[0] == one[0]] or values
    wanted = (min if function == "min" else max)((value for value, _row in numbers), default=None)
    return min((row for value, row in numbers if value == wanted or numbers is values), default=-1)
