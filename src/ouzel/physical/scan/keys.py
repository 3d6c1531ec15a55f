"""Equivalence tests at work: the numbers that stand for the keys of all events.

Mostly the combination of all keys is one number, that of a partition.  To compare with SASE 4.2.2, each test can
have numbers of its own; then the test that tells most events apart comes first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.memory.growing import Growing, marked
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared
from ouzel.physical.memory.retained import Retained
from ouzel.physical.scan.shape import Shape
from ouzel.state.parts import part


class Keys:
    """The keys of all events, and the partitions that their combinations form."""

    def __init__(self, query: BoundQuery, shape: Shape, *, once: bool) -> None:
        """Begin with no events."""
        tests = query.equivalences
        self.apart = shape.keys > 1 or (shape.keys == 1 and not shape.stacks)
        # what happens to complete sequences is the same however tests are evaluated
        combined = () if self.apart and not query.non_overlap and shape.inner == shape.negatives else tests
        self.partitions = Partitions(query, once=once, tests=combined)
        self.once = once
        self.order: list[int] = []
        self._numberings = [Partitions(query, once=once, tests=(one,)) for one in tests] if self.apart else []
        self._columns = [Growing(np.int32) for _ in self._numberings]
        self._pushed: list[Integers] = []

    @property
    def count(self) -> int:
        """How many numbers there are, of all keys."""
        return self.partitions.count + sum(one.count for one in self._numberings)

    def add(self, events: EventTable, prepared: Prepared) -> Prepared:
        """Number the keys of a batch; its events without those that have a null among them."""
        if not self.apart:
            return prepared
        found = [one.number(events, prepared.rows) for one in self._numberings]
        inside = np.logical_and.reduce([one >= 0 for one in found])
        if not inside.all():
            prepared, found = prepared.taken(np.flatnonzero(inside)), [one[inside] for one in found]
        if not self.order and len(prepared):
            self._sort(sorted(range(len(found)), key=lambda key: -self._numberings[key].count))
            found = [found[key] for key in self.order]
        self._pushed = found
        for column, numbers in zip(self._columns, found, strict=True):
            if not self.once:
                column.extend(numbers)
        return prepared

    def _sort(self, order: list[int]) -> None:
        self.order = order
        self._numberings = [self._numberings[key] for key in order]

    def arrays(self, retained: Retained) -> list[Array]:
        """The numbers of all events, key by key."""
        if not self.apart:
            return [retained.parts] if self.partitions.tests else []
        return list(self._pushed) if self.once else [one.values for one in self._columns]

    def counts(self) -> list[int]:
        """How many numbers each key has."""
        return [one.count for one in self._numberings or [self.partitions]]

    def keep(self, kept: Any, begin: int = 0) -> None:
        """Keep those of the events from `begin` on for which a flag is set."""
        for column in self._columns:
            column.keep(kept, begin)

    def forget(self, retained: Retained) -> tuple[Integers, list[Integers]]:
        """Forget what no event has: the partitions that are kept, and for every key the numbers that are."""
        partitions = retained.forget() if self.partitions.tests else np.arange(self.partitions.count)
        if not self.apart:
            return partitions, [partitions]
        kept: list[Integers] = []
        for number, (numbering, column) in enumerate(zip(self._numberings, self._columns, strict=True)):
            kept.append(np.flatnonzero(marked(numbering.count, column.values)))
            self._columns[number] = Growing(np.int32, numbering.keep(kept[-1])[column.values])
        return partitions, kept

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The numbers of all events and what they stand for, if every test has its own."""
        state: dict[str, Any] = {"order": np.array(self.order, np.int64)} if self.apart else {}
        for number, (numbering, column) in enumerate(zip(self._numberings, self._columns, strict=True)):
            state[f"{number}.numbers"] = column.values.copy()
            state |= {f"{number}.{name}": value for name, value in numbering.state().items()}
        return state

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        if self.apart and len(state["order"]):
            self._sort(state["order"].tolist())
        for number, numbering in enumerate(self._numberings):
            self._columns[number] = Growing(np.int32, state[f"{number}.numbers"])
            numbering.resume(part(str(number), state))
