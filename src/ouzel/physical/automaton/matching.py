"""An automaton at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.physical.automaton.driving import RunMatching
from ouzel.physical.automaton.expand import expand
from ouzel.physical.automaton.runs import Driven, RunBounds
from ouzel.physical.automaton.store import Store
from ouzel.physical.automaton.totals import totals_of_paths
from ouzel.physical.compiled import share
from ouzel.physical.compiled.cost import ResultCosts
from ouzel.physical.compiled.share import split_evenly
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits, Room
from ouzel.physical.match_table import Bound, joined
from ouzel.physical.match_totals import MatchTotals
from ouzel.physical.memory.prepare import Prepared

if TYPE_CHECKING:
    from ouzel.physical.automaton.automaton import AutomatonPlan

_NONE: Integers = np.zeros(0, np.int64)


class AutomatonMatching(RunMatching):
    """An automaton plan at work."""

    def __init__(self, plan: AutomatonPlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share the partitions of a large table that comes at once."""
        super().__init__(plan, limits, once=once, threads=threads)
        self.plan = plan
        self._costs = ResultCosts(plan.query)
        self._unbound: Bound | None = None

    def graph(self, events: EventTable) -> tuple[Any, Integers]:
        """Match events that come at once without writing matches out: the ends of paths in the match store.

        Each is the node before a match's last event, that event or -1, and its state; and the last event again.
        """
        assert self.once
        new = self.prepare(events)
        new, base = self.memory.add(events, new)
        bounds = RunBounds.of(self.limits, self.room, self.plan.widths, written=False)
        return self._paths(
            self._drive(new, base, self._begins(new), self._arguments(new), bounds), self.memory.store
        )

    def totals(self, events: EventTable) -> MatchTotals:
        """Totals over all matches in events that come at once, none of which is written out."""
        plan, memory = self.plan, self.memory
        found, last = self.graph(events)
        groups, count, windows = memory.buffer.parts[last], memory.partitions.count, None
        rows = memory.buffer.rows[last]
        if (every := plan.query.every) is not None:
            windows, places = np.unique(memory.events.end_times[rows] // every.length, return_inverse=True)
            pairs, groups = np.unique(places * count + groups, return_inverse=True)
            windows, count = windows[pairs // count], len(pairs)
        graph = found, last, self.room, plan.query.aggregates, groups, count
        matches, totals = totals_of_paths(plan, memory, *graph)
        some = np.full(count, -1, np.int64)
        some[groups] = rows
        return MatchTotals(tuple(some for _test in plan.query.equivalences), matches, tuple(totals), windows)

    def expanded(self, found: Any, last: Integers) -> Found:
        """The matches at the ends of paths, written out."""
        return self.finishing.found(self._expand(self.memory.store, found, last, self.room))

    def bind(self, prepared: Prepared, base: int) -> Bound:
        """The matches that end in a batch, written out."""
        bound, spread = self._found(prepared, base), self.memory.partitions.shared
        return bound if spread is None else spread.settled(bound, prepared.rows, prepared.parts)

    def _found(self, prepared: Prepared, base: int) -> Bound:
        begins, arguments = self._begins(prepared), self._arguments(prepared)
        # what is shed must not depend on the number of threads
        is_shared = self.once and len(prepared) >= share.PARALLEL_FROM and not self.limits.sheds
        ranges = split_evenly(begins, self.threads) if is_shared else [(0, len(begins) - 1)]
        if len(ranges) == 1:
            driven, store = self._drive(prepared, base, begins, arguments, self._bounds), self.memory.store
            return self._expand(store, *self._paths(driven, store), self.room)
        room = self.room.part(len(ranges))
        bounds = RunBounds.of(self.limits, room, self.plan.widths)

        def part(ends: tuple[int, int]) -> Bound:
            """The matches of some partitions, with runs and nodes of their own."""
            store = Store.keeping(self.plan.slots.kept_widths)
            own = begins[ends[0] : ends[1] + 1]
            driven = self._drive(prepared, base, own, arguments, bounds, store)
            return self._expand(store, *self._paths(driven, store), room)

        bound = joined(share.each_in_a_thread(part, ranges))
        if len(next(iter(bound.values()))) > self.limits.max_matches:
            raise self.limits.exceeded("max_matches")
        return bound

    def _expand(self, store: Store, found: Any, last: Integers, room: Room) -> Bound:
        # in the order of ends already: matches that are in order need not be moved once they are written out
        plan, retained = self.plan, self.memory.retained
        if not len(found) and self._unbound is not None:
            return self._unbound
        if len(found) > 1:
            found = found[np.argsort(retained.ends[last], kind="stable")]
        limits = self.limits, room, self._costs.of(retained.pushed[0].table)
        clocks = retained.start_clocks, retained.clocks, plan.limit
        # what comes in batches is pruned, and what threads found is put into one table
        in_pieces = self.once and store is self.memory.store
        expanded = expand(plan.shape, plan.expand_source, found, store, *clocks, *limits, in_pieces=in_pieces)
        with self._counting:
            self.counters.shed_matches += expanded.shed
        self._unbound = self._unbound if len(found) else expanded.bound
        return expanded.bound

    def _paths(self, driven: Driven, store: Store) -> tuple[Any, Integers]:
        """The matches found, and the last event of each."""
        found = driven.found
        if not len(found):
            return found, _NONE
        return found, np.where(found[:, 1] >= 0, found[:, 1], store.event[found[:, 0]])
