"""What was reported and may be withdrawn: rows of results with their ids, by the time at which they were found.

What is found anew is compared with it row by row: equal rows keep their ids, and only differences are reported.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import QueryError
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import END
from ouzel.physical.event_table import Integers
from ouzel.physical.pairing import paired
from ouzel.runtimes.row_numbers import row_numbers
from ouzel.state.parts import in_parts, part

OP, MATCH_ID = "op", "match_id"
PROVISIONAL = END
"""Found at the end of time: what would be reported if the stream were over."""


@dataclass(frozen=True)
class Rows:
    """Rows of a query that were found in a step from a time on."""

    since: int
    table: pa.Table
    ids: Integers


class Reported:
    """The rows of one query that are reported and not final."""

    def __init__(self) -> None:
        """Begin with none."""
        self.kept: list[Rows] = []
        """By the time from which on they were found: there may be some for every push."""

    def since(self, time: int) -> list[Rows]:
        """Take out what was found from a time on."""
        place = self._place(time)
        found = self.kept[place:]
        del self.kept[place:]
        return found

    def forget(self, before: int) -> None:
        """Forget what was found before a time: it is final."""
        del self.kept[: self._place(before)]

    def _place(self, time: int) -> int:
        return bisect_left(self.kept, time, key=attrgetter("since"))

    def drop(self, column: str, value: Any) -> None:
        """Forget rows that have a value in a column."""
        kept = []
        for one in self.kept:
            places = np.flatnonzero(_others(one.table, column, value).to_numpy())
            kept.append(Rows(one.since, one.table.take(pa.array(places)), one.ids[places]))
        self.kept = kept

    def replaced(self, old: Sequence[Rows], new: Sequence[tuple[int, pa.Table]], next_id: int) -> tuple[Any, int]:
        """Remember what is found in place of what was; the differences, and the next id that is free."""
        after = _joined([table for _, table in new])
        before = None if not old else _joined([one.table for one in old])
        if before is None or not before.num_rows:
            ids = np.arange(next_id, next_id + after.num_rows)
            self._keep(new, ids)
            return changes(after, ids, 1), next_id + after.num_rows
        were = np.concatenate([one.ids for one in old])
        gone, kept = compared(before, were, after)
        ids = np.where(kept >= 0, kept, 0)
        fresh = np.flatnonzero(kept < 0)
        ids[fresh] = np.arange(next_id, next_id + len(fresh))
        self._keep(new, ids)
        withdrawn = changes(before.take(pa.array(gone)), were[gone], -1)
        inserted = changes(after.take(pa.array(fresh)), ids[fresh], 1)
        return pa.concat_tables([withdrawn, inserted]), next_id + len(fresh)

    def _keep(self, new: Sequence[tuple[int, pa.Table]], ids: Integers) -> None:
        begin = 0
        for since, table in new:
            if table.num_rows:
                self.kept.append(Rows(since, table, ids[begin : begin + table.num_rows]))
            begin += table.num_rows

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All rows, their ids, and when they were found."""
        if not self.kept:
            return {}
        counts = [len(one.ids) for one in self.kept]
        return {
            "rows": _joined([one.table for one in self.kept]),
            "ids": np.concatenate([one.ids for one in self.kept]),
            "since": np.repeat(np.array([one.since for one in self.kept], np.int64), counts),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on with rows that were reported elsewhere."""
        self.kept = []
        if not state:
            return
        since = state["since"]
        edges = [0, *(np.flatnonzero(since[1:] != since[:-1]) + 1).tolist(), len(since)]
        for begin, end in pairwise(edges):
            table = state["rows"].slice(begin, end - begin)
            self.kept.append(Rows(int(since[begin]), table, state["ids"][begin:end]))


class Log:
    """What was reported of all queries, and what has yet to be told of it."""

    def __init__(self, *, remembers: bool) -> None:
        """Begin with nothing; what is final at once need not be remembered."""
        self._remembers = remembers
        self._of: dict[str, Reported] = {}
        self._owed: dict[str, pa.Table] = {}
        self._next_id = 0

    def replace(
        self, names: Sequence[str], since: int, found: Sequence[tuple[int, Mapping[str, pa.Table]]]
    ) -> None:
        """Put what is found in the place of what was reported from a time on; the differences are owed."""
        for name in names:
            reported = self._of.setdefault(name, Reported()) if self._remembers else Reported()
            new = [(time, tables[name]) for time, tables in found if name in tables]
            changed, self._next_id = reported.replaced(reported.since(since), new, self._next_id)
            owed = self._owed.get(name)
            self._owed[name] = changed if owed is None else _joined([owed, changed])

    def know(self, rows: Mapping[str, Rows], next_id: int) -> None:
        """Go on with what was reported elsewhere."""
        self._next_id = next_id
        for name, own in rows.items():
            self._of[name] = Reported()
            self._of[name].kept = [own] if len(own.ids) else []

    def told(self, names: Sequence[str]) -> dict[str, pa.Table]:
        """What is owed, by query."""
        owed, self._owed = self._owed, {}
        return {name: owed[name] for name in names}

    def forget(self, before: int) -> None:
        """Forget what was found before a time: it is final."""
        for one in self._of.values():
            one.forget(before)

    def drop(self, column: str, value: Any) -> None:
        """Forget the rows of a query of a set, by its id."""
        for one in self._of.values():
            one.drop(column, value)
        for name, table in self._owed.items():
            self._owed[name] = table.filter(_others(table, column, value))

    def only(self, names: Sequence[str]) -> None:
        """Forget all other queries."""
        self._of = {name: one for name, one in self._of.items() if name in names}
        self._owed = {name: one for name, one in self._owed.items() if name in names}

    def state(self) -> dict[str, Any]:
        """All that was reported and is not final, what is owed, and the next id."""
        states = {str(place): one.state() for place, one in enumerate(self._of.values())}
        owed = {f"owed{place}": table for place, table in enumerate(self._owed.values())}
        return {
            "next": self._next_id,
            "names": list(self._of),
            "debts": list(self._owed),
            **owed,
            **in_parts(states),
        }

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._next_id, self._of = state["next"], {}
        for place, name in enumerate(state["names"]):
            self._of[name] = Reported()
            self._of[name].resume(part(str(place), state))
        self._owed = {name: state[f"owed{place}"] for place, name in enumerate(state["debts"])}


def _others(table: pa.Table, column: str, value: Any) -> pa.ChunkedArray:
    """Which rows have another value in a column."""
    return pc.not_equal(table.column(column), pa.scalar(value, table.schema.field(column).type))


def changes(table: pa.Table, ids: Integers, op: int) -> pa.Table:
    """Rows to insert or to withdraw."""
    signs = pa.array(np.full(len(ids), op, np.int8))
    return table.append_column(OP, signs).append_column(MATCH_ID, pa.array(ids, pa.int64()))


def check_columns(query: BoundQuery) -> None:
    """Refuse a query that has a column of its own of such a name."""
    names = _columns(query)
    for name in (OP, MATCH_ID):
        if name in names:
            what = "whether a match is inserted or withdrawn" if name == OP else "which match it is"
            raise QueryError(
                f"a column of the result of '{query.name}' is called '{name}', as the one that says {what}",
                hint="give the field of the register another name"
                if query.automaton is not None
                else "give it another name with AS, or rename it in the algebra",
            )


def _columns(query: BoundQuery) -> set[str]:
    """The columns of a result that users name."""
    if query.members is not None:
        return {query.members.id} | _columns(query.members.template)
    if query.attributes is not None:
        return {one.name for one in query.attributes}
    if query.aggregates:
        return {one.name for one in query.aggregates} | {test.attribute for test in query.equivalences}
    return {one.name for one in query.output} or {one.variable for one in query.components if not one.negative}


def compared(before: pa.Table, were: Integers, after: pa.Table) -> tuple[Integers, Integers]:
    """The rows that are gone, in order of their ids; and the ids of rows that stay, -1 for new ones.

    Of equal rows those with the least ids stay.
    """
    if not before.num_rows or not after.num_rows:
        return np.argsort(were), np.full(after.num_rows, -1, np.int64)
    numbers = row_numbers(_joined([before, after]))
    by_id = np.argsort(were)
    there, here = paired(numbers[by_id], numbers[len(were) :])
    kept = np.full(after.num_rows, -1, np.int64)
    kept[here] = were[by_id[there]]
    return np.delete(by_id, there), kept


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="default")
