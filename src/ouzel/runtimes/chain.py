"""How a program goes through a stream step by step: a chain of matchings, each fed by those before it.

A query that reads composite events is given those that end before the first match of their query that still
waits, and no other event after that: it has a time of its own, which is behind that of the stream.  So all that
end at one moment are there before it sees any of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.logical.columns import needed_columns
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Adapts, Counters, Found, Matching, Takes
from ouzel.physical.event_table import EventTable
from ouzel.physical.limit_errors import advising
from ouzel.physical.limits import Limits
from ouzel.runtimes.composites import Inbox, composite_events, read_by
from ouzel.runtimes.replay import Replay, earliest
from ouzel.runtimes.results import result_table
from ouzel.runtimes.running_totals import RunningTotals
from ouzel.state.parts import in_parts, part

State = dict[str, Any]


class Chain:
    """A program at work: its queries, each with a matching that keeps its own state."""

    def __init__(self, plans: Sequence[Plan], limits: Limits, threads: int = 1) -> None:
        """Begin all of them, in an order in which each follows those that feed it; threads share large batches."""
        if any(plan.query.numbers_matches for plan in plans):
            raise OuzelError(
                "match_number(): required all events at once, as in match; a matcher reports matches one by one\n"
                "  hint: number what it returns; in batches on Spark, allow for more: oz.SparkOptions(memory=…)"
            )
        limits = limits.settled()  # of all together
        read = {name for plan in plans for name in plan.query.composites}
        self.links = [_Link(plan, limits, threads, is_read=plan.query.into in read) for plan in plans]

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""
        return sum(link.matching.open_runs for link in self.links)

    @property
    def plans(self) -> list[Plan]:
        """Its plans as they are now, each with what is known of events if that may change it."""
        return [
            replace(one.plan, statistics=one.matching.chosen_by) if isinstance(one.matching, Adapts) else one.plan
            for one in self.links
        ]

    def counters(self, before: Counters) -> Counters:
        """What its matchings did, added to what was done before they began."""
        counters = replace(before)
        for link in self.links:
            counters.add(link.matching.counters)
        return counters

    def step(self, events: EventTable, now: int | None) -> dict[str, pa.Table]:
        """The matches that are final when these events are there and none before `now` will follow."""
        results: dict[str, pa.Table] = {}
        made: dict[str, EventTable] = {}
        settled: dict[str, int | None] = {}
        for link in self.links:
            query = link.plan.query
            until = earliest(now, *(settled[name] for name in link.reads)) if link.reads else now
            with advising(query):
                found = link.push(link.given(events, made, until), until)
                results[query.name] = link.result(found, until)
            if query.into is not None and link.is_read:
                settled[query.into] = earliest(until, link.matching.waiting)
                made[query.into] = composite_events(query, found.matches, results[query.name])
        return results

    def state(self) -> State:
        """What there is to know to go on elsewhere: the states of all links, by number."""
        return in_parts({str(number): link.state() for number, link in enumerate(self.links)})

    def resume(self, state: State) -> None:
        """Go on from there."""
        for number, link in enumerate(self.links):
            link.resume(part(str(number), state))


class _Link:
    """A query, the matching that runs it, and what waits before it: composite events may come that end earlier."""

    def __init__(self, plan: Plan, limits: Limits, threads: int, *, is_read: bool) -> None:
        self.plan = plan
        self.is_read = is_read
        self.limits = limits
        self.threads = threads
        self.totals = RunningTotals(plan.query) if plan.query.aggregates else None
        self.reads = plan.query.composites
        self.inbox = Inbox() if self.reads else None
        self._none: pa.Table | None = None

    @cached_property
    def columns(self) -> frozenset[str]:
        """What the query needs of events."""
        return needed_columns([self.plan.query])

    @cached_property
    def matching(self) -> Matching:
        """The plan at work, which begins as there are events: with it, kernels are written."""
        in_order = self.plan.physical.takes is Takes.IN_ORDER
        if not in_order:
            return Replay(self.plan, self.limits)
        return self.plan.physical.begin(self.limits, threads=self.threads)

    def given(self, events: EventTable, made: Mapping[str, EventTable], until: int | None) -> EventTable:
        """What of the latest events, and of those that waited, the query is given."""
        if self.inbox is None:
            return events.select(self.columns)
        self.inbox.add(read_by(self.plan.query, events, made, self.columns))
        return self.inbox.before(until)

    def push(self, events: EventTable, until: int | None) -> Found:
        """Match events; none that ends before a time will follow."""
        (found,) = self.matching.push(events, until)
        return found

    def result(self, found: Found, until: int | None) -> pa.Table:
        """What is reported of the matches that were found; the table of none is made but once."""
        if self.totals is not None:
            return self.totals.step(found, earliest(until, self.matching.waiting))
        if len(found.matches):
            return result_table(found, self.threads)
        if self._none is None:
            self._none = result_table(found)
        return self._none

    def state(self) -> State:
        states = {"matching": self.matching.state()}
        states |= {} if self.totals is None else {"totals": self.totals.state()}
        return in_parts(states | ({} if self.inbox is None else {"inbox": self.inbox.state()}))

    def resume(self, state: State) -> None:
        self.matching.resume(part("matching", state))
        if self.totals is not None:
            self.totals.resume(part("totals", state))
        if self.inbox is not None:
            self.inbox.resume(part("inbox", state), self.plan.query.schema)
