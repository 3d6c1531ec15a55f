"""One query that is corrected region by region: its running matching, where that is wrong, what was reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.pattern import edge_negatives, negatives_around
from ouzel.logical.times import BEGINNING, END
from ouzel.optimizer import Plan
from ouzel.physical.contract import Counters, Found
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.refutable import may_be_refuted
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Flags
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.dirty import Stretches, after, before
from ouzel.runtimes.key_buckets import buckets
from ouzel.runtimes.ordering import ranked
from ouzel.runtimes.region_keys import keys_of, with_keys
from ouzel.runtimes.reported import changes, compared
from ouzel.runtimes.sought import Sought
from ouzel.runtimes.tail import Tail
from ouzel.state.parts import in_parts, part

BUCKET = "\0bucket"
"""The column of the tail that has the bucket of each event; with a number behind for each query."""
_ARRAYS = ("buckets", "starts", "ends", "ids", "waited")


@dataclass
class Order:
    """From when until when events are matched, and how ties are broken."""

    ties: list[str]
    by_arrival: bool
    since: int = BEGINNING
    until: int | None = BEGINNING
    released: int = 0

    @property
    def is_over(self) -> bool:
        """Whether the stream is."""
        return self.until is None

    def live(self, events: EventTable) -> EventTable:
        """Events that come next."""
        return ranked(events, self.ties, self.by_arrival, self.released)[0]

    def apart(self, events: EventTable) -> EventTable:
        """Events by themselves."""
        return ranked(events, self.ties, self.by_arrival, 0)[0]


@dataclass(frozen=True)
class Matches:
    """Rows of results, the bucket of each, when it starts and ends; and its id, once it has one."""

    table: pa.Table
    buckets: Integers
    starts: Integers
    ends: Integers
    ids: Integers
    waited: Flags
    """Whether an event after them may have refuted them."""

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.starts)

    def chosen(self, flags: Any) -> Matches:
        """Some of them."""
        if flags.all():
            return self
        places = np.flatnonzero(flags)
        table = self.table.take(pa.array(places))
        return replace(self, table=table, **{name: getattr(self, name)[places] for name in _ARRAYS})

    @classmethod
    def joined(cls, some: Sequence[Matches]) -> Matches:
        """All of several."""
        tables = pa.concat_tables([one.table for one in some])
        return cls(tables, *(np.concatenate([getattr(one, name) for one in some]) for name in _ARRAYS))


class Region:
    """One query with its corrections."""

    def __init__(self, plan: Plan, keys: tuple[str, ...], number: int, limits: Limits, threads: int) -> None:
        """Begin; `number` tells the query from others."""
        self.name, self.column = plan.query.name, f"{BUCKET}{number}"
        self._keys = keys
        assert plan.query.window is not None
        self.window = plan.query.window.limit + 1
        around = bool(negatives_around(plan.query.pattern))
        self._waits = around or bool(edge_negatives(plan.query.pattern, at_end=True))
        looks_back = around or bool(edge_negatives(plan.query.pattern, at_end=False))
        self.reach = self.window * (2 if looks_back else 1)
        """So far before an event others matter for what it changes."""
        self._plan = with_keys(plan, keys)
        self.chain = Chain([self._plan], limits, threads)
        self._wrong, self._reported = Stretches(), list[Matches]()
        self._none: Matches | None = None
        self.past = Counters()

    def buckets(self, table: pa.Table) -> pa.Array:
        """The bucket of each event."""
        return pa.array(buckets([table.column(name) for name in self._keys]))

    def step(
        self, tail: Tail, order: Order, changed: EventTable, events: EventTable, next_id: int
    ) -> tuple[pa.Table, int]:
        """Go on with events that come in order, and match again where others have changed; what differs."""
        new = self._matches(*self.chain.found(order.live(events), order.until))
        region = self._region(order, changed, events)
        if not len(self._wrong):
            again = old = None
        else:
            new = new.chosen(~self._wrong.hold(new.buckets, new.starts, new.ends))
            old, again = self._taken(region), self._again(tail, order, region)
        self._drop_old(order)
        if again is None or old is None or not (len(old) or len(again)):
            return self._told(new, next_id)
        gone, kept = compared(old.table, old.ids, again.table)
        fresh = np.flatnonzero(kept < 0)
        kept[fresh] = np.arange(next_id, next_id + len(fresh))
        self._keep(replace(again, ids=kept))
        told, next_id = self._told(new, next_id + len(fresh))
        withdrawn = [changes(old.table.take(pa.array(gone)), old.ids[gone], -1)] if len(gone) else []
        inserted = [changes(again.table.take(pa.array(fresh)), kept[fresh], 1)] if len(fresh) else []
        return pa.concat_tables([*withdrawn, *inserted, told]), next_id

    def _told(self, new: Matches, next_id: int) -> tuple[pa.Table, int]:
        """What is found in order, to insert."""
        ids = np.arange(next_id, next_id + len(new))
        self._keep(replace(new, ids=ids))
        return changes(new.table, ids, 1), next_id + len(new)

    def _keep(self, matches: Matches) -> None:
        if len(matches):
            self._reported.append(matches)
            # few chunks of each size, so that a push looks through few
            while len(self._reported) > 1 and len(self._reported[-2]) < 2 * len(self._reported[-1]):
                self._reported[-2:] = [Matches.joined(self._reported[-2:])]

    def _region(self, order: Order, changed: EventTable, events: EventTable) -> Stretches:
        """Where to match again: around what has changed, and at the head in what is wrong there."""
        region = Stretches()
        if len(changed):
            times, own = changed.end_times, changed.table.column(self.column).to_numpy()
            region = region.joined(own, before(times, self.window), after(times, self.window))
            self._wrong = self._wrong.joined(region.buckets, region.after, region.before)
        if not len(self._wrong):
            return region
        at_head = self._wrong
        if not self._waits and not order.is_over:
            own = events.table.column(self.column).to_numpy()
            at_head = at_head.among(own[Sought(at_head.buckets).among(own)])
        since = int(before(np.array([order.since]), self.window)[0])
        reach = np.full((2, len(at_head)), [[since], [END]])
        return region.joined(at_head.buckets, *reach)

    def _taken(self, region: Stretches) -> Matches | None:
        """Take out what was reported in a region."""
        first = int(region.after.min(initial=END))
        found, kept = [], []
        for one in self._reported:
            inside = self._holds(region, one) if int(one.ends.max()) > first else np.zeros(len(one), np.bool_)
            if inside.any():
                found.append(one.chosen(inside))
                one = one.chosen(~inside)  # noqa: PLW2901
            kept += [one] if len(one) else []
        self._reported = kept
        return Matches.joined(found) if found else self._none

    def _holds(self, region: Stretches, matches: Matches) -> Any:
        spans = matches.buckets, matches.starts, matches.ends
        return region.hold(*spans) & self._wrong.hold(*spans)

    def _again(self, tail: Tail, order: Order, region: Stretches) -> Matches | None:
        """What there is in a region by the events that survive."""
        if not len(region):
            return None
        since = int(before(region.after.min(keepdims=True), self.reach - self.window)[0])
        columns = self.chain.links[0].columns.union(order.ties)
        events = tail.chosen(since, order.until, self.column, region.buckets, columns)
        chain = self.chain.anew()
        found = self._matches(*chain.found(order.apart(events), order.until))
        self.past.add(chain.counters(Counters()))
        return found.chosen(self._holds(region, found))

    def _drop_old(self, order: Order) -> None:
        """Forget what is right again: no match to come is in the stretch of what was wrong."""
        if len(self._wrong) and order.until is not None:
            ends = after(self._wrong.before, self.window) if self._waits else self._wrong.before
            self._wrong = self._wrong.chosen((ends > order.until) | (ends == END))

    def forget(self, punctuation: int) -> None:
        """Forget what no correction at the punctuation or later can reach."""
        first = punctuation - self.window
        if self._reported and min(int(one.ends.min()) for one in self._reported) <= first:
            some = (one.chosen(one.ends > first) for one in self._reported)
            self._reported = [one for one in some if len(one)]

    def standing(self, punctuation: int) -> tuple[pa.Table, Integers] | None:
        """What was reported and is not final by the punctuation, with its ids; None if nothing was."""
        if not self._reported:
            return None
        every = Matches.joined(self._reported)
        may_go = every.ends >= punctuation
        if self._waits:  # until the window is over, which is a tick shorter than what it reaches
            may_go |= every.waited & (every.starts > before(np.array([punctuation]), self.window - 1))
        some = every.chosen(may_go)
        return some.table, some.ids

    def _matches(self, found: Found, table: pa.Table) -> Matches:
        """What was found, with the bucket of each match."""
        matches = found.matches
        table, columns = keys_of(found, table, self._keys)
        own = buckets(columns) if len(matches) else np.zeros(0, np.int64)
        waited = np.zeros(len(matches), np.bool_)
        if self._waits and len(matches):
            waited = may_be_refuted(self._plan.query.pattern, matches.bound)
        ids = np.zeros(len(matches), np.int64)
        made = Matches(table, own, matches.start_times, matches.end_times, ids, waited)
        if self._none is None:
            self._none = made.chosen(np.zeros(len(made), np.bool_)) if len(made) else made
        return made

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The chain, what is wrong in it, and what was reported."""
        states = {"chain": self.chain.state(), "wrong": self._wrong.state()}
        if self._reported:
            every = Matches.joined(self._reported)
            arrays = {name: getattr(every, name) for name in _ARRAYS}
            states["rows"] = {"table": every.table, **arrays}
        return in_parts(states)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        self.chain.resume(part("chain", state))
        self._wrong = Stretches(**part("wrong", state))
        rows = part("rows", state)
        if rows and "waited" not in rows:  # in snapshots of before, where all matches of such a query did
            rows["waited"] = np.ones(len(rows["ids"]), np.bool_)
        self._reported = [Matches(**rows)] if rows else []
