"""The reference matcher's view of a stream: plain events in a canonical order, values by column and row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import pyarrow as pa

from ouzel.physical.meaning import key_values, python_values


@dataclass(frozen=True, slots=True)
class Event:
    """An event: its row in the table, its type, its interval.

    `start` and `end` order events: the time, or (time, tie-breakers…).  `start_time` and `end_time` are the times
    alone, for windows.
    """

    row: int
    type: str
    start: Any
    end: Any
    start_time: int
    end_time: int

    def precedes(self, other: Event) -> bool:
        """Whether this event is over before the other begins."""
        return bool(self.end < other.start)


class Values:
    """The columns of a table as Python values, each converted once, when it is first asked for."""

    def __init__(self, table: pa.Table) -> None:
        """Keep the table."""
        self.table = table
        self._columns: dict[str, list[Any]] = {}
        self._keys: dict[tuple[str, bool], list[Any]] = {}

    def column(self, name: str) -> list[Any]:
        """All values of a column, as expressions see them."""
        if name not in self._columns:
            self._columns[name] = python_values(self.table.column(name))
        return self._columns[name]

    def keys(self, name: str, *, real: bool) -> list[Any]:
        """All values of a column, as equivalence tests compare them; `real` if doubles are among those."""
        if (name, real) not in self._keys:
            self._keys[name, real] = key_values(self.table.column(name), real=real)
        return self._keys[name, real]


class Stream:
    """Events in canonical order: by end, and where that is equal by start and content, never by arrival."""

    def __init__(self, events: Sequence[Event], values: Values) -> None:
        """Take events that are in canonical order."""
        self.events = events
        self.values = values

    def value(self, event: Event, column: str) -> Any:
        """One attribute of one event."""
        return self.values.column(column)[event.row]

    def key(self, event: Event, column: str, *, real: bool) -> Any:
        """One attribute of one event, as an equivalence test compares it."""
        return self.values.keys(column, real=real)[event.row]

    def simultaneous(self) -> Iterator[list[Event]]:
        """The events in groups that end together, in order of time."""
        for _end, group in groupby(self.events, key=lambda event: event.end):
            yield list(group)

    @cached_property
    def places(self) -> dict[Event, int]:
        """The place of every event in the canonical order."""
        return {event: place for place, event in enumerate(self.events)}

    @cached_property
    def ends(self) -> list[Any]:
        """The ends of all events, in order."""
        return [event.end for event in self.events]

    def rank(self, event: Event) -> int:
        """How many events of the stream are over before this one: its position in a window of n EVENTS."""
        return bisect_left(self.ends, event.end)
