"""Who is served by a shared plan: queries and sets, each with its outline, and all of them in one graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.kernels import shared_rows as at
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING, END
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import Integers
from ouzel.physical.shared.columns import Columns
from ouzel.physical.shared.conditions import Reader
from ouzel.physical.shared.graph import Graph
from ouzel.physical.shared.layout import Layout
from ouzel.physical.shared.outline import Outline, outline_of
from ouzel.physical.shared.parameters import values_of, values_of_row
from ouzel.physical.shared.questions import Values
from ouzel.physical.shared.tables import Table
from ouzel.physical.shared.text_outline import text_outline

MOST_PLACES = 255
"""So many events a run may hold: a test has a byte for the place of one."""


@dataclass
class Item:
    """A query or a set: its outline, and of a set the ids of its queries and their numbers in the graph.

    `added` are rows that have come to those of the set; a number of -1 is that of a query which has gone.
    Those at places `apart` share no states: they have runs of their own, from before they were as they are.
    """

    query: BoundQuery
    outline: Outline
    layout: Layout
    numbers: list[int]
    names: list[Any] = field(default_factory=list)
    added: list[dict[str, Any]] = field(default_factory=list)
    apart: set[int] = field(default_factory=set)
    _ids: pa.Array | None = None

    @property
    def ids(self) -> pa.Array | None:
        """The ids by place; None of a query by itself."""
        members = self.query.members
        if members is not None and (self._ids is None or len(self._ids) < len(self.names)):
            self._ids = pa.array(self.names, members.id_type)
        return self._ids

    def row(self, place: int) -> dict[str, Any]:
        """The values of a query of the set."""
        members = self.query.members
        assert members is not None
        assert members.rows is not None
        first = len(members)
        row: dict[str, Any] = (
            members.rows.slice(place, 1).to_pylist()[0] if place < first else self.added[place - first]
        )
        return row

    def apart_now(self) -> list[int]:
        """The places of those that share no states, among those that are there."""
        there = [place for place, number in enumerate(self.numbers) if number >= 0]
        return [now for now, place in enumerate(there) if place in self.apart]

    def now(self) -> BoundQuery | None:
        """The query, or the set with those that are there now; None if it has gone."""
        members = self.query.members
        if members is None:
            return self.query if self.numbers[0] >= 0 else None
        assert members.rows is not None
        there = np.flatnonzero(np.array(self.numbers, np.int64) >= 0)
        first = len(members)
        rows = members.rows.take(pa.array(there[there < first]))
        more = [self.added[place - first] for place in there[there >= first].tolist()]
        if more:
            rows = pa.concat_tables([rows, pa.Table.from_pylist(more, rows.schema)])
        return replace(self.query, members=replace(members, rows=rows))


class Served:
    """All queries and sets of a plan, in one graph."""

    def __init__(
        self, queries: Sequence[BoundQuery], *, merging: bool, indexed: bool, apart: Collection[int] = ()
    ) -> None:
        """Put all of them into a graph; `apart` are places in the one set of queries that share no states."""
        self.columns = Columns()
        self.graph = Graph(self.columns, merging=merging, indexed=indexed)
        self.items: list[Item] = []
        self._whose = Table(2)
        self.width, self.gone = 1, 0
        for query in queries:
            self._insert(query, apart)

    def rebuilt(self) -> Served:
        """Those that are there, numbered from 0, in a new graph, which has nothing of those that have gone."""
        found = Served((), merging=self.graph.merging, indexed=self.graph.indexed)
        for item in self.items:
            query = item.now()
            if query is None:
                found.items.append(item)
            else:
                found._insert(query, item.apart_now())
        return found

    def _insert(self, query: BoundQuery, apart: Collection[int] = ()) -> None:
        members = query.members
        plain = query if members is None else members.template
        outline = outline_for(
            plain, self.graph.reader, frozenset() if members is None else frozenset(members.parameters)
        )
        layout = Layout(outline, self.graph)
        self.width = max(self.width, outline.width)
        number = len(self.items)
        if members is None:
            lives = np.array([[BEGINNING, END]])
            first = self.graph.insert(layout, Values(1, {}), lives)
            self.items.append(Item(query, outline, layout, [first]))
            self._whose.append([(number, 0)])
            return
        rows = members.rows
        assert rows is not None
        count = rows.num_rows
        item = Item(query, outline, layout, [], rows.column(members.id).to_pylist(), apart=set(apart))
        self.items.append(item)
        edges = [0, *sorted({edge for place in apart for edge in (place, place + 1)} - {0, count}), count]
        for begin, end in pairwise(edges if count else []):
            own = Layout(outline, self.graph, apart=True) if begin in item.apart else layout
            some = rows.slice(begin, end - begin)
            first = self.graph.insert(own, values_of(members, some), members.lives(some))
            item.numbers += range(first, first + end - begin)
            self._whose.append(np.stack([np.full(end - begin, number), np.arange(begin, end)], 1))

    def owners(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Of some queries the item, and the place in it."""
        whose = self._whose.data[numbers]
        return whose[:, 0], whose[:, 1]

    # ---- queries that come and go ------------------------------------------------------------------------

    def add_row(self, row: dict[str, Any], since: int) -> None:
        """Add a query to the set, valid from a time on."""
        item = self._set()
        members = item.query.members
        assert members is not None
        assert members.rows is not None
        lives = np.array([[BEGINNING, END]])
        if any(members.written.valid):
            lives = members.lives(pa.Table.from_pylist([row], members.rows.schema))
        lives[:, at.SINCE] = np.maximum(lives[:, at.SINCE], since)
        self._add(item, row, item.layout, lives)

    def _add(self, item: Item, row: dict[str, Any], layout: Layout, lives: Any) -> int:
        """Add a query to a set; its number."""
        members = item.query.members
        assert members is not None
        number = self.graph.insert(layout, values_of_row(members, row), lives)
        self._whose.append([(self.items.index(item), len(item.names))])
        item.numbers.append(number)
        item.names.append(row[members.id])
        item.added.append(row)
        self._places[row[members.id]] = len(item.names) - 1
        return number

    def replace_row(self, row: dict[str, Any]) -> list[tuple[int, int]]:
        """Let a query of the set have other values, apart from others; pairs of nodes, between which runs stay.

        They are those of states that no other values lead to, in the graph before and now.
        """
        item = self._set()
        members = item.query.members
        assert members is not None
        id_ = row[members.id]
        place = self._places[id_]
        old, before = item.numbers[place], item.row(place)
        lives = self.graph.lives.data[[old]].copy()
        number = self._add(item, row, Layout(item.outline, self.graph, apart=True), lives)
        item.apart.add(len(item.names) - 1)
        kept = item.outline.kept_states(values_of_row(members, before), values_of_row(members, row))
        pairs = [(self.graph.node(old, state), self.graph.node(number, state)) for state in kept]
        self._remove(item, place)
        return pairs

    def remove_row(self, id_: Any) -> None:
        """Take a query from the set."""
        item = self._set()
        self._remove(item, self._places.pop(id_))

    def _remove(self, item: Item, place: int) -> None:
        self.graph.remove(item.numbers[place])
        item.numbers[place] = -1
        self.gone += 1

    def remove_item(self, name: str) -> None:
        """Take a query away, or all of a set."""
        item = next(one for one in self.items if one.query.name == name)
        for number in item.numbers:
            if number >= 0:
                self.graph.remove(number)
                self.gone += 1
        item.numbers = [-1] * len(item.numbers)

    def _set(self) -> Item:
        (item,) = self.items
        if not hasattr(self, "_places"):
            self._places = {name: place for place, name in enumerate(item.names)}
        return item

    _places: dict[Any, int]

    # ---- snapshots ---------------------------------------------------------------------------------------

    def live(self) -> list[int]:
        """The numbers of all queries that are there, in the order in which another would number them from 0."""
        return [number for item in self.items for number in item.numbers if number >= 0]

    def lives(self) -> Any:
        """From when until when each of them is valid."""
        return self.graph.lives.data[self.live()].copy()

    def owners_of_nodes(self) -> tuple[Integers, Integers]:
        """Of each node a query that has it as a state, by its place among those that are there, and that state."""
        nodes = self.graph.nodes.count
        queries, states = np.full(nodes, -1), np.full(nodes, -1)
        places = np.full(self.graph.lives.count, -1)
        live = self.live()
        places[live] = np.arange(len(live))
        for first, path, _outline in self.graph.paths:
            for state in range(path.shape[1]):
                there = np.flatnonzero(path[:, state] >= 0)
                queries[path[there, state]] = places[first + there]
                states[path[there, state]] = state
        return queries, states

    def resume(self, lives: Any) -> None:
        """Let queries be valid as they were elsewhere; they are those that are there, numbered from 0."""
        self.graph.lives.data[: len(lives)] = lives

    def nodes_of(self, queries: Integers, states: Integers) -> Integers:
        """The nodes of some states of queries, by their numbers."""
        firsts = np.array([first for first, _path, _outline in self.graph.paths], np.int64)
        nodes = np.empty(len(queries), np.int64)
        batches = np.searchsorted(firsts, queries, side="right") - 1
        for batch in each_once(batches).tolist():
            own = np.flatnonzero(batches == batch)
            first, path, _outline = self.graph.paths[batch]
            nodes[own] = path[queries[own] - first, states[own]]
        return nodes


def outline_for(query: BoundQuery, reader: Reader, parameters: frozenset[str]) -> Outline:
    """The outline of a query, in which some parameters are left open; an UnsuitableError if there is none."""
    reader.parameters = parameters
    outline = outline_of(query, reader) if query.algebra is not None else text_outline(query, reader)
    if outline.width > MOST_PLACES:
        raise UnsuitableError(f"it holds more than {MOST_PLACES} events")
    return outline
