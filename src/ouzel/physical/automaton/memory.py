"""What an automaton remembers from batch to batch: events, open runs, and what they have bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.open_runs import OpenRuns
from ouzel.physical.automaton.registers import FIRST, NODE, Slots
from ouzel.physical.automaton.states import Automaton
from ouzel.physical.automaton.store import COLUMNS, KEPT, Store
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.event_table import EventTable
from ouzel.physical.finish.negation import Refutation
from ouzel.physical.finish.pending import Pending
from ouzel.physical.memory.growing import Numbers, marked
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared
from ouzel.physical.memory.retained import Retained
from ouzel.state.parts import in_parts, part

# So many events and nodes may have gone before it is worth looking for them.
SPARE = 4_096


class RemembersRuns(Protocol):
    """What a plan says of what has to be remembered."""

    @property
    def query(self) -> BoundQuery:
        """The query."""

    @property
    def refutations(self) -> Sequence[Refutation]:
        """What refutes matches."""

    @property
    def automaton(self) -> Automaton:
        """States and their moves."""

    @property
    def slots(self) -> Slots:
        """Where a run keeps its registers."""

    @property
    def operands(self) -> Operands:
        """What the kernel reads of events."""

    @property
    def widths(self) -> tuple[int, int]:
        """The number of integers and of floats in a run."""


class Memory:
    """Events that runs or refuters may need, open runs, the match store, matches that are not final yet."""

    def __init__(self, plan: RemembersRuns, *, once: bool) -> None:
        """Begin with nothing."""
        self.plan = plan
        self.once = once
        self.partitions = Partitions(plan.query, once=once)
        # a set, as one component may refute on several steps; those at the end are not asked for again
        self._refuting = sum({one.bit for one in plan.refutations if not one.at_end})
        self.retained = Retained(plan.query, self.partitions, once=once, masks=bool(self._refuting))
        self.texts = Texts(plan.operands.texts)
        self.store = Store.keeping(plan.slots.kept_widths)
        self.runs = OpenRuns(plan.widths)
        self.pending = Pending()
        self._checked = self._remembered = 0

    @property
    def open_runs(self) -> int:
        """How many runs are open."""
        return len(self.runs)

    def add(self, events: EventTable, prepared: Prepared) -> tuple[Prepared, int]:
        """Keep the events that some component wants, for as long as they may matter; the number of the first."""
        return prepared, self.retained.add(events, prepared)

    @property
    def buffer(self) -> Prepared:
        """All events, where they come at once."""
        assert self.once
        return self.retained.pushed[1]

    @property
    def events(self) -> EventTable:
        """The table of all events, where they come at once."""
        assert self.once
        return self.retained.pushed[0]

    # ---- what is not needed any more ---------------------------------------------------------------------

    def settle(self, _base: int) -> None:
        """Keep the events of a batch: runs may have bound any of them."""
        self.retained.settle()

    def prune(self, now: int) -> None:
        """Forget events and nodes that nothing needs any more, once there may be many (SASE+ 5.3)."""
        are_many_texts = len(self.texts) >= 2 * self._remembered + SPARE
        if self._size() < 2 * self._checked + SPARE and not are_many_texts:
            return
        alive = self.retained.alive(now)
        # expired runs of partitions that had no event to find out at
        self.runs.keep(lambda ri: alive[ri[:, FIRST]])
        numbers, used = self.store.reached(self.runs.ri[:, NODE], alive)
        used[self.runs.ri[:, FIRST]] = True
        for column in self.plan.slots.event_columns:
            bound = self.runs.ri[:, column]
            used[bound[bound >= 0]] = True
        used[self.pending.rows()] = True
        if self.retained.masks is not None:
            used |= alive & ((self.retained.masks.values & self._refuting) != 0)
        kept = np.flatnonzero(used)
        events = np.full(len(used), -1, np.int64)
        events[kept] = np.arange(len(kept))
        self.store.keep(numbers, events)
        numbers = np.append(numbers, -1)
        for column in (NODE, *self.plan.slots.element_columns):
            self.runs.ri[:, column] = numbers[self.runs.ri[:, column]]
        for column in (FIRST, *self.plan.slots.event_columns):
            bound = self.runs.ri[:, column]
            self.runs.ri[:, column] = np.where(bound < 0, -1, events[bound])
        self.pending.renumber(Numbers(used))
        self.retained.prune(used)
        if self.partitions.tests:
            self._forget_partitions()
        self._checked = self._size()
        if are_many_texts:
            self._forget_texts()

    def _size(self) -> int:
        return len(self.retained) + self.store.nodes + self.partitions.count

    def _forget_partitions(self) -> None:
        """Forget partitions without events: they have no runs, and no match to come that may overlap."""
        kept = self.retained.forget()
        if not self.plan.automaton.together:  # else there is one for all, of runs and of matches
            self.runs.forget(kept)
            self.pending.forget(kept)

    def _forget_texts(self) -> None:
        """Forget texts that no run has, nor an element of a closure; the others are numbered anew."""
        own, sets, kept = self.plan.slots.text_columns
        columns = [self.runs.ri[:, column] for column in own]
        columns += [self.store.kept[0][: self.store.nodes, column] for column in kept]
        held = [self.runs.ri[:, column] for column in sets]  # 0 is the empty set, others are numbers and 1
        # those that the query mentions have the first numbers, and keep them; 0 stands for null, too
        used = marked(max(len(self.texts), 1), *columns, *(one[one > 0] - 1 for one in held))
        used[: max(len(self.plan.operands.texts), 1)] = True
        self.texts, numbers = self.texts.only(used)
        for column in columns:
            column[:] = numbers[column]
        for column in held:
            column[column > 0] = numbers[column[column > 0] - 1] + 1
        self._remembered = len(self.texts)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it, as arrays and tables; there must have been a batch, if one without events."""
        states = {
            "retained": self.retained.state(),
            "runs": self.runs.state(),
            "store": self.store.state(),
            "pending": self.pending.state(),
            "own": {"texts": list(self.texts)},
        }
        return in_parts(states)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with all of it; there must have been a batch, if one without events, that tells their schema."""
        self.retained.resume(part("retained", state))
        self.runs.resume(part("runs", state))
        arrays = [state[f"store.{name}"] for name in COLUMNS]
        none = [np.empty((len(arrays[0]), 0), one.dtype) for one in self.store.kept]
        integers, floats = (state.get(f"store.{name}", one) for name, one in zip(KEPT, none, strict=True))
        self.store = Store.of(arrays, (integers, floats))
        self.pending.resume(part("pending", state))
        self.texts = Texts({text: number for number, text in enumerate(state["own.texts"])})
