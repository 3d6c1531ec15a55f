"""Punctuations with a condition (AFA, Appendix F.2): of some events, none before a time comes any more.

They say what is late.  What is final, and reported, goes by the punctuation without a condition alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.bind_promise import bind_promise, columns_of
from ouzel.logical.constants import can_match
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import Schema
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.event_table import EventTable
from ouzel.physical.match_table import Flags

_WRITTEN = pa.schema({"where": pa.string(), "time": pa.int64()})


@dataclass(frozen=True)
class Promise:
    """No event of which a condition is true is inserted or withdrawn any more before a time."""

    time: int
    condition: BoundQuery

    @property
    def text(self) -> str:
        """The condition as it was written."""
        return self.condition.source

    @cached_property
    def _filters(self) -> Filters:
        return Filters(self.condition)

    @cached_property
    def _is_possible(self) -> bool:
        return can_match(self.condition)

    def holds(self, events: EventTable) -> Flags:
        """Of which events the condition is true."""
        if not self._is_possible:
            return np.zeros(len(events), np.bool_)
        masks = np.ones(len(events), np.int64)
        if not self._filters.is_empty and len(events):
            masks = self._filters.apply(masks, events, np.arange(len(events)), events.end_times)
        found: Flags = masks != 0
        return found

    def breaks(self, events: EventTable) -> Flags:
        """Which events were promised not to come."""
        is_before: Flags = events.end_times < self.time
        places = np.flatnonzero(is_before)
        if len(places):
            is_before[places] = self.holds(events.taken(places))
        return is_before

    def is_of(self, columns: Iterable[str]) -> bool:
        """Whether the condition is about some columns alone, and so the same for all events equal in them."""
        return set(columns_of(self.condition)) <= set(columns)


class Promises:
    """Those that are in force, by their conditions."""

    def __init__(self, schema: Schema) -> None:
        """Begin with none, for events of a schema."""
        self._schema = schema
        self._by_text: dict[str, Promise] = {}

    def __iter__(self) -> Iterator[Promise]:
        """All of them."""
        return iter(self._by_text.values())

    def read(self, time: int, where: Any) -> Promise:
        """A promise as it is given; an error if the condition has no meaning."""
        return Promise(time, bind_promise(where, self._schema))

    def add(self, promise: Promise) -> None:
        """Take one more; of two with the same condition, the one that says more."""
        known = self._by_text.get(promise.text)
        if known is None or known.time < promise.time:
            self._by_text[promise.text] = promise

    def forget(self, now: int) -> None:
        """Forget what says no more than that time has passed."""
        if self._by_text:
            self._by_text = {text: one for text, one in self._by_text.items() if one.time > now}

    def late(self, events: EventTable, now: int) -> Flags:
        """Which events come too late: time has passed them, or they were promised not to come."""
        is_late: Flags = events.end_times < now
        for promise in self:
            is_late |= promise.breaks(events)
        return is_late

    @property
    def said(self) -> str:
        """What they promise, for a message."""
        first = next(iter(self), None)
        if first is None:
            return ""
        more = f" (and {len(self._by_text) - 1:,} more conditions)" if len(self._by_text) > 1 else ""
        return f", and none before {first.time} was to come where {first.text}{more}"

    def state(self) -> dict[str, Any]:
        """All of them."""
        rows = [{"where": one.text, "time": one.time} for one in self]
        return {"promises": pa.Table.from_pylist(rows, _WRITTEN)}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with those; there were none in snapshots of before."""
        self._by_text = {}
        for row in state["promises"].to_pylist() if "promises" in state else ():
            self.add(self.read(row["time"], row["where"]))
