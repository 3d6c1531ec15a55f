"""A scan at work: active instance stacks from batch to batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.conjuncts import Place
from ouzel.physical.compiled.growing import Growing, Numbers, marked
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.non_overlap import NONE_KEPT, keep_apart
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.pending import Pending, released
from ouzel.physical.compiled.prepare import Prepared, prepare
from ouzel.physical.compiled.retained import Retained
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.matching import Counters, Found
from ouzel.physical.reference.evaluate import holds
from ouzel.physical.scan.keys import Keys
from ouzel.physical.scan.order import in_order
from ouzel.physical.scan.stacks import Stacks
from ouzel.physical.scan.values import Values

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan

# So many events and nodes may have gone before it is worth looking for them.
SPARE = 4_096
# So many matches there is room for at first.
_ROOM = 1_024


class ScanMatching:
    """The state of a scan plan: the events in its stacks, and sequences that may still be refuted."""

    def __init__(self, plan: ScanPlan, limits: Limits, *, once: bool) -> None:
        """Begin with nothing."""
        self.plan = plan
        self.limits = limits
        self.once = once
        self.counters = Counters()
        self.keys = Keys(plan.query, plan.shape, once=once)
        self.retained = Retained(plan.query, self.keys.partitions, once=once)
        self.values = Values(plan.operands, once=once)
        self.stacks = Stacks(plan.shape)
        self.pending = Pending()
        self.until = Growing(np.int64)
        always = [conjunct for conjunct in plan.query.conjuncts if conjunct.place is Place.ALWAYS]
        self._possible = all(holds(conjunct, {}, None) for conjunct in always)  # type: ignore[arg-type]
        self._seen = 0
        self._checked = 0
        self._remembered = 0

    def __len__(self) -> int:
        """The number of events that are kept."""
        return len(self.retained)

    # ---- events in, matches out --------------------------------------------------------------------------

    def push(self, events: EventTable, now: int | None) -> Found:
        """Match the events that come next, all of a moment together."""
        plan = self.plan
        prepared = Prepared.none()
        if self._possible:
            prepared = prepare(plan.query, events, plan.filters, self.keys.partitions)
            prepared = self.keys.add(events, prepared)
        self._seen += len(prepared)
        base = self.retained.add(events, prepared)
        times = events.end_times[prepared.rows] if self.retained.counts else prepared.clocks
        self.values.add(events.table, prepared.rows, times)
        since = self.stacks.counts()
        sequences = self._construct(prepared, base)
        if plan.postponed:
            sequences = self._final(sequences, prepared, base, now)
        found = self._found(sequences)
        if not self.once:
            self._settle(since, base)
            if now is not None:
                self._prune(now)
        return found

    def _construct(self, prepared: Prepared, base: int) -> list[Array]:
        """All sequences that end in a batch, as columns of event numbers."""
        plan, length = self.plan, self.plan.shape.length
        keys = self.keys.arrays(self.retained)
        stacks = self.stacks.arrays(len(prepared), self.keys.counts())
        values = self.values.arguments(self.retained.times.values, plan.columns)
        clocks = (prepared.masks, self.retained.order, self.retained.clocks, plan.limit)
        counts = self.stacks.counts()
        kernel = kernel_of(plan.source, self._seen)
        done, found, shed = 0, 0, 0
        out = Growing(np.int32)
        out.reserve(_ROOM * length)
        limits = (self.limits.max_matches, self.limits.sheds)
        while done < len(prepared):
            done, found, shed = kernel(
                done, base, *clocks, out.data, found, *limits, counts, *keys, *stacks, *values
            )
            if shed and not self.limits.sheds:
                raise self.limits.exceeded("max_matches")
            out.count = found * length
            if done < len(prepared):
                out.reserve(2 * len(out.data))
        self._count(counts, int(shed))
        sequences = out.values.reshape(found, length)
        return [sequences[:, k] for k in range(length)]

    def _count(self, counts: Integers, shed: int) -> None:
        before = self.stacks.nodes
        self.stacks.added(counts)
        self.counters.made += self.stacks.nodes - before
        self.counters.shed_matches += shed
        self.counters.peak = max(self.counters.peak, self.stacks.nodes)
        if self.stacks.nodes > self.limits.max_nodes:
            raise self.limits.exceeded("max_nodes")

    def _final(self, sequences: list[Array], prepared: Prepared, base: int, now: int | None) -> list[Array]:
        """The sequences, of this batch or before, whose window has passed and that nothing refuted."""
        pending, in_order = self.pending, self.plan.query.non_overlap
        waiting = [one.variable for one in self.plan.shape.positives]
        pending.add(
            {name: One(column.copy()) for name, column in zip(waiting, sequences, strict=True)}, len(sequences[0])
        )
        keep = ~pending.stands
        for one in self.plan.postponed:
            arguments = self.values.arguments(self.retained.times.values, one.columns)
            rest = (self.retained.order, self.retained.clocks, self.plan.limit, *arguments)
            keys = self.keys.arrays(self.retained)
            one.refute(keep, pending.columns(), base, prepared.masks, keys, self._seen, *rest)
        keep |= pending.stands
        if not keep.all():
            pending.keep(np.flatnonzero(keep))
        columns = pending.columns()
        pending.stands |= ~self.retained.alive(now, columns[0])
        ends = self.retained.order[columns[-1]] if in_order else columns[-1]
        out = released(pending.stands, ends, in_order=in_order)
        final = [column[out] for column in columns]
        if len(final[0]):
            pending.keep(np.flatnonzero(~out))
        return final

    def _found(self, sequences: list[Array]) -> Found:
        """Sequences as rows of an event table, in the order of results."""
        order, events, rows = in_order(sequences, self.retained)
        if self.plan.query.non_overlap:
            ordered = [column[order] for column in sequences]
            kept = self._apart(ordered)
            order = order[kept]
        rows = [column[order] for column in rows]
        first, last = rows[0], rows[-1]
        bound: dict[str, One | Many] = {
            one.variable: One(column) for one, column in zip(self.plan.shape.positives, rows, strict=True)
        }
        return Found(
            MatchTable(
                bound,
                events.starts[first],
                events.ends[last],
                events.start_times[first],
                events.end_times[last],
            ),
            events,
        )

    def _apart(self, sequences: list[Array]) -> Integers:
        first, last = sequences[0], sequences[-1]
        self.until.fill(self.keys.partitions.count, NONE_KEPT)
        moments = self.retained.order
        counts = np.full(len(last), self.plan.shape.length, np.int64)
        parts = self.retained.parts[last]
        return keep_apart(parts, self.until.values, moments[first], moments[last], counts)

    # ---- memory ------------------------------------------------------------------------------------------

    def _settle(self, since: Integers, base: int) -> None:
        """Keep of a batch the events that are in a stack, may refute, or are part of a match that waits."""
        added = self.stacks.events(since) + [column[column >= base] for column in self.pending.columns()]
        used = marked(len(self.retained) - base, *(one - base for one in added))
        self.retained.settle(used)
        if not used.all():
            self.keys.keep(used, base)
            self.values.keep(used, base)
            self._renumber(Numbers(used, base), self.stacks.events(since))

    def _renumber(self, numbers: Numbers, events: list[Array]) -> None:
        for one in events:
            numbers.renumber(one)
        self.pending.renumber(numbers)

    def _prune(self, now: int) -> None:
        """Forget what nothing needs any more, once it may be much (windows in the scan, SASE 4.3)."""
        if len(self.retained) + len(self.stacks) >= self._checked + self._checked // 4 + SPARE:
            self.stacks.prune(self.retained.alive(now))
            used = marked(len(self.retained), *self.stacks.events(), *self.pending.columns())
            if not used.all():
                self.retained.prune(used)
                self.keys.keep(used)
                self.values.keep(used)
                self._renumber(Numbers(used), self.stacks.events())
            self._checked = len(self.retained) + len(self.stacks)
        if self.keys.count + len(self.values.texts) >= 2 * self._remembered + SPARE:
            partitions, kept = self.keys.forget(self.retained)
            self.stacks.forget(kept)
            if len(self.until):
                self.until = Growing(np.int64, self.until.values[partitions])
            self.values.forget()
            self._remembered = self.keys.count + len(self.values.texts)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def _parts(self) -> dict[str, Any]:
        return {"stacks": self.stacks, "keys": self.keys, "pending": self.pending, "retained": self.retained}

    def state(self) -> dict[str, Any]:
        """What there is to know to go on elsewhere: arrays, tables, texts and numbers by name."""
        parts = self._parts()
        state = {f"{part}.{name}": value for part, one in parts.items() for name, value in one.state().items()}
        counters = np.array([getattr(self.counters, name) for name in _COUNTERS], np.int64)
        return {**state, "until": self.until.values.copy(), "counters": counters, "seen": self._seen}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from what another matching of the same plan knew."""
        parts = self._parts()
        for part, one in parts.items():
            prefix = f"{part}."
            one.resume({name[len(prefix) :]: v for name, v in state.items() if name.startswith(prefix)})
        self.until = Growing(np.int64, state["until"])
        self.counters = Counters(**dict(zip(_COUNTERS, state["counters"].tolist(), strict=True)))
        self._seen = state["seen"]
        self.values = Values(self.plan.operands, once=False)
        if len(self.retained):
            events, rows = self.retained.events(np.arange(len(self.retained)))
            self.values.add(events.table, rows, events.end_times)


_COUNTERS = ("made", "merged", "shed_runs", "shed_matches", "peak")
