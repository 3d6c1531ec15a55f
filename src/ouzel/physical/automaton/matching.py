"""An automaton at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.conjuncts import Place
from ouzel.logical.constants import can_match
from ouzel.physical.automaton.expand import expand
from ouzel.physical.automaton.memory import Memory
from ouzel.physical.automaton.open_runs import OpenRuns
from ouzel.physical.automaton.parameters import Opened, Stream
from ouzel.physical.automaton.runs import RunBounds, drive
from ouzel.physical.automaton.store import Store
from ouzel.physical.automaton.totals import totals_of_paths
from ouzel.physical.compiled import share
from ouzel.physical.compiled.cost import ResultCosts
from ouzel.physical.compiled.fill import settled
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import may_be
from ouzel.physical.compiled.share import split_evenly
from ouzel.physical.compiled.user_calls import called
from ouzel.physical.contract import Counters, Found
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.compiled_matching import CompiledMatching
from ouzel.physical.limits import Limits, Room
from ouzel.physical.match_table import Bound, joined
from ouzel.physical.match_totals import MatchTotals
from ouzel.physical.memory.prepare import NONE, Prepared

if TYPE_CHECKING:
    from ouzel.physical.automaton.automaton import AutomatonPlan

_NONE: Integers = np.zeros(0, np.int64)


class AutomatonMatching(CompiledMatching[Memory]):
    """An automaton plan at work."""

    def __init__(self, plan: AutomatonPlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share the partitions of a large table that comes at once."""
        super().__init__(plan, Memory(plan, once=once), limits, once=once, threads=threads, repeats=plan.repeats)
        self.plan = plan
        self._bounds = RunBounds.of(self.limits, self.room, plan.widths)
        self._counting = Lock()
        always = (conjunct for conjunct in plan.query.conjuncts if conjunct.place is Place.ALWAYS)
        self._always = [literal for conjunct in always for literal in conjunct.literals]
        self._costs = ResultCosts(plan.query)
        self._unbound: Bound | None = None

    def prepare(self, events: EventTable) -> Prepared:
        """The events that some component wants, each partition's together if these have runs of their own."""
        prepared = self.preparation.of(events, self.memory.partitions, self.threads)
        if self._always and not called(self._always, partial(can_match, self.plan.query)):
            return NONE
        if not self.plan.shape.keyed:
            return prepared.by_partition()
        if (spread := self.memory.partitions.shared) is None:
            return prepared
        # runs go through the first kind of partitions
        return prepared.taken(np.argsort(prepared.parts >= spread.driven, kind="stable"))

    def graph(self, events: EventTable) -> tuple[Any, Integers]:
        """Match events that come at once without writing matches out: the ends of paths in the match store.

        Each is the node before a match's last event, that event or -1, and its state; and the last event again.
        """
        assert self.once
        new = self.prepare(events)
        new, base = self.memory.add(events, new)
        bounds = RunBounds.of(self.limits, self.room, self.plan.widths, written=False)
        return self._drive(new, base, self._begins(new), self._arguments(new), bounds)

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
            ends = self._drive(prepared, base, begins, arguments, self._bounds)
            return self._expand(self.memory.store, *ends, self.room)
        room = self.room.part(len(ranges))
        bounds = RunBounds.of(self.limits, room, self.plan.widths)

        def part(ends: tuple[int, int]) -> Bound:
            """The matches of some partitions, with runs and nodes of their own."""
            store = Store.keeping(self.plan.slots.kept_widths)
            own = begins[ends[0] : ends[1] + 1]
            return self._expand(store, *self._drive(prepared, base, own, arguments, bounds, store), room)

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

    def _begins(self, new: Prepared) -> Integers:
        """Where the new events of each partition begin that has some, and where all end."""
        spread, parts = self.memory.partitions.shared, new.parts
        if spread is not None:
            parts = parts[: int(np.count_nonzero(parts < spread.driven))]
        if self.plan.shape.keyed or len(parts) < 2:
            return np.arange(0, len(parts) + 1, max(len(parts), 1))
        begins = np.flatnonzero(parts[1:] != parts[:-1]) + 1
        return np.concatenate([np.zeros(1, np.int64), begins, np.full(1, len(parts), np.int64)])

    def _arguments(self, new: Prepared) -> list[Any]:
        events = self.memory.retained.pushed[0]
        wanted = may_be(self.plan.query.components, new.masks)
        arguments = self.plan.operands.arguments(events, new.rows, new.end_times, self.memory.texts, wanted)
        return arguments if self.once else settled(arguments)

    def _drive(
        self,
        new: Prepared,
        base: int,
        begins: Integers,
        arguments: list[Any],
        bounds: RunBounds,
        store: Store | None = None,
    ) -> tuple[Any, Integers]:
        """Let runs go through new events; the matches found, and the last event of each."""
        plan, memory = self.plan, self.memory
        keyed = plan.shape.keyed
        parts = np.zeros(len(begins) - 1, np.int64) if keyed else new.parts[begins[:-1]]
        runs = memory.runs if store is None else OpenRuns(plan.widths)
        store = store or memory.store
        keys = memory.partitions.serials(new.parts) if keyed else new.parts
        driven = drive(
            long_kernel_of(plan.source, len(new), 1 / max(len(new), 1)),
            Opened(*runs.of(parts), *runs.pool),
            store,
            Stream(base, new.masks, keys, begins, new.starts, new.ends, new.start_clocks, new.clocks, plan.limit),
            bounds,
            arguments,
            merge=plan.evaluation == "merging",
        )
        if not self.once:
            runs.replace(parts, driven.edges, driven.ri, driven.rf)
        self._count(driven.counts)
        found = driven.found
        if not len(found):
            return found, _NONE
        return found, np.where(found[:, 1] >= 0, found[:, 1], store.event[found[:, 0]])

    def _count(self, counts: dict[str, int]) -> None:
        counted = Counters(
            counts["made"], counts["merged"], counts["shed"], counts["lost"], counts["peak"], counts["read"]
        )
        with self._counting:
            self.counters.add(counted)
