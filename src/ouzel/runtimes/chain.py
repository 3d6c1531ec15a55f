"""How a program goes through a stream step by step: a chain of matchings, each fed by those before it.

A query that reads composite events is given those that end before the first match of their query that still
waits, and no other event after that: it has a time of its own, which is behind that of the stream.  So all that
end at one moment are there before it sees any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.logical.columns import needed_columns
from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.physical.apart import ApartPlan
from ouzel.physical.contract import Adapts, Counters, Found, Matching, Takes
from ouzel.physical.event_table import EventTable
from ouzel.physical.limit_errors import advising
from ouzel.physical.limits import Limits
from ouzel.runtimes.composites import Inbox, composite_events, read_by
from ouzel.runtimes.members import MembersMatching
from ouzel.runtimes.replay import Replay, earliest
from ouzel.runtimes.results import result_table
from ouzel.runtimes.running_totals import RunningTotals
from ouzel.state.parts import in_parts, part

State = dict[str, Any]


class Chain:
    """A program at work: its queries, each with a matching that keeps its own state."""

    def __init__(self, plans: Sequence[Plan], limits: Limits, threads: int = 1) -> None:
        """Begin all of them, in an order in which each follows those that feed it; threads share large batches."""
        self.limits, self.threads = limits.settled(), threads  # of all together
        self.links: list[_Link] = []
        self.add(plans)

    def add(self, plans: Sequence[Plan], since: int = BEGINNING) -> None:
        """Begin more, which follow those that are there and see events that end at a time or later."""
        if any(plan.query.numbers_matches for plan in plans):
            raise OuzelError(
                "match_number(): required all events at once, as in match; a matcher reports matches one by one\n"
                "  hint: number what it returns; in batches on Spark, allow for more: oz.SparkOptions(memory=…)"
            )
        self.links += [_Link(plan, self.limits, self.threads, since) for plan in plans]
        self._note_readers()

    def remove(self, names: Collection[str]) -> Counters:
        """End some queries; what they did."""
        gone = [link for link in self.links if link.plan.query.name in names]
        self.links = [link for link in self.links if link.plan.query.name not in names]
        self._note_readers()
        counters = Counters()
        for link in gone:
            counters.add(link.matching.counters)
        return counters

    def _note_readers(self) -> None:
        read = {name for link in self.links for name in link.plan.query.composites}
        for link in self.links:
            link.is_read = link.plan.query.into in read

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
        results, _found = self._step(events, now)
        return results

    def found(self, events: EventTable, now: int | None) -> tuple[Found, pa.Table]:
        """What the last query finds, and its result."""
        results, found = self._step(events, now)
        assert found is not None
        return found, results[self.links[-1].plan.query.name]

    @property
    def waiting(self) -> int | None:
        """The first time at which matches of the last query end that wait until they are final."""
        return self.links[-1].matching.waiting

    def _step(self, events: EventTable, now: int | None) -> tuple[dict[str, pa.Table], Found | None]:
        found: Found | None = None
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
        return results, found

    def state(self) -> State:
        """What there is to know to go on elsewhere: the states of all links, by number, and whose they are."""
        names = {"names": [link.plan.query.name for link in self.links]}
        return names | in_parts({str(number): link.state() for number, link in enumerate(self.links)})

    def resume(self, state: State) -> None:
        """Go on from there; there were no names in snapshots of before."""
        names = state.get("names", [link.plan.query.name for link in self.links])
        numbers = {name: str(number) for number, name in enumerate(names)}
        for link in self.links:
            link.resume(part(numbers[link.plan.query.name], state))


class _Link:
    """A query, the matching that runs it, and what waits before it: composite events may come that end earlier."""

    is_read = False

    def __init__(self, plan: Plan, limits: Limits, threads: int, since: int) -> None:
        self.plan, self.since = plan, since
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
        physical = self.plan.physical
        if isinstance(physical, ApartPlan):
            return MembersMatching(physical, self.limits, Chain)
        if physical.takes is not Takes.IN_ORDER:
            return Replay(self.plan, self.limits)
        return physical.begin(self.limits, threads=self.threads)

    def given(self, events: EventTable, made: Mapping[str, EventTable], until: int | None) -> EventTable:
        """What of the latest events, and of those that waited, the query is given."""
        if self.inbox is None:
            return events.select(self.columns)
        read = read_by(self.plan.query, events, made, self.columns)
        if len(read) and int(read.end_times.min()) < self.since:  # matches of others that waited since before
            read = read.taken(np.flatnonzero(read.end_times >= self.since))
        self.inbox.add(read)
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
        return {"since": self.since} | in_parts(
            states | ({} if self.inbox is None else {"inbox": self.inbox.state()})
        )

    def resume(self, state: State) -> None:
        self.since = state.get("since", BEGINNING)  # there was none in snapshots of before
        self.matching.resume(part("matching", state))
        if self.totals is not None:
            self.totals.resume(part("totals", state))
        if self.inbox is not None:
            self.inbox.resume(part("inbox", state), self.plan.query.schema)
