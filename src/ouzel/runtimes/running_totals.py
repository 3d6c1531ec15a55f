"""OUTPUT AGGREGATE over a stream: totals of the windows that are still open, kept between batches.

Totals know values by the events that have them (a partition's key, a least or greatest value): so what is kept is
some events, and totals that mention their rows.  They are kept in parts, a few of each size: a batch does not go
through all that is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.match_aggregates import MatchAggregate
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_totals import MatchTotals, Total, ranks_of
from ouzel.runtimes.aggregates import best_rows, totals_of, totals_table
from ouzel.runtimes.partition_keys import compact, groups
from ouzel.state.parts import in_parts, part

State = dict[str, Any]
# So many parts of about a size are kept before they are made one.
PARTS = 4


@dataclass(frozen=True)
class _Part:
    """Totals, and the events whose rows they mention."""

    totals: MatchTotals
    events: EventTable

    def __len__(self) -> int:
        return len(self.totals)

    @property
    def size(self) -> int:
        """About how large it is: one more for each time that it is as large as a few others."""
        return len(self).bit_length() // (PARTS.bit_length() - 1)

    def before(self, limit: int) -> Any:
        """For each group, whether its window comes before another."""
        assert self.totals.windows is not None
        return self.totals.windows < limit

    def chosen(self, places: Integers) -> _Part:
        """Some of the groups."""
        return _compacted(_each(self.totals, lambda one: one[places], lambda rows: rows[places]), self.events)


class RunningTotals:
    """The totals of a query over the matches that came so far, but for those of windows that are closed."""

    def __init__(self, query: BoundQuery) -> None:
        """Begin with nothing."""
        self.query = query
        self.none: EventTable | None = None
        self.nothing: pa.Table | None = None
        self.parts: list[_Part] = []

    def step(self, found: Found, until: int | None) -> pa.Table:
        """Add matches; the rows of windows that none will end in which is reported later.

        Those end at `until` or after it; None says that there will be none at all.
        """
        if self.none is None or len(found.matches):
            totals = totals_of(self.query, found.matches, found.events)
            part = _compacted(totals, found.events.select(self._columns()))
            self.none = part.events.none()
            self.parts.append(part)
        while len(self.parts) >= PARTS and self.parts[-PARTS].size <= self.parts[-1].size:
            self.parts[-PARTS:] = [self._merged(self.parts[-PARTS:])]
        closed = self._closed(until)
        if not len(closed):
            if self.nothing is None:
                self.nothing = totals_table(self.query, closed.totals, closed.events)
            return self.nothing
        return totals_table(self.query, closed.totals, closed.events)

    def _columns(self) -> frozenset[str]:
        """The columns that rows of results are made of."""
        query = self.query
        keys = {name for test in query.equivalences for name in test.types_by_column}
        return frozenset(name for name in keys | {item.column for item in query.aggregates} if name is not None)

    def _closed(self, until: int | None) -> _Part:
        """Take out the groups whose window ends at `until` or before it."""
        if until is None:
            closed, self.parts = self.parts, []
            return self._merged(closed)
        closed = []
        if self.query.every is not None:
            limit = until // self.query.every.length
            for number, part in enumerate(self.parts):
                is_closed = part.before(limit)
                if np.any(is_closed):
                    closed.append(part.chosen(np.flatnonzero(is_closed)))
                    self.parts[number] = part.chosen(np.flatnonzero(~is_closed))
            self.parts = [part for part in self.parts if len(part)]
        return self._merged(closed)

    def _merged(self, parts: Sequence[_Part]) -> _Part:
        """The same totals, each group once."""
        if len(parts) == 1:
            return parts[0]
        query = self.query
        if not parts:
            assert self.none is not None
            return _Part(_nothing(query), self.none)
        events = reduce(EventTable.followed_by, (part.events for part in parts))
        begins = np.cumsum([0, *(len(part.events) for part in parts)]).tolist()
        shifted = [_shifted(part.totals, begin) for part, begin in zip(parts, begins, strict=False)]
        together = _joined(shifted)
        found = groups(query, together.keys, together.windows, len(together), events)

        def added(values: Any) -> Any:
            return np.bincount(found.numbers, weights=values, minlength=found.count)

        def total(item: MatchAggregate, one: Total) -> Total:
            rows = None
            if one.rows is not None:
                some = np.flatnonzero(one.rows >= 0)
                ranks = ranks_of(events.table.column(item.column).take(pa.array(one.rows[some])), item.function)
                own = np.arange(len(some))
                rows = best_rows(ranks, one.rows[some], found.numbers[some], own, found.count)
            return Total(added(one.counts), None if one.sums is None else added(one.sums), rows)

        totals = tuple(total(item, one) for item, one in zip(query.aggregates, together.totals, strict=True))
        merged = MatchTotals(found.keys, added(together.matches), totals, found.windows)
        return _compacted(merged, events)

    # ---- going on elsewhere ------------------------------------------------------------------------------

    def state(self) -> State:
        """All of it, as arrays and a table."""
        merged = self._merged(self.parts)
        self.parts = [merged] if self.parts else []
        totals, events = merged.totals, merged.events
        state = {
            "matches": totals.matches,
            "windows": np.zeros(0, np.int64) if totals.windows is None else totals.windows,
        }
        state |= in_parts({"events": events.state()})
        state |= {f"keys{number}": rows for number, rows in enumerate(totals.keys)}
        for number, one in enumerate(totals.totals):
            named = {"counts": one.counts, "sums": one.sums, "rows": one.rows}
            state |= {f"{name}{number}": value for name, value in named.items() if value is not None}
        return state

    def resume(self, state: State) -> None:
        """Go on with all of it; there must have been a step, which tells the schema."""
        assert self.none is not None
        totals = MatchTotals(
            tuple(state[f"keys{number}"] for number in range(len(self.query.equivalences))),
            state["matches"],
            tuple(
                Total(state[f"counts{number}"], state.get(f"sums{number}"), state.get(f"rows{number}"))
                for number in range(len(self.query.aggregates))
            ),
            None if self.query.every is None else state["windows"],
        )
        self.parts = [_Part(totals, EventTable.of_state(part("events", state), self.none.schema))]


# ---- totals, part by part --------------------------------------------------------------------------------


def _nothing(query: BoundQuery) -> MatchTotals:
    """Totals of no group."""
    none, nobody = np.zeros(0), np.zeros(0, np.int64)
    totals = tuple(
        Total(
            none,
            none if item.function in ("sum", "avg") else None,
            nobody if item.function in ("min", "max") else None,
        )
        for item in query.aggregates
    )
    return MatchTotals(
        tuple(nobody for _test in query.equivalences), none, totals, nobody if query.every else None
    )


def _each(totals: MatchTotals, number: Callable[[Any], Any], row: Callable[[Integers], Integers]) -> MatchTotals:
    """Totals with all numbers changed in one way, and all rows in another."""
    return MatchTotals(
        tuple(row(rows) for rows in totals.keys),
        number(totals.matches),
        tuple(
            Total(
                number(one.counts),
                None if one.sums is None else number(one.sums),
                None if one.rows is None else row(one.rows),
            )
            for one in totals.totals
        ),
        None if totals.windows is None else number(totals.windows),
    )


def _shifted(totals: MatchTotals, begin: int) -> MatchTotals:
    """The same where the first of its events is in row `begin`."""
    return _each(totals, lambda numbers: numbers, lambda rows: np.where(rows < 0, -1, rows + begin))


def _joined(parts: Sequence[MatchTotals]) -> MatchTotals:
    """The groups of all of them, of one table of events."""

    def joined(columns: Sequence[Any]) -> Any:
        return None if columns[0] is None else np.concatenate(columns)

    return MatchTotals(
        tuple(joined(keys) for keys in zip(*(part.keys for part in parts), strict=True)),
        joined([part.matches for part in parts]),
        tuple(
            Total(*(joined([getattr(one, name) for one in ones]) for name in ("counts", "sums", "rows")))
            for ones in zip(*(part.totals for part in parts), strict=True)
        ),
        joined([part.windows for part in parts]),
    )


def _compacted(totals: MatchTotals, events: EventTable) -> _Part:
    """The totals with only those events that they mention."""
    mentioned = [*totals.keys, *(one.rows for one in totals.totals if one.rows is not None)]
    rows = np.concatenate([np.zeros(0, np.int64), *mentioned])
    used, _places = compact(rows, len(events))
    used = used[used >= 0]
    numbers = np.full(len(events) + 1, -1, np.int64)
    numbers[used] = np.arange(len(used))
    # only their values matter
    times = np.zeros(len(used), np.int64)
    table, types = events.table.take(pa.array(used)), events.types.taken(used)
    taken = EventTable.of_moments(table, events.schema, types, times, times)
    return _Part(_each(totals, lambda one: one, lambda own: numbers[own]), taken)
