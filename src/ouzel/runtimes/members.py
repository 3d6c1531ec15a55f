"""A set of queries one by one: a chain for each of them, and what they find in one table with their ids in front.

It is how a set means what it means; what can be shared is found by a plan for all (physical/shared).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from ouzel.errors import OuzelError, OuzelWarning, QueryError, outer_level
from ouzel.language import tree
from ouzel.logical.program import bind_program
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING, END
from ouzel.logical.versions import since_when
from ouzel.optimizer import Plan, choose_engine
from ouzel.physical import ENGINES
from ouzel.physical.apart import ApartPlan
from ouzel.physical.contract import Counters, Found, Tell
from ouzel.physical.event_table import EventTable
from ouzel.physical.limit_errors import advising, of_set
from ouzel.physical.limits import Limits
from ouzel.state.parts import in_parts, part

State = dict[str, Any]
MANY = 1_000
"""From so many on, one should know that they share nothing."""


class Stepping(Protocol):
    """A program at work, as `Chain` is."""

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""

    @property
    def waiting(self) -> int | None:
        """The first time at which matches of the last query end that wait until they are final."""

    def counters(self, before: Counters) -> Counters:
        """What its matchings did, added to what was done before."""

    def found(self, events: EventTable, now: int | None) -> tuple[Found, pa.Table]:
        """What the last query finds, and its result."""

    def state(self) -> State:
        """What there is to know to go on elsewhere."""

    def resume(self, state: State) -> None:
        """Go on from there."""

    @property
    def all_plans(self) -> list[Plan]:
        """The plans of all queries, the last one's at the end."""

    def replace(self, plan: Plan, now: int) -> Counters:
        """Let a query take the place of the one of its name, from a time on; what that did."""


Begin = Callable[[Sequence[Plan], Limits], Stepping]


class Alone:
    """One query of a set: its chain, and between which times it sees events."""

    def __init__(self, chain: Stepping, values: dict[str, Any], since: int, until: int) -> None:
        """Begin, with values of all parameters."""
        self.chain, self.values, self.since, self.until = chain, values, since, until

    @property
    def query(self) -> BoundQuery:
        """The query as it is now."""
        return self.chain.all_plans[-1].query

    def found(self, events: EventTable, now: int | None) -> tuple[Found, pa.Table]:
        """What it finds in the latest events; what is not final when its time is over, never is."""
        ends = events.end_times
        if len(ends) and (int(ends.min()) < self.since or int(ends.max()) >= self.until):
            events = events.taken(np.flatnonzero((ends >= self.since) & (ends < self.until)))
        if self.until < END:
            now = self.until if now is None else min(now, self.until)
        return self.chain.found(events, now)


class MembersMatching:
    """A set of queries at work, one by one."""

    def __init__(self, plan: ApartPlan, limits: Limits, begin: Begin) -> None:
        """Begin all of them; `begin` makes chains of plans."""
        members = plan.query.members
        assert members is not None
        self.plan, self.members = plan, members
        self.limits, self._begin = limits, begin
        self.alone: dict[Any, Alone] = {}
        if len(members) >= MANY:
            warnings.warn(
                f"{len(members):,} queries of a set run one by one, which may take long: {plan.why}",
                OuzelWarning,
                stacklevel=outer_level(),
            )
        self._counted = Counters()
        self._none: EventTable | None = None
        if members.rows is not None:
            for (id_, values), life in zip(members.values(), members.lives(members.rows).tolist(), strict=True):
                self.alone[id_] = self._made(id_, values, life)

    def _made(self, id_: Any, values: dict[str, Any], life: list[int]) -> Alone:
        return Alone(self._begin(plans_of(self.plan, id_, values), self.limits), values, *life)

    def add(self, row: dict[str, Any], since: int) -> None:
        """Begin one more, which sees events that end at a time or later."""
        members = self.members
        assert members.rows is not None
        id_, values = members.of_row(row)
        (life,) = members.lives(pa.Table.from_pylist([row], members.rows.schema)).tolist()
        self.alone[id_] = made = self._made(id_, values, life)
        made.since = max(made.since, since)

    def replace(self, row: dict[str, Any], now: int) -> None:
        """Let one have other values, from a time on; it is the last then, as if it had come anew."""
        id_, values = self.members.of_row(row)
        one = self.alone[id_]
        before, (*operands, plan) = one.chain.all_plans, plans_of(self.plan, id_, values)
        if operands or len(before) > 1 or plan.query.composites:
            raise OuzelError(
                f"replace: the query {id_!r} reads what others make\n"
                "  hint: remove it, and add it anew: its partial matches go"
            )
        if plan.query.attributes is None:
            since = since_when(one.query, plan.query, now)
            if since and len(since) < len(plan.query.components):
                (plan,) = plans_of(self.plan, id_, values, since)
        self._counted.add(one.chain.replace(plan, now))
        one.values = values
        self.alone[id_] = self.alone.pop(id_)

    def remove(self, id_: Any) -> None:
        """End one."""
        self._counted = self.alone.pop(id_).chain.counters(self._counted)

    @property
    def counters(self) -> Counters:
        """What all of them did."""
        counted = self._counted
        for one in self.alone.values():
            counted = one.chain.counters(counted)
        return counted

    @property
    def open_runs(self) -> int:
        """How many runs of all of them may still become matches."""
        return sum(one.chain.open_runs for one in self.alone.values())

    @property
    def waiting(self) -> int | None:
        """The first time at which matches end that wait until they are final."""
        return min((at for one in self.alone.values() if (at := one.chain.waiting) is not None), default=None)

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:  # noqa: ARG002
        """What each of them finds, in order of the moments at which matches end."""
        query = self.plan.query
        self._none = events.none() if self._none is None else self._none
        tables, spans = [], []
        for id_, one in self.alone.items():
            with advising(query, of_set(id_), in_matcher=True):
                found, table = one.found(events, now)
            if table.num_rows:
                tables.append(with_id(table, self.members.id, id_, self.members.id_type))
                matches = found.matches
                spans.append((matches.starts, matches.ends, matches.start_times, matches.end_times))
        if not tables:
            return (Found.nothing(query, events),)
        starts, ends, start_times, end_times = (np.concatenate(some) for some in zip(*spans, strict=True))
        order = np.lexsort((starts, ends))
        table = pa.concat_tables(tables).take(pa.array(order))
        intervals = starts[order], ends[order], start_times[order], end_times[order]
        return (Found.of_rows(query, table, intervals, events),)

    @property
    def lives(self) -> Any:
        """From when until when each of them is valid."""
        return np.array([(one.since, one.until) for one in self.alone.values()], np.int64).reshape(-1, 2)

    def state(self) -> State:
        """The states of all, by their place, and from when until when each is valid."""
        valid = self.lives
        states = {str(place): one.chain.state() for place, one in enumerate(self.alone.values())}
        since = [json.dumps(dict(one.query.since)) for one in self.alone.values()]
        return {"valid": valid, "since": since, **in_parts(states)}

    def resume(self, state: State) -> None:
        """Go on from there; in snapshots of before, none had changed."""
        changes = state.get("since", ["{}"] * len(self.alone))
        for place, (id_, valid) in enumerate(zip(self.alone, state["valid"].tolist(), strict=True)):
            one = self.alone[id_]
            one.since, one.until = valid
            if since := json.loads(changes[place]):
                one.chain = self._begin(plans_of(self.plan, id_, one.values, since), self.limits)
                assert self._none is not None
                one.chain.found(self._none, BEGINNING)
            one.chain.resume(part(str(place), state))


def plans_of(
    plan: ApartPlan, id_: Any, values: dict[str, Any], since: Mapping[str, int] | None = None
) -> list[Plan]:
    """The plans of one query of a set, the last its own; an error says which query it is.

    `since` are the times from which on some of its variables hold.
    """
    members = plan.query.members
    assert members is not None
    template = members.written.template
    if since is not None:
        assert isinstance(template, tree.Query)
        template = replace(template, since=tuple(since.items()))
    try:
        queries = list(bind_program((template,), template.source, members.schema, values))
        return [choose_engine(one, ENGINES, plan.engine, dict(plan.tuning)) for one in queries]
    except QueryError as error:
        error.add_note(f"in the query {id_!r} of the set")
        raise
    except OuzelError as error:
        raise type(error)(f"{of_set(id_)}: {error}") from None


def with_id(table: pa.Table, name: str, id_: Any, arrow: pa.DataType) -> pa.Table:
    """A result with the id of its query in front."""
    return table.add_column(0, pa.field(name, arrow), pa.repeat(pa.scalar(id_, arrow), table.num_rows))
