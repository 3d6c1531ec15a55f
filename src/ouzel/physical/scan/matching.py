"""A scan at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.conjuncts import Place
from ouzel.physical.compiled.growing import Growing
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.non_overlap import NONE_KEPT, keep_apart
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.pending import released
from ouzel.physical.compiled.prepare import Prepared, prepare
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.matching import Counters, Found
from ouzel.physical.reference.evaluate import holds
from ouzel.physical.scan.memory import Memory
from ouzel.physical.scan.order import in_order

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan

# So many matches there is room for at first.
_ROOM = 1_024


class ScanMatching:
    """A scan plan at work."""

    def __init__(self, plan: ScanPlan, limits: Limits, *, once: bool) -> None:
        """Begin with nothing."""
        self.plan = plan
        self.limits = limits
        self.once = once
        self.counters = Counters()
        self.memory = Memory(plan, once=once)
        always = [conjunct for conjunct in plan.query.conjuncts if conjunct.place is Place.ALWAYS]
        self._possible = all(holds(conjunct, {}, None) for conjunct in always)  # type: ignore[arg-type]

    # ---- events in, matches out --------------------------------------------------------------------------

    def push(self, events: EventTable, now: int | None) -> Found:
        """Match the events that come next, all of a moment together."""
        plan, memory = self.plan, self.memory
        prepared = Prepared.none()
        if self._possible:
            prepared = prepare(plan.query, events, plan.filters, memory.keys.partitions)
        prepared, base = memory.add(events, prepared)
        sequences = self._construct(prepared, base)
        if plan.postponed:
            sequences = self._final(sequences, prepared, base, now)
        found = self._found(sequences)
        if not self.once:
            memory.settle(base)
            if now is not None:
                memory.prune(now)
        return found

    def _construct(self, prepared: Prepared, base: int) -> list[Array]:
        """All sequences that end in a batch, as columns of event numbers."""
        plan, memory, length = self.plan, self.memory, self.plan.shape.length
        counts = memory.stacks.counts()
        events = (base, prepared.masks, memory.retained.order, memory.retained.clocks, plan.limit)
        limits = (self.limits.max_matches, self.limits.sheds)
        rest = (
            *memory.keys.arrays(memory.retained),
            *memory.stacks.arrays(len(prepared), memory.keys.counts()),
            *memory.arguments(plan.columns),
        )
        kernel = kernel_of(plan.source, memory.seen)
        out = Growing(np.int32)
        out.reserve(_ROOM * length)
        done = found = shed = 0
        while done < len(prepared):
            done, found, shed = kernel(done, *events, out.data, found, *limits, counts, *rest)
            if shed and not self.limits.sheds:
                raise self.limits.exceeded("max_matches")
            out.count = found * length
            if done < len(prepared):
                out.reserve(2 * len(out.data))
        self._count(counts, int(shed))
        sequences = out.values.reshape(found, length)
        return [sequences[:, k] for k in range(length)]

    def _count(self, counts: Integers, shed: int) -> None:
        stacks, before = self.memory.stacks, self.memory.stacks.nodes
        stacks.added(counts)
        self.counters.add(Counters(made=stacks.nodes - before, shed_matches=shed, peak=stacks.nodes))
        if stacks.nodes > self.limits.max_nodes:
            raise self.limits.exceeded("max_nodes")

    def _final(self, sequences: list[Array], prepared: Prepared, base: int, now: int | None) -> list[Array]:
        """The sequences, of this batch or before, whose window has passed and that nothing refuted."""
        memory, pending, apart = self.memory, self.memory.pending, self.plan.query.non_overlap
        bound = zip(self.plan.shape.positives, sequences, strict=True)
        pending.add({one.variable: One(column.copy()) for one, column in bound}, len(sequences[0]))
        keep = ~pending.stands
        for one in self.plan.postponed:
            moments = (memory.retained.order, memory.retained.clocks, self.plan.limit)
            arguments = (*memory.keys.arrays(memory.retained), *moments, *memory.arguments(one.columns))
            one.refute(keep, pending.columns(), prepared, base, memory.seen, arguments)
        keep |= pending.stands
        if not keep.all():
            pending.keep(np.flatnonzero(keep))
        columns = pending.columns()
        pending.stands |= ~memory.retained.alive(now, columns[0])
        ends = memory.retained.order[columns[-1]] if apart else columns[-1]
        out = released(pending.stands, ends, in_order=apart)
        final = [column[out] for column in columns]
        if len(final[0]):
            pending.keep(np.flatnonzero(~out))
        return final

    def _found(self, sequences: list[Array]) -> Found:
        """Sequences as rows of an event table, in the order of results."""
        order, events, rows = in_order(sequences, self.memory.retained)
        if self.plan.query.non_overlap:
            order = order[self._apart(sequences[0][order], sequences[-1][order])]
        rows = [column[order] for column in rows]
        first, last = rows[0], rows[-1]
        bound: dict[str, One | Many] = {
            one.variable: One(column) for one, column in zip(self.plan.shape.positives, rows, strict=True)
        }
        moments = events.starts[first], events.ends[last], events.start_times[first], events.end_times[last]
        return Found(MatchTable(bound, *moments), events)

    def _apart(self, first: Array, last: Array) -> Integers:
        memory, moments = self.memory, self.memory.retained.order
        memory.until.fill(memory.keys.partitions.count, NONE_KEPT)
        counts = np.full(len(last), self.plan.shape.length, np.int64)
        parts = memory.retained.parts[last]
        return keep_apart(parts, memory.until.values, moments[first], moments[last], counts)

    # ---- going on elsewhere ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that a matching of the same plan needs to go on."""
        return self.memory.state()

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.memory.resume(state)
