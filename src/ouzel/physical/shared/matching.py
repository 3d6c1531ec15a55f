"""A shared plan at work: batches of events in, what each query and set found out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.kernels import shared as kernel
from ouzel.kernels import shared_moments as moments
from ouzel.kernels import shared_rows as at
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.contract import Counters, Found, Tell
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limit_errors import of_list, of_set
from ouzel.physical.limits import Limits
from ouzel.physical.shared.rows import Caught, LimitedQuery, Quota, found_of
from ouzel.physical.shared.runs import Kept, Runs
from ouzel.physical.shared.served import Item
from ouzel.physical.shared.tables import Bounds
from ouzel.physical.stoppable import stoppable

# Which parts of the memory are for runs, for matches, and for what one moment makes; what grows is there twice.
RUNS, FOUND, SPAWNED = 1 / 2, 1 / 4, 1 / 4
_TWICE = 2
# So many queries that have gone, and texts that only events had, may be left behind.
GONE, TEXTS = 4_096, 65_536
# Bounds by the reason for which a kernel comes back.
_TOO_MANY = {
    moments.TOO_MANY_RUNS: "runs",
    moments.TOO_MANY_NODES: "nodes",
    moments.TOO_MANY_FOUND: "found",
    moments.TOO_MANY_SPAWNED: "spawned",
}

_NONE: Integers = np.zeros(0, np.int64)

if TYPE_CHECKING:
    from ouzel.physical.shared.plan import SharedPlan


class SharedMatching:
    """Very many queries at work, as one graph of states at which runs wait."""

    def __init__(self, plan: SharedPlan, limits: Limits, *, once: bool) -> None:
        """Begin with no runs; `once` if all events come at once."""
        self.plan, self.once = plan, once
        self.limits = limits.settled()
        self.counters = Counters()
        self.served = plan.served()
        self.runs = Runs(self.served.width)
        self.kept = Kept()
        self.waiting: int | None = None
        self._nothing: dict[int, Found] = {}
        self._texts = len(self.served.columns.texts)

    @property
    def open_runs(self) -> int:
        """How many runs wait."""
        return self.runs.count

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:
        """Let events go through all automata; what each query and set found."""
        return stoppable(
            lambda: self._push(events, now), tell, size=len(events) * (4 + self.served.graph.edges.count // 16)
        )

    def _push(self, events: EventTable, now: int | None) -> tuple[Found, ...]:
        queries = self.plan.queries
        if not len(events):
            return tuple(self._none(number, query, events) for number, query in enumerate(queries))
        if np.any(events.ends[1:] < events.ends[:-1]):
            events = events.taken(np.argsort(events.ends, kind="stable"))
        codes, missing = self.served.columns.of(events)
        self.kept.add(events, codes, missing)
        found, held = self._driven(len(events))
        results = self._results(found, held)
        if not self.once:
            self._forget(now)
            self._tidy()
        return tuple(
            results[number] if number in results else self._none(number, query, events)
            for number, query in enumerate(queries)
        )

    # ---- runs --------------------------------------------------------------------------------------------

    def _driven(self, count: int) -> tuple[Any, Any]:
        """Let runs go through the latest events; the matches."""
        runs, graph, events = self.runs, self.served.graph, self.kept.arrays
        end = len(events.ends)
        runs.begin(end - count)
        # many queries are as good a reason to compile as many events
        work = count * (1 + graph.edges.count // 64)
        run = long_kernel_of(kernel.share_events, work, 1 / max(count, 1))
        bounds = self._bounds(sheds=False)
        while True:
            reason = run(graph.arrays, runs.arrays, events, runs.work, end, bounds)
            if reason in (moments.DONE_ALL, moments.STOPPED):
                break
            # those that wait in vain make room first
            is_short = reason in (moments.TOO_MANY_RUNS, moments.TOO_MANY_NODES, moments.MORE_RUNS)
            if is_short and runs.swept(graph.arrays, int(events.end_times[runs.position])):
                continue
            if reason not in _TOO_MANY:
                runs.grow(reason, bounds)
            elif self.limits.sheds:
                bounds = self._bounds(sheds=True)
            else:
                raise self._exceeded(reason, bounds)
        self.counters.add(runs.counted())
        return runs.found()

    def _bounds(self, *, sheds: bool) -> Bounds:
        """How many there may be: as the limits say, or as fit into memory."""
        limits, width = self.limits, self.runs.width
        room = limits.memory()
        return Bounds(
            runs=min(limits.max_runs, room.most(_TWICE * 8 * (width + at.RUN_WIDTH + 3), RUNS)),
            nodes=limits.max_nodes,
            # how many each query may have is seen when all are there, and which rows are equal
            found=room.most(_TWICE * 8 * (width + at.FOUND_WIDTH), FOUND),
            spawned=room.most(8 * at.SPAWN_WIDTH, SPAWNED),
            sheds=sheds,
        )

    def _exceeded(self, reason: int, bounds: Bounds) -> OuzelError:
        """The error for a bound that was reached: one that was given, or that of the memory."""
        name, most = _TOO_MANY[reason], getattr(bounds, _TOO_MANY[reason])
        limit = {"runs": "max_runs", "nodes": "max_nodes"}.get(name)
        if limit is not None and most == getattr(self.limits, limit):
            return self.limits.exceeded(limit).about(self.plan.queries[0])
        what = {"runs": "open runs", "found": "matches", "spawned": "runs that begin at one moment"}[name]
        return self.limits.memory().exceeded(most, what).about(self.plan.queries[0])

    def _forget(self, now: int | None) -> None:
        """Forget runs that wait in vain, and events that no run holds."""
        graph, runs = self.served.graph, self.runs
        last = int(self.kept.arrays.end_times[-1]) if now is None else now
        runs.sweep(graph.arrays, last)
        self.kept.keep(runs)

    def kept_events(self) -> EventTable:
        """The events that runs may hold."""
        return self.kept.taken(np.arange(len(self.kept.arrays.ends)))

    # ---- results -----------------------------------------------------------------------------------------

    def _none(self, number: int, query: BoundQuery, events: EventTable) -> Found:
        if number not in self._nothing:
            self._nothing[number] = Found.nothing(query, events.none())
        return self._nothing[number]

    def _results(self, found: Any, held: Any) -> dict[int, Found]:
        """What was found, by the number of the query or set."""
        if not len(found):
            return {}
        used = each_once(held.ravel())
        used = used[np.searchsorted(used, 0) :]
        events = self.kept.taken(used)
        rows: Integers = np.where(held < 0, 0, np.searchsorted(used, held))
        items, owners = self.served.owners(found[:, at.FOUND_QUERY])
        caught = Caught(owners, found[:, at.FOUND_STATE], rows, events)
        order = caught.order(items)
        caught, items = caught.taken(order), items[order]
        edges = np.flatnonzero(np.diff(items, prepend=-1, append=-1)).tolist()
        results = {}
        for begin, end in pairwise(edges):
            number = int(items[begin])
            one = self.served.items[number]
            quota = Quota(self.limits, self.counters, partial(self._called, one))
            results[number] = found_of(one.query, one.outline, caught.taken(slice(begin, end)), one.ids, quota)
        return results

    def _called(self, item: Item, owner: int) -> LimitedQuery:
        """A query of an item, and what it is called in errors."""
        own = [] if item.query.members is None else [of_set(item.names[owner])]
        return item.query, ": ".join([of_list(item.query), *own] if len(self.plan.queries) > 1 else own)

    @property
    def lives(self) -> Any:
        """From when until when each query that is there is valid."""
        return self.served.lives()

    @property
    def plan_now(self) -> SharedPlan:
        """The plan with those that it serves now."""
        return replace(self.plan, at_work=self.served)

    # ---- queries that come and go ------------------------------------------------------------------------

    def add(self, row: dict[str, Any], since: int) -> None:
        """Take one more query of the set, which sees events that end at a time or later."""
        self.served.add_row(row, since)
        self.runs.widen(self.served.width)

    def replace(self, row: dict[str, Any], now: int) -> None:
        """Let a query of the set have other values, from a time on: its runs stay where none of these led them."""
        if self.kept.is_known:
            self.runs.swept(self.served.graph.arrays, now)  # what its old values let wait no longer is over
        pairs = self.served.replace_row(row)
        self.runs.widen(self.served.width)
        if self.kept.is_known:
            self.runs.copied(pairs, self.served.graph.arrays, self.kept.arrays)
        self._tidy()

    def remove(self, id_: Any) -> None:
        """End a query of the set."""
        self.served.remove_row(id_)
        self._tidy()

    def remove_query(self, name: str) -> None:
        """End a query, or a whole set."""
        self.served.remove_item(name)
        self._tidy()

    def _tidy(self) -> None:
        """Make the graph anew, if most of it is left by queries that have gone, or most texts by events."""
        served = self.served
        queries, texts = served.graph.lives.count, len(served.columns.texts)
        if 2 * served.gone > queries + GONE or texts > 2 * self._texts + 4 * queries + TEXTS:
            state = self.state()
            self.served = served.rebuilt()
            self.runs = Runs(self.served.width)
            self.resume(state)
            self._texts = len(self.served.columns.texts)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Who is served since when, the runs, each at a state of some query, and the events that they hold."""
        queries, states, held, ends = self.runs.state(self.served.owners_of_nodes())
        lives = self.served.lives()
        return {
            "lives": lives,
            "apart": np.array(self._apart, np.int64),
            "queries": queries,
            "states": states,
            "held": held,
            "ends": ends,
            **self.kept.state(),
        }

    @property
    def _apart(self) -> list[int]:
        """The places of queries of the one set that share no states."""
        return self.served.items[0].apart_now() if len(self.served.items) == 1 else []

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from there; in snapshots of before, all shared what they could."""
        apart = state.get("apart", _NONE).tolist()
        if apart != self._apart:
            self.served = self.plan.served(apart)
            self.runs = Runs(self.served.width)
        self.served.resume(state["lives"])
        self.kept.resume(state, self.plan.queries[0].schema, self.served.columns)
        nodes = self.served.nodes_of(state["queries"], state["states"])
        if len(nodes):
            self.runs.resume(nodes, state["held"], state["ends"], self.served.graph.arrays, self.kept.arrays)
