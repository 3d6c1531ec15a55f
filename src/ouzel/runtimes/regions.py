"""Corrections by regions: only the partitions of late and withdrawn events, near their times, are matched again.

A chain takes the events that come in order, and never hears of corrections.  What it finds in a partition that was
corrected, up to a window after that, is dropped; in its place comes what is found in the surviving events of
those partitions at once, compared with what was reported there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.runtimes.ordering import ranked
from ouzel.runtimes.region import Order, Region
from ouzel.runtimes.region_keys import region_keys
from ouzel.runtimes.tail import Tail
from ouzel.state.parts import in_parts, part


class Regions:
    """All queries of a program, each corrected region by region."""

    words = "late and withdrawn events: their partitions, a window around them, are matched again"
    rewinds = False

    def __init__(self, regions: Sequence[Region], none: EventTable, order: Order) -> None:
        """Begin."""
        self.regions, self._order, self.next_id = regions, order, 0
        for one in regions:
            one.chain.step(none, BEGINNING)

    @property
    def now(self) -> int:
        """The time that has been matched."""
        return self._order.since

    def begin(self) -> None:
        """All is known that there is to know."""

    def numbered(self, events: EventTable) -> EventTable:
        """Events with the numbers of their buckets."""
        table = events.table
        for one in self.regions:
            table = table.append_column(one.column, one.buckets(events.table))
        return replace(events, table=table)

    def unnumbered(self, tail: Tail) -> EventTable:
        """The events of a tail without these."""
        events = tail.between(BEGINNING, None)
        return replace(events, table=events.table.drop_columns([one.column for one in self.regions]))

    def standing(self, punctuation: int) -> dict[str, tuple[pa.Table, Integers]]:
        """What was told of each query and may still be withdrawn, with its ids."""
        found = {one.name: one.standing(punctuation) for one in self.regions}
        return {name: rows for name, rows in found.items() if rows is not None}

    def go(self, tail: Tail, changed: EventTable, until: int | None) -> dict[str, pa.Table]:
        """Match the events before a time, and again where events have changed before that; what differs."""
        order = self._order
        order.until = until
        events = tail.between(order.since, until)
        result = {}
        for one in self.regions:
            result[one.name], self.next_id = one.step(tail, order, changed, events, self.next_id)
        _, order.released = ranked(events, order.ties, order.by_arrival, order.released)
        order.since = order.since if until is None else max(until, order.since)
        return result

    def forget(self, tail: Tail, punctuation: int) -> None:
        """Forget what no correction can reach any more."""
        for one in self.regions:
            one.forget(punctuation)
        tail.forget(max(min(punctuation, self.now) - max(one.reach for one in self.regions), BEGINNING))

    def suits(self, plan: Plan) -> bool:
        """Whether a query can be corrected so once its arcs are others: it has none."""
        return plan.query.automaton is None

    def settled(self, now: int) -> int:
        """Before this time nothing is matched any more."""
        return now

    def changes_from(self, now: int, latest: int) -> int:  # noqa: ARG002 - there are no arcs that could change
        """From this time on queries may change."""
        return now

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""
        return sum(one.chain.open_runs for one in self.regions)

    def counters(self, counted: Counters) -> Counters:
        """What all chains did."""
        for one in self.regions:
            counted = one.chain.counters(counted)
            counted.add(one.past)
        return counted

    def state(self, tail: Tail) -> dict[str, Any]:  # noqa: ARG002 - it knows all that it needs
        """All regions, and how far they are."""
        numbers = {"since": self._order.since, "released": self._order.released, "next": self.next_id}
        return numbers | in_parts({str(place): one.state() for place, one in enumerate(self.regions)})

    def resume(self, state: dict[str, Any], tail: Tail) -> None:  # noqa: ARG002 - it knows all that it needs
        """Go on from there."""
        self._order.since, self._order.released = state["since"], state["released"]
        self.next_id = state["next"]
        for place, one in enumerate(self.regions):
            one.resume(part(str(place), state))


def regions_of(
    plans: Sequence[Plan], none: EventTable, order: Order, limits: Limits, threads: int
) -> Regions | None:
    """All plans corrected region by region, if every one of them can be."""
    keys = [region_keys(plan.query, none.table.schema) for plan in plans]
    if not all(keys):
        return None
    found = enumerate(zip(plans, keys, strict=True))
    return Regions([Region(plan, own, n, limits, threads) for n, (plan, own) in found], none, order)
