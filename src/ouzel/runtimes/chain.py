"""How a program goes through a stream step by step: a chain of matchings, each fed by those before it.

A query that reads composite events is given those that end before the first match of their query that still
waits, and no other event after that: it has a time of its own, which is behind that of the stream.  So all that
end at one moment are there before it sees any of them.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.explanation import Count
from ouzel.logical.columns import needed_columns
from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.optimizer.share import Groups, alone, group, shared
from ouzel.physical.apart import ApartPlan
from ouzel.physical.automaton.row_matching import RowMatching
from ouzel.physical.automaton.row_plan import RowPlan
from ouzel.physical.contract import Adapts, Counters, Found, Matching, PhysicalPlan, Takes
from ouzel.physical.event_table import EventTable
from ouzel.physical.limit_errors import advising, of_list
from ouzel.physical.limits import Limits
from ouzel.physical.shared.matching import SharedMatching
from ouzel.runtimes.carrying import carry
from ouzel.runtimes.composites import Inbox, composite_events, read_by
from ouzel.runtimes.kinds import columns_in_words
from ouzel.runtimes.members import MembersMatching
from ouzel.runtimes.replay import Replay, earliest
from ouzel.runtimes.results import result_table
from ouzel.runtimes.running_totals import RunningTotals
from ouzel.state.parts import in_parts, part

State = dict[str, Any]


class Chain:
    """A program at work: its queries, each with a matching that keeps its own state."""

    keeps_columns = False
    """Whether a query that takes the place of another must have its columns, as rows of that may be withdrawn."""

    def __init__(self, plans: Sequence[Plan], limits: Limits, threads: int = 1) -> None:
        """Begin all of them, in an order in which each follows those that feed it; threads share large batches."""
        self.limits, self.threads = limits.settled(), threads  # of all together
        self.links: list[_Link] = []
        self._none: EventTable | None = None
        self._begin(plans, shared(plans))

    def anew(self) -> Chain:
        """The same queries, before all events."""
        made = Chain(self.all_plans, self.limits, self.threads)
        # what no events look like, and what is read of them, takes longer to find out than to match a few
        made._none = self._none
        for link, own in zip(made.links, self.links, strict=True):
            link.columns = own.columns
        return made

    def add(self, plans: Sequence[Plan], since: int = BEGINNING) -> None:
        """Begin more, which follow those that are there and see events that end at a time or later."""
        self._begin(plans, alone(plans), since)

    def _begin(self, plans: Sequence[Plan], groups: Groups, since: int = BEGINNING) -> None:
        _check_numbers(plans)
        self.links += [_Link(some, physical, self.limits, self.threads, since) for some, physical in groups]
        self._note_readers()

    def become(self, plan: Plan) -> None:
        """Let the one query go on with another plan, in which its arcs have changed."""
        (link,) = self.links
        if self._none is None:  # it has had no events
            self.links = []
            self._begin([plan], alone([plan]))
        else:
            link.become(plan, self._none)

    def replace(self, plan: Plan, now: int) -> Counters:
        """Let a query take the place of the one of its name, from a time on; what that did.

        Partial matches go on of what stays the same; if they cannot, an error says so, and nothing has changed.
        """
        name = plan.query.name
        place, link = next((place, one) for place, one in enumerate(self.links) if name in one.names)
        _check_numbers([plan])
        made = _Link((plan,), plan.physical, self.limits, self.threads, link.since)
        if self._none is not None:
            before = next(one for one in link.plans if one.query.name == name)
            carry(before, link.matching, plan, made.matching, self._none, now, self.limits)
            if self.keeps_columns:
                _check_columns(before, plan, self._none)
        counters = self.remove({name})
        self.links.insert(place, made)
        self._note_readers()
        return counters

    def remove(self, names: Collection[str]) -> Counters:
        """End some queries; what they did."""
        counters = Counters()
        kept = []
        for link in self.links:
            link.remove(names)
            if link.plans:
                kept.append(link)
            else:
                counters.add(link.matching.counters)
        self.links = kept
        self._note_readers()
        return counters

    def _note_readers(self) -> None:
        self._read = {name for plan in self.all_plans for name in plan.query.composites}

    @property
    def all_plans(self) -> list[Plan]:
        """The plans of all queries, each after those that feed it."""
        return [plan for link in self.links for plan in link.plans]

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""
        return sum(link.matching.open_runs for link in self.links)

    @property
    def plans(self) -> list[Plan]:
        """Its plans as they are now, each with what is known of events if that may change it."""
        return [
            replace(plan, statistics=link.matching.chosen_by) if isinstance(link.matching, Adapts) else plan
            for link in self.links
            for plan in link.plans
        ]

    @property
    def groups(self) -> Groups:
        """Its plans as they are now, those together that share one, with that."""
        plans = {plan.query.name: plan for plan in self.plans}
        found: Groups = []
        for link in self.links:
            physical: PhysicalPlan = link.physical
            if isinstance(link.matching, SharedMatching):
                physical = link.matching.plan_now
            found.append((tuple(replace(plans[name], physical=physical) for name in link.names), physical))
        return found

    def counted(self, now: int) -> dict[str, Count]:
        """How many queries there are at a time of each set that is by itself."""
        found = {}
        for link in self.links:
            one = link.matching
            if link.plan.query.members is None or (isinstance(one, SharedMatching) and len(one.served.items) > 1):
                continue
            if isinstance(one, MembersMatching | SharedMatching):
                since, until = one.lives.T
                found[link.names[0]] = Count(
                    len(since),
                    int(np.count_nonzero(since > now)),
                    int(np.count_nonzero(until <= now)),
                    is_bounded=any(link.plan.query.members.written.valid),
                )
        return found

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
        return found, results[self.all_plans[-1].query.name]

    @property
    def waiting(self) -> int | None:
        """The first time at which matches of the last query end that wait until they are final."""
        return self.links[-1].matching.waiting

    def _step(self, events: EventTable, now: int | None) -> tuple[dict[str, pa.Table], Found | None]:
        found: Found | None = None
        self._none = events.none() if self._none is None else self._none
        results: dict[str, pa.Table] = {}
        made: dict[str, EventTable] = {}
        settled: dict[str, int | None] = {}
        for link in self.links:
            until = earliest(now, *(settled[name] for name in link.reads)) if link.reads else now
            with link.advising(is_alone=len(self.links) == 1):
                for found in link.push(link.given(events, made, until), until):
                    query = found.query
                    results[query.name] = link.result(found, until)
                    if query.into in self._read:
                        settled[query.into] = earliest(until, link.matching.waiting)
                        made[query.into] = composite_events(query, found.matches, results[query.name])
        return results, found

    def state(self) -> State:
        """What there is to know to go on elsewhere: the states of all links, by number, and whose they are."""
        names = {"names": [json.dumps(link.names) for link in self.links]}
        return names | in_parts({str(number): link.state() for number, link in enumerate(self.links)})

    def resume(self, state: State) -> None:
        """Go on from there, with the same queries together; there were no names in snapshots of before."""
        if "names" not in state:
            for number, link in enumerate(self.links):
                link.resume(part(str(number), state))
            return
        plans = {plan.query.name: plan for plan in self.all_plans}
        known = {tuple(link.names): link for link in self.links}
        self.links = []
        for number, text in enumerate(state["names"]):
            names = json.loads(text)
            link = known.get(tuple(names)) or self._together([plans[name] for name in names])
            link.resume(part(str(number), state))
            self.links.append(link)

    def _together(self, plans: list[Plan]) -> _Link:
        """A link of queries that were together elsewhere, which knows the columns of events."""
        ((some, physical),) = group(plans, {plan.query.name for plan in plans}) if len(plans) > 1 else alone(plans)
        link = _Link(some, physical, self.limits, self.threads, BEGINNING)
        if self._none is not None:
            link.push(link.given(self._none, {}, BEGINNING), BEGINNING)
        return link


def _check_numbers(plans: Sequence[Plan]) -> None:
    if any(plan.query.numbers_matches for plan in plans):
        raise OuzelError(
            "match_number(): required all events at once, as in match; a matcher reports matches one by one\n"
            "  hint: number what it returns; in batches on Spark, allow for more: oz.SparkOptions(memory=…)"
        )


def _check_columns(before: Plan, after: Plan, none: EventTable) -> None:
    name = before.query.name
    own, other = (Chain([plan], Limits()).step(none, BEGINNING)[name].schema for plan in (before, after))
    if not own.equals(other):
        raise OuzelError(
            f"replace: '{name}' has other columns: required {columns_in_words(own)}, as matches were reported "
            f"that may be withdrawn; got {columns_in_words(other)}\n  hint: remove it, and add the new version"
        )


class _Link:
    """A query, the matching that runs it, and what waits before it: composite events may come that end earlier.

    Several queries that share a plan are one link; they read no composite events.
    """

    def __init__(
        self, plans: tuple[Plan, ...], physical: PhysicalPlan, limits: Limits, threads: int, since: int
    ) -> None:
        self.plans, self.physical, self.since = plans, physical, since
        self.limits = limits
        self.threads = threads
        query = plans[0].query
        self.totals = RunningTotals(query) if query.aggregates else None
        self.reads = query.composites
        self.inbox = Inbox() if self.reads else None
        self._none: dict[str, pa.Table] = {}

    @property
    def plan(self) -> Plan:
        """The plan of the one query, or of the first."""
        return self.plans[0]

    @property
    def names(self) -> list[str]:
        """The queries."""
        return [plan.query.name for plan in self.plans]

    def remove(self, names: Collection[str]) -> None:
        """End some queries; others that share their plan go on."""
        gone = [plan.query.name for plan in self.plans if plan.query.name in names]
        if isinstance(self.matching, SharedMatching):
            for name in gone:
                self.matching.remove_query(name)
        self.plans = tuple(plan for plan in self.plans if plan.query.name not in names)

    def become(self, plan: Plan, none: EventTable) -> None:
        """Go on with another plan of the same query; `none` are no events, which have all columns."""
        matching = self.matching
        assert isinstance(matching, RowMatching | Replay)
        self.plans, self.physical = (plan,), plan.physical
        vars(self).pop("columns", None)
        if isinstance(matching, RowMatching):
            assert isinstance(plan.physical, RowPlan)
            self.matching = matching.become(plan.physical, none.select(self.columns))
        else:
            self.matching = matching.become(plan)

    @property
    def _keeps_all(self) -> bool:
        """Whether events are kept whole, as arcs may come that read more of them."""
        return self.plan.query.automaton is not None and self.physical.takes is not Takes.IN_ORDER

    @cached_property
    def columns(self) -> frozenset[str]:
        """What the query needs of events."""
        return needed_columns(self.physical.queries)

    @cached_property
    def matching(self) -> Matching:
        """The plan at work, which begins as there are events: with it, kernels are written."""
        physical = self.physical
        if isinstance(physical, ApartPlan):
            return MembersMatching(physical, self.limits, Chain)
        if physical.takes is not Takes.IN_ORDER:
            return Replay(self.plan, self.limits)
        return physical.begin(self.limits, threads=self.threads)

    def given(self, events: EventTable, made: Mapping[str, EventTable], until: int | None) -> EventTable:
        """What of the latest events, and of those that waited, the query is given."""
        if self.inbox is None:
            return events if self._keeps_all else events.select(self.columns)
        read = read_by(self.plan.query, events, made, self.columns)
        if len(read) and int(read.end_times.min()) < self.since:  # matches of others that waited since before
            read = read.taken(np.flatnonzero(read.end_times >= self.since))
        self.inbox.add(read)
        return self.inbox.before(until)

    def advising(self, *, is_alone: bool) -> AbstractContextManager[None]:
        """Let errors of limits suit the query, with its name if there are others; plans of several see to it."""
        if len(self.plans) > 1:
            return nullcontext()
        return advising(self.plan.query, "" if is_alone else of_list(self.plan.query), in_matcher=True)

    def push(self, events: EventTable, until: int | None) -> list[Found]:
        """Match events; none that ends before a time will follow."""
        founds = self.matching.push(events, until)
        if len(self.plans) == len(founds):
            return list(founds)
        names = set(self.names)
        return [found for found in founds if found.query.name in names]

    def result(self, found: Found, until: int | None) -> pa.Table:
        """What is reported of the matches that were found; the table of none is made but once."""
        if self.totals is not None:
            return self.totals.step(found, earliest(until, self.matching.waiting))
        if len(found.matches):
            return result_table(found, self.threads)
        name = found.query.name
        if name not in self._none:
            self._none[name] = result_table(found)
        return self._none[name]

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
