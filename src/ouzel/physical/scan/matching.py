"""A scan at work: events in, matches out; what it remembers is in memory.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ouzel.logical.constants import can_match
from ouzel.physical.compiled import share
from ouzel.physical.compiled.cost import ResultCosts
from ouzel.physical.compiled.operands import Array
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable
from ouzel.physical.finish.compiled_matching import CompiledMatching
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound, One
from ouzel.physical.memory.prepare import NONE, Prepared
from ouzel.physical.scan.construction import Construction, TooManyError
from ouzel.physical.scan.memory import Memory

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan


class ScanMatching(CompiledMatching[Memory]):
    """A scan plan at work."""

    def __init__(self, plan: ScanPlan, limits: Limits, *, once: bool, threads: int) -> None:
        """Begin with nothing; `threads` share some of the work on many events that come at once."""
        super().__init__(plan, Memory(plan, once=once), limits, once=once, threads=threads)
        self.plan = plan
        self.ordered = not plan.shape.lasting
        self.construction = Construction(plan, self.memory, self.limits)
        self._costs = ResultCosts(plan.query)
        self._possible = can_match(plan.query)

    def prepare(self, events: EventTable) -> Prepared:
        """The events that some component wants, unless there can be no match."""
        return self.preparation.of(events, self.memory.keys.partitions, self.threads) if self._possible else NONE

    def bind(self, prepared: Prepared, base: int) -> Bound:
        """The sequences that end in a batch."""
        most, waiting = self.room.most(self._cost_of(self.memory.retained.pushed[0])), len(self.memory.pending)
        try:
            columns = self._construct(prepared, base, max(most - waiting, 1))
        except TooManyError:
            if most - waiting >= self.limits.max_matches:
                raise self.limits.exceeded("max_matches") from None
            raise self.room.exceeded(most, "matches") from None
        return {one.variable: One(rows) for one, rows in zip(self.plan.shape.positives, columns, strict=True)}

    def _cost_of(self, events: EventTable) -> float:
        """The bytes of a match: its event numbers, in construction and in order, and its row in the result."""
        return 16 * self.plan.shape.length + 16 + self._costs.of(events.table).match

    def _construct(self, prepared: Prepared, base: int, most: int) -> list[Array]:
        """All sequences that end in a batch, as columns of event numbers, in the order of their ends."""
        # what is shed must not depend on the number of threads
        large = len(prepared) >= share.PARALLEL_FROM and not self.limits.sheds
        threads = self.threads if large else 1
        before = self.memory.stacks.nodes
        parts, made = self.construction.scan(prepared.masks, base, threads)
        self.counters.add(Counters(made=made, peak=before + made))
        if before + made > self.limits.max_nodes:
            raise self.limits.exceeded("max_nodes")
        # one thread may have nearly all of them: only their numbers have to fit as often as there are threads
        own = self.room.most(4 * self.plan.shape.length * threads)
        constructed = self.construction.sequences(parts, min(self.limits.max_matches, most), own)
        self.counters.shed_matches += constructed.shed
        return constructed.columns
