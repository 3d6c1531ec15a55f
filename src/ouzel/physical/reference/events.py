"""The reference matcher's view of a stream: plain events in a canonical order, values by column and row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import pyarrow as pa

from ouzel.logical.values import Kind, from_arrow


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

    def column(self, name: str) -> list[Any]:
        """All values of a column, as expressions see them."""
        if name not in self._columns:
            self._columns[name] = python_values(self.table.column(name))
        return self._columns[name]


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """A column's values as expressions see them: times as integers, decimals as floats."""
    arrow = column.type
    if pa.types.is_dictionary(arrow):
        column = column.cast(arrow.value_type)
        arrow = column.type
    if pa.types.is_decimal(arrow):
        column = column.cast(pa.float64())
    elif pa.types.is_date64(arrow):
        column = column.cast(pa.date32()).cast(pa.int32())
    elif pa.types.is_date32(arrow):
        column = column.cast(pa.int32())
    elif from_arrow(arrow).kind in (Kind.TIMESTAMP, Kind.DURATION):
        column = column.cast(pa.int64())
    return column.to_pylist()  # type: ignore[no-any-return]


class Stream:
    """Events in canonical order: by end, and where that is equal by start and content, never by arrival."""

    def __init__(self, events: Sequence[Event], values: Values) -> None:
        """Take events that are in canonical order."""
        self.events = events
        self.values = values

    def value(self, event: Event, column: str) -> Any:
        """One attribute of one event."""
        return self.values.column(column)[event.row]

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
