"""What runs of shared plans have found, as results: of each query, or of each set, in the order of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ouzel.logical.expressions import Attribute
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.edges import End
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.contract import Counters, Found, Intervals
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.distinct_rows import distinct_in_order, with_one_form
from ouzel.physical.finish.order import ranks_of
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import MatchTable, One
from ouzel.physical.meaning import arrow_values
from ouzel.physical.shared.outline import Outline

LimitedQuery = tuple[BoundQuery, str]
"""A query that went beyond a limit, and what it is called."""


@dataclass(frozen=True)
class Caught:
    """Matches of one query or set: whose each is, by place among its members, the state of its end, its events.

    `held` are the rows in `events` of the events at the places of variables.
    """

    owners: Integers
    states: Integers
    held: Integers
    events: EventTable

    def order(self, items: Integers) -> Integers:
        """The order of results, those of each item together: by end, start, owner, and event by event."""
        events, held = self.events, self.held
        first, last = held[:, 0], held.max(axis=1)
        ranks = ranks_of(list(held.T), events.ends, events.places)
        return np.lexsort((*ranks[held.T[::-1]], self.owners, events.starts[first], events.ends[last], items))

    def taken(self, chosen: Integers | slice) -> Caught:
        """Some of them."""
        return Caught(self.owners[chosen], self.states[chosen], self.held[chosen], self.events)

    def rows(self, place: int) -> Integers:
        """The rows of the events at a place."""
        return np.ascontiguousarray(self.held[:, place])


@dataclass(frozen=True)
class Quota:
    """How many matches each query may have, and what is shed beyond; `called` names one for errors, by owner."""

    limits: Limits
    counters: Counters
    called: Callable[[int], LimitedQuery]

    def kept(self, owners: Integers, size: int = 0) -> Integers | slice:
        """Which matches are kept, of so many events each: of every owner the first."""
        limits, count = self.limits, len(owners)
        most = limits.max_matches if size <= limits.max_match_size else 0
        if count <= most:
            return slice(None)
        order = np.argsort(owners, kind="stable")
        firsts = np.flatnonzero(np.diff(owners[order], prepend=-1))
        places = np.empty(count, np.int64)
        places[order] = np.arange(count) - np.repeat(firsts, np.diff(firsts, append=count))
        kept = np.flatnonzero(places < most)
        if len(kept) < count and not limits.sheds:
            error = limits.exceeded("max_matches" if most else "max_match_size")
            raise error.about(*self.called(int(owners[np.argmax(places >= most)])))
        self.counters.shed_matches += count - len(kept)
        return kept


def found_of(query: BoundQuery, outline: Outline, caught: Caught, ids: pa.Array | None, quota: Quota) -> Found:
    """What was found of a query, or of a set whose members have some ids; no more of each than there may be."""
    plain = query if query.members is None else query.members.template
    if plain.algebra is not None:
        found, owners = _rows(plain, outline, caught, quota)
    else:
        found, owners = _matches(plain, outline, caught, quota)
    if query.members is None:
        return found
    assert ids is not None
    return replace(found, query=query, ids=ids.take(pa.array(owners)))


# ---- expressions of the algebra --------------------------------------------------------------------------


def _rows(query: BoundQuery, outline: Outline, caught: Caught, quota: Quota) -> tuple[Found, Integers]:
    """Rows of attributes, each but once for an owner, as streams are sets."""
    assert query.algebra is not None
    tables, spans, owners = [], [], []
    for state, end in outline.ends.items():
        assert end is not None
        own = caught.taken(np.flatnonzero(caught.states == state))
        if len(own.owners):
            table, intervals = _attributes(query, outline, end, own)
            tables.append(table)
            spans.append(intervals)
            owners.append(own.owners)
    table, owner = with_one_form(pa.concat_tables(tables)), np.concatenate(owners)
    starts, ends, start_times, end_times = (np.concatenate(some) for some in zip(*spans, strict=True))
    # whose they are comes before what they are
    content = [pa.chunked_array([owner]), *table.columns]
    order = distinct_in_order(pa.table(content, names=[str(place) for place in range(len(content))]), starts, ends)
    order = order[quota.kept(owner[order])]
    intervals = starts[order], ends[order], start_times[order], end_times[order]
    rows = table.take(pa.array(order)) if table.num_columns else table
    return Found.of_rows(query, rows, intervals, caught.events), owner[order]


def _attributes(query: BoundQuery, outline: Outline, end: End, own: Caught) -> tuple[pa.Table, Intervals]:
    assert query.algebra is not None
    bound = {variable: One(own.rows(place)) for variable, place in outline.places.items()}
    first, last = bound[end.first].rows, bound[end.last].rows
    intervals = own.events.intervals(first, last)
    compute = compute_by_row(MatchTable({**bound}, lambda: intervals), own.events)
    columns = {}
    for one in query.algebra.attributes:
        value = end.attributes[one.name]
        if isinstance(value, Attribute):
            column = own.events.table.column(value.column).take(pa.array(bound[value.variable].rows))
            columns[one.name] = column if column.type == one.arrow else column.cast(one.arrow)
        else:
            columns[one.name] = pa.chunked_array([arrow_values(compute(value), one.type, one.arrow)])
    if not columns:
        return pa.table({}), intervals
    return pa.table(columns), intervals


# ---- texts -----------------------------------------------------------------------------------------------


def _matches(query: BoundQuery, outline: Outline, caught: Caught, quota: Quota) -> tuple[Found, Integers]:
    """Matches that bind events, which are in order."""
    events = caught.events
    caught = caught.taken(quota.kept(caught.owners, outline.width))
    bound = {variable: One(caught.rows(place)) for variable, place in outline.places.items()}
    intervals = events.intervals(caught.rows(0), caught.rows(outline.width - 1))
    matches = MatchTable({**bound}, lambda: intervals)
    return Found(query, matches, events, compute_by_row(matches, events)), caught.owners
