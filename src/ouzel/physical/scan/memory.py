"""What a scan remembers from batch to batch: events, the stacks they are in, and what is not final yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.physical.compiled.fill import Wanted
from ouzel.physical.compiled.operands import Array, may_be
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.pending import Pending
from ouzel.physical.memory.growing import Numbers, marked
from ouzel.physical.memory.prepare import Prepared
from ouzel.physical.memory.retained import Retained
from ouzel.physical.memory.values import Values
from ouzel.physical.scan.keys import Keys
from ouzel.physical.scan.stacks import Stacks
from ouzel.state.parts import in_parts, part

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan

# So many events, nodes and keys may have gone before it is worth looking for them.
SPARE = 4_096
# To find out which events of so small a batch are needed costs more than to keep them for a while.
FEW = 256


class Memory:
    """Events with their keys and values, stacks, sequences that wait."""

    def __init__(self, plan: ScanPlan, *, once: bool) -> None:
        """Begin with nothing."""
        self.plan = plan
        self.once = once
        self.keys = Keys(plan.query, plan.shape, once=once)
        self.retained = Retained(plan.query, self.keys.partitions, once=once)
        self.values = Values(plan.operands, once=once)
        self.stacks = Stacks(plan.shape)
        self.pending = Pending()
        self._since = self.stacks.counts()
        self._checked = 0
        self._remembered = 0
        self._borrows = False

    @property
    def open_runs(self) -> int:
        """How many nodes the stacks have."""
        return self.stacks.nodes

    def add(self, events: EventTable, prepared: Prepared) -> tuple[Prepared, int]:
        """Add a batch; those of its events that are in some partition, and the number of the first."""
        prepared = self.keys.add(events, prepared)
        self._since = self.stacks.counts()
        base = self.retained.add(events, prepared)
        wanted = may_be(self.plan.query.components, prepared.masks)
        self._add_values(events, prepared.rows, prepared.end_times, wanted)
        return prepared, base

    def _add_values(self, events: EventTable, rows: Integers, times: Integers, wanted: Wanted | None) -> None:
        self.values.add(events, rows, times, wanted)
        if not self.once and not self._borrows:
            self.retained.rows.borrow(self.values.exact(events.table.schema))
            self._borrows = True

    def arguments(self) -> list[Any]:
        """What construction compares: constants, and columns of all events."""
        return self.values.arguments(self.retained.intervals)

    # ---- what is not needed any more ---------------------------------------------------------------------

    def settle(self, base: int) -> None:
        """Keep of a batch the events that are in a stack, may refute, or are part of a sequence that waits."""
        if len(self.retained) - base < FEW or self._is_due():
            # all are looked at soon enough
            self.retained.settle()
            return
        nodes = self.stacks.events(self._since)
        waiting = [column[column >= base] for column in self.pending.columns()]
        used = marked(len(self.retained) - base, *(one - base for one in (*nodes, *waiting)))
        self.retained.settle(used)
        if not used.all():
            self._keep_beside(used, base, nodes)

    def prune(self, now: int) -> None:
        """Forget what nothing needs any more, once it may be much (windows in the scan, SASE 4.3)."""
        if self._is_due():
            self.stacks.prune(self.retained.near(now))
            used = marked(len(self.retained), *self.stacks.events(), *self.pending.columns())
            if not used.all():
                self.retained.prune(used)
                self._keep_beside(used, 0, self.stacks.events())
            self._checked = len(self.retained) + len(self.stacks)
        if self.keys.count + len(self.values.texts) >= 2 * self._remembered + SPARE:
            self._forget()
            self._remembered = self.keys.count + len(self.values.texts)

    def _is_due(self) -> bool:
        # a sixteenth more is little enough for memory, and much enough for the time that it takes
        return len(self.retained) + len(self.stacks) >= self._checked + self._checked // 16 + SPARE

    def _keep_beside(self, used: Any, base: int, nodes: list[Array]) -> None:
        """Follow the events, of which those from `base` on were kept for which a flag is set."""
        self.keys.keep(used, base)
        self.values.keep(used, base)
        numbers = Numbers(used, base)
        for events in nodes:
            numbers.renumber(events)
        self.pending.renumber(numbers)

    def _forget(self) -> None:
        """Forget keys and texts that no event has: no match to come can overlap with those of their partitions."""
        partitions, kept = self.keys.forget(self.retained)
        self.stacks.forget(kept)
        self.pending.forget(partitions)
        self.values.forget()

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it, as arrays and tables."""
        states = {
            "retained": self.retained.state(),
            "keys": self.keys.state(),
            "stacks": self.stacks.state(),
            "pending": self.pending.state(),
        }
        return in_parts(states)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with all of it."""
        self.retained.resume(part("retained", state))
        self.keys.resume(part("keys", state))
        self.stacks.resume(part("stacks", state))
        self.pending.resume(part("pending", state))
        self.values = Values(self.plan.operands, once=False)
        self._borrows = False
        if len(self.retained):
            events, rows = self.retained.events(np.arange(len(self.retained)))
            self._add_values(events, rows, events.end_times, None)
