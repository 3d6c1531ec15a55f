"""What compiled engines have in common at work: a batch is prepared, the engine binds events, that is finished."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.contract import Counters, Found, Tell
from ouzel.physical.event_table import EventTable
from ouzel.physical.finish.finishing import Finishing
from ouzel.physical.finish.negation import Refutation
from ouzel.physical.finish.pending import Pending
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound
from ouzel.physical.memory.prepare import Preparation, Prepared
from ouzel.physical.memory.retained import Retained
from ouzel.physical.stoppable import LARGE, stoppable


class CompiledPlan(Protocol):
    """What a plan says of its query: what each event may be, and what refutes a match."""

    @property
    def query(self) -> BoundQuery:
        """The query."""

    @property
    def filters(self) -> Filters:
        """The conditions on single events."""

    @property
    def refutations(self) -> Sequence[Refutation]:
        """What refutes matches."""


class EngineMemory(Protocol):
    """What an engine remembers from batch to batch."""

    @property
    def retained(self) -> Retained:
        """The events that may still matter."""

    @property
    def pending(self) -> Pending:
        """The matches that are not final yet."""

    @property
    def open_runs(self) -> int:
        """How many beginnings of matches there are."""

    def add(self, events: EventTable, prepared: Prepared) -> tuple[Prepared, int]:
        """Add a batch; those of its events that matter, and the number of the first."""

    def settle(self, base: int) -> None:
        """Keep of the latest batch, which begins at a number, what may be needed."""

    def prune(self, now: int) -> None:
        """Forget what nothing needs any more, as no event before a time will follow."""

    def state(self) -> dict[str, Any]:
        """All of it, as arrays and tables."""

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with all of it."""


Memory = TypeVar("Memory", bound=EngineMemory)


class CompiledMatching(ABC, Generic[Memory]):
    """A plan of a compiled engine at work; what it remembers is in its memory."""

    ordered = False
    """Whether matches are always bound by their last event and then event by event."""

    def __init__(
        self,
        plan: CompiledPlan,
        memory: Memory,
        limits: Limits,
        *,
        once: bool,
        threads: int,
        repeats: bool = False,
    ) -> None:
        """Begin with nothing; `threads` share some of the work on many events that come at once.

        `repeats` says that the engine may bind the events of a match several times.
        """
        self.memory = memory
        self.limits = limits.settled()  # also of what finishes matches
        self.room = self.limits.memory()
        self.once = once
        self.threads = threads
        self.counters = Counters()
        out = memory.retained, memory.pending, self.limits, self.counters
        self.finishing = Finishing(plan.query, plan.refutations, *out, repeats=repeats)
        self.preparation = Preparation(plan.query, plan.filters, self.room)

    @abstractmethod
    def prepare(self, events: EventTable) -> Prepared:
        """The events of a batch that some component wants."""

    @abstractmethod
    def bind(self, prepared: Prepared, base: int) -> Bound:
        """The matches that end in a batch, whose events have the numbers from `base` on."""

    @property
    def open_runs(self) -> int:
        """Beginnings of matches, and matches that wait until they are final."""
        return self.memory.open_runs + len(self.memory.pending)

    @property
    def waiting(self) -> int | None:
        """The first time at which matches end that wait until they are final."""
        return self.finishing.waiting

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:
        """Match the events that come next, all of a moment together."""
        size = LARGE if self.once else self.size(len(events))
        return (stoppable(lambda: self._push(events, now), tell, size=size),)

    def size(self, more: int) -> int:
        """In proportion to what there is to do for so many events: for few of them a thread is not worth it."""
        return more * (1 + self.memory.open_runs // 100)  # a run or node is met in some nanoseconds

    def _push(self, events: EventTable, now: int | None) -> Found:
        memory, prepared = self.memory, self.prepare(events)
        if not len(prepared) and (nothing := self.finishing.nothing) is not None:
            if now is not None:
                memory.prune(now)
            return nothing
        prepared, base = memory.add(events, prepared)
        bound = self.bind(prepared, base)
        found = self.finishing.finish(bound, base, now, len(prepared), ordered=self.ordered)
        if not self.once:
            memory.settle(base)
            if now is not None:
                memory.prune(now)
        return found

    def state(self) -> dict[str, Any]:
        """Everything that a matching of the same plan needs to go on."""
        return self.memory.state()

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.memory.resume(state)
