"""A scan at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.constants import can_match
from ouzel.physical.compiled import share
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.compiled.cost import result_cost
from ouzel.physical.compiled.non_overlap import NONE_KEPT, keep_apart
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.pending import released
from ouzel.physical.contract import Counters, Found, Tell
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.memory.prepare import Prepared, prepare
from ouzel.physical.scan.construction import Constructed, Construction, TooManyError
from ouzel.physical.scan.memory import Memory
from ouzel.physical.scan.order import in_order
from ouzel.physical.scan.stacks import Stacks
from ouzel.physical.stoppable import stoppable

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan


class ScanMatching:
    """A scan plan at work."""

    def __init__(self, plan: ScanPlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share some of the work on a large table that comes at once."""
        self.plan = plan
        self.limits = limits
        self.once = once
        self.threads = threads
        self.counters = Counters()
        self._room = limits.memory()
        self.memory = Memory(plan, once=once)
        self._possible = can_match(plan.query)

    @property
    def open_runs(self) -> int:
        """Nodes of the stacks, and matches that wait until they are final."""
        return self.memory.stacks.nodes + len(self.memory.pending)

    @property
    def waiting(self) -> int | None:
        """The first time at which matches end that wait until they are final."""
        memory = self.memory
        if not len(memory.pending):
            return None
        return int(memory.retained.intervals.end_times.values[memory.pending.columns()[-1]].min())

    # ---- events in, matches out --------------------------------------------------------------------------

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:
        """Match the events that come next, all of a moment together."""
        return (stoppable(lambda: self._push(events, now), tell),)

    def _push(self, events: EventTable, now: int | None) -> Found:
        plan, memory = self.plan, self.memory
        prepared = Prepared.none()
        if self._possible:
            prepared = prepare(plan.query, events, plan.filters, memory.keys.partitions, self.threads)
        prepared, base = memory.add(events, prepared)
        most, waiting = self._room.most(self._cost(events)), len(memory.pending)
        try:
            sequences = self._construct(prepared, base, max(most - waiting, 1))
        except TooManyError:
            if most - waiting >= self.limits.max_matches:
                raise self.limits.exceeded("max_matches") from None
            raise self._room.exceeded(most, "matches") from None
        if plan.postponed:
            sequences = self._final(sequences, prepared, base, now)
        found = self._found(sequences)
        if not self.once:
            memory.settle(base)
            if now is not None:
                memory.prune(now)
        return found

    def _cost(self, events: EventTable) -> float:
        """The bytes of a match: its event numbers, in construction and in order, and its row in the result."""
        return 16 * self.plan.shape.length + 16 + result_cost(self.plan.query, events.table).match

    def _construct(self, prepared: Prepared, base: int, most: int) -> Array:
        """All sequences that end in a batch, as rows of event numbers, in the order of their ends."""
        memory = self.memory
        arguments = memory.arguments(self.plan.columns)
        # what is shed must not depend on the number of threads
        large = self.once and len(prepared) >= share.PARALLEL_FROM and not self.limits.sheds
        if not large or self.threads < 2 or self.plan.shape.stacks != 1:
            construction = Construction(self.plan, memory, memory.stacks, self.limits, arguments, most)
            return self._counted([construction.run(prepared.masks, base)])[0]
        key = memory.keys.arrays(memory.retained)[0]

        def part(number: int) -> Constructed:
            """The sequences of some partitions, with stacks of their own."""
            stacks = Stacks(self.plan.shape)
            # one thread may have nearly all of them: only their numbers have to fit as often as there are threads
            fits = min(most, self._room.most(4 * self.plan.shape.length * self.threads))
            construction = Construction(self.plan, memory, stacks, self.limits, arguments, fits, self.threads)
            return construction.run(np.where(key % self.threads == number, prepared.masks, 0), base)

        parts = share.each_in_a_thread(part, range(self.threads))
        sequences = np.concatenate(self._counted(parts))
        if len(sequences) > min(most, self.limits.max_matches):
            raise TooManyError
        return sequences[np.argsort(sequences[:, -1], kind="stable")]

    def _counted(self, parts: list[Constructed]) -> list[Array]:
        """The sequences of all threads, once what they made is counted."""
        nodes = sum(part.nodes for part in parts)
        made, shed = sum(part.made for part in parts), sum(part.shed for part in parts)
        self.counters.add(Counters(made=made, shed_matches=shed, peak=nodes))
        if nodes > self.limits.max_nodes:
            raise self.limits.exceeded("max_nodes")
        return [part.sequences for part in parts]

    def _final(self, sequences: Array, prepared: Prepared, base: int, now: int | None) -> Array:
        """The sequences, of this batch or before, whose window has passed and that nothing refuted."""
        memory, pending, apart = self.memory, self.memory.pending, self.plan.query.non_overlap
        bound = zip(self.plan.shape.positives, sequences.T, strict=True)
        pending.add({one.variable: One(column.copy()) for one, column in bound}, len(sequences))
        keep = ~pending.stands
        for one in self.plan.postponed:
            moments = (memory.retained.ends, memory.retained.clocks, self.plan.limit)
            arguments = (*memory.keys.arrays(memory.retained), *moments, *memory.arguments(one.columns))
            one.refute(keep, pending.columns(), prepared, base, memory.seen, arguments)
        keep |= pending.stands
        if not keep.all():
            pending.keep(np.flatnonzero(keep))
        columns = pending.columns()
        pending.stands |= ~memory.retained.alive(now, columns[0])
        ends = memory.retained.ends[columns[-1]] if apart else columns[-1]
        out = released(pending.stands, ends, in_order=apart)
        final = np.stack([column[out] for column in columns], axis=1)
        if len(final):
            pending.keep(np.flatnonzero(~out))
        return final

    def _found(self, sequences: Array) -> Found:
        """Sequences as rows of an event table, in the order of results."""
        ordered = in_order(sequences, self.memory.retained, self.threads)
        events, rows = ordered.events, ordered.rows
        if self.plan.query.non_overlap:
            rows = rows[:, self._apart(ordered.numbers(0), ordered.numbers(-1))]
        first, last = rows[0], rows[-1]
        bound: dict[str, One | Many] = {
            one.variable: One(rows[k]) for k, one in enumerate(self.plan.shape.positives)
        }
        matches = MatchTable(bound, *events.intervals(first, last))
        return Found(self.plan.query, matches, events, compute_by_row(matches, events))

    def _apart(self, first: Array, last: Array) -> Integers:
        memory, moments = self.memory, self.memory.retained.ends
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
