"""Composition: the matches of a query as events of others, and what a query reads of all events there are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa

from ouzel.logical.program import composite_type
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Schema
from ouzel.physical.event_table import EventTable
from ouzel.physical.event_types import EventTypes
from ouzel.physical.match_table import MatchTable


def composite_events(query: BoundQuery, matches: MatchTable, table: pa.Table) -> EventTable:
    """The matches of a query as events of the type that INTO names; the columns of its result are attributes."""
    event_type = composite_type(query)
    own = {name: column.name for name, column in (event_type.attributes or {}).items()}
    columns = [own.get(name, f"{event_type.name}.{name}") for name in table.column_names]
    types = EventTypes.of_column(pa.chunked_array([pa.repeat(event_type.name, len(matches))]))
    intervals = matches.starts, matches.ends, matches.start_times, matches.end_times
    return EventTable(table.rename_columns(columns), query.schema, types, *intervals)


def read_by(
    query: BoundQuery, primitive: EventTable, composites: Mapping[str, EventTable], columns: Collection[str]
) -> EventTable:
    """The events that a query reads: primitive ones if it mentions any, and the composite ones it mentions.

    To contiguity and to windows that count, no others are there.
    """
    parts = [primitive] if query.reads_primitive else []
    parts += [composites[name] for name in query.composites]
    return reduce(EventTable.followed_by, (part.select(columns) for part in parts))


# ---- events that wait ------------------------------------------------------------------------------------


class Inbox:
    """Events that wait until all that end before them are there, in pieces: few are looked at to let some go."""

    def __init__(self) -> None:
        """Begin with no events, of columns that are not known yet."""
        self._none: EventTable | None = None
        self._pieces: list[EventTable] = []

    def add(self, events: EventTable) -> None:
        """Let events wait."""
        self._none = events.none() if self._none is None else self._none
        if len(events):
            self._pieces.append(events)

    def before(self, until: int | None) -> EventTable:
        """Let those go that end before a time; None says all."""
        pieces, self._pieces, gone = self._pieces, [], []
        for piece in pieces:
            early, late = (piece, None) if until is None else piece.parted(until)
            gone += [early] if early else []
            self._pieces += [late] if late else []
        return self._joined(gone)

    def _joined(self, pieces: list[EventTable]) -> EventTable:
        assert self._none is not None
        return reduce(EventTable.followed_by, pieces) if pieces else self._none

    def state(self) -> dict[str, Any]:
        """All events that wait."""
        return {} if self._none is None else self._joined(self._pieces).state()

    def resume(self, state: dict[str, Any], schema: Schema) -> None:
        """Go on with events that waited elsewhere."""
        self._none, self._pieces = None, []
        if state:
            self.add(EventTable.of_state(state, schema))
