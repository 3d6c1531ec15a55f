"""A scan at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ouzel.logical.constants import can_match
from ouzel.physical.compiled import share
from ouzel.physical.compiled.cost import result_cost
from ouzel.physical.compiled.operands import Array
from ouzel.physical.contract import Counters, Found, Tell
from ouzel.physical.event_table import EventTable
from ouzel.physical.finish.finishing import Finishing
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound, One
from ouzel.physical.memory.prepare import NONE, Preparation, Prepared
from ouzel.physical.scan.construction import Construction, TooManyError
from ouzel.physical.scan.memory import Memory
from ouzel.physical.stoppable import LARGE, stoppable

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan


class ScanMatching:
    """A scan plan at work."""

    def __init__(self, plan: ScanPlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share some of the work on a large table that comes at once."""
        limits = limits.settled()  # also of what finishes matches
        self.plan = plan
        self.limits = limits
        self.once = once
        self.threads = threads
        self.counters = Counters()
        self._room = limits.memory()
        self.memory = Memory(plan, once=once)
        self.construction = Construction(plan, self.memory, limits)
        out = self.memory.retained, self.memory.pending, limits, self.counters
        self.finishing = Finishing(plan.query, plan.refutations, *out)
        self._preparation = Preparation(plan.query, plan.filters)
        self._largest, self._cost = -1, 0.0
        self._possible = can_match(plan.query)

    @property
    def open_runs(self) -> int:
        """Nodes of the stacks, and matches that wait until they are final."""
        return self.memory.stacks.nodes + len(self.memory.pending)

    @property
    def waiting(self) -> int | None:
        """The first time at which matches end that wait until they are final."""
        return self.finishing.waiting

    # ---- events in, matches out --------------------------------------------------------------------------

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:
        """Match the events that come next, all of a moment together."""
        # a run or node is met in some nanoseconds: a small batch is not worth a thread
        size = LARGE if self.once else len(events) * (1 + self.open_runs // 100)
        return (stoppable(lambda: self._push(events, now), tell, size=size),)

    def _push(self, events: EventTable, now: int | None) -> Found:
        plan, memory = self.plan, self.memory
        prepared = NONE
        if self._possible:
            prepared = self._preparation.of(events, memory.keys.partitions, self.threads)
        if not len(prepared) and (nothing := self.finishing.nothing) is not None:
            if now is not None:
                memory.prune(now)
            return nothing
        prepared, base = memory.add(events, prepared)
        most, waiting = self._room.most(self._cost_of(events)), len(memory.pending)
        try:
            columns = self._construct(prepared, base, max(most - waiting, 1))
        except TooManyError:
            if most - waiting >= self.limits.max_matches:
                raise self.limits.exceeded("max_matches") from None
            raise self._room.exceeded(most, "matches") from None
        bound: Bound = {one.variable: One(rows) for one, rows in zip(plan.shape.positives, columns, strict=True)}
        found = self.finishing.finish(bound, base, now, len(prepared), ordered=not plan.shape.lasting)
        if not self.once:
            memory.settle(base)
            if now is not None:
                memory.prune(now)
        return found

    def _cost_of(self, events: EventTable) -> float:
        """The bytes of a match: its event numbers, in construction and in order, and its row in the result."""
        if len(events) > self._largest:
            # how wide columns are, the largest batch tells
            cost = result_cost(self.plan.query, events.table).match
            self._largest, self._cost = len(events), 16 * self.plan.shape.length + 16 + cost
        return self._cost

    def _construct(self, prepared: Prepared, base: int, most: int) -> list[Array]:
        """All sequences that end in a batch, as columns of event numbers, in the order of their ends."""
        length, before = self.plan.shape.length, self.memory.stacks.nodes
        ends = self.construction.scan(prepared.masks, base)
        nodes = self.memory.stacks.nodes if len(prepared) else before
        self.counters.add(Counters(made=nodes - before, peak=nodes))
        if nodes > self.limits.max_nodes:
            raise self.limits.exceeded("max_nodes")
        # what is shed must not depend on the number of threads
        large = self.once and len(prepared) >= share.PARALLEL_FROM and not self.limits.sheds
        threads = self.threads if large else 1
        # one thread may have nearly all of them: only their numbers have to fit as often as there are threads
        own = self._room.most(4 * length * threads)
        constructed = self.construction.sequences(ends, min(self.limits.max_matches, most), threads, own)
        self.counters.shed_matches += constructed.shed
        return constructed.columns

    # ---- going on elsewhere ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that a matching of the same plan needs to go on."""
        return self.memory.state()

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.memory.resume(state)
