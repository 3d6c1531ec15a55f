"""A chain that can go back: checkpoints behind its head, from which it goes through the events again.

What comes late or is withdrawn at a time t makes the head go back to the last checkpoint that has seen no event at
t or later.  It is the driver for every query, as it asks nothing of a matching but its state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.compile import compile_query
from ouzel.logical.schema import Schema
from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.changed_arcs import opened
from ouzel.runtimes.changing import Program
from ouzel.runtimes.ordering import ranked
from ouzel.runtimes.tail import Tail
from ouzel.state.parts import in_parts, part

State = dict[str, Any]
Found = tuple[int, dict[str, pa.Table]]
"""From which time on a step went, and what all queries found in it."""

# So many events are matched again before it is worth keeping a state between them.
LEAST = 256
# About so many bytes of a state take as long to keep as an event takes to match.
BYTES_PER_EVENT = 64


@dataclass(frozen=True)
class Checkpoint:
    """A chain that has had all events before a time, and how many moments these had."""

    now: int
    released: int
    state: State

    @property
    def weight(self) -> int:
        """How many events take as long to match as it takes to keep this."""
        sizes = (value.nbytes for value in self.state.values() if isinstance(value, np.ndarray | pa.Table))
        return int(sum(sizes)) // BYTES_PER_EVENT


@dataclass
class Remade:
    """Makes chains of the queries that are there now, out of what a snapshot would say of them."""

    program: Program
    schema: Schema
    how: tuple[str, Mapping[str, str]]
    limits: Limits
    threads: int
    plans: Sequence[Plan] | None

    def __call__(self) -> Chain:
        """Another chain."""
        if self.plans is None:
            text, params = self.program.said()
            self.plans = opened(compile_query(text, self.schema, params, *self.how).plans)
        return Chain(self.plans, self.limits, self.threads)


class Rewinding:
    """The head of a stream, with checkpoints behind it; the first of them is the base, and never goes."""

    def __init__(
        self, chain: Chain, remade: Remade, none: EventTable, ties: list[str], *, by_arrival: bool
    ) -> None:
        """Begin; `remade` makes another chain of the same queries."""
        self.chain, self.remade, self._none = chain, remade, none
        self._ties, self._by_arrival = ties, by_arrival
        self.now, self._released = BEGINNING, 0
        self.checkpoints: list[Checkpoint] = []
        self.is_late = False
        """Whether it ever had to go back: before that few checkpoints are made."""
        self.past = Counters()
        """What chains did that were left behind."""

    @property
    def base(self) -> int:
        """Before this time nothing can be matched again."""
        return self.checkpoints[0].now if self.checkpoints else BEGINNING

    def step(self, tail: Tail, until: int | None) -> Found:
        """Go on through the events before a time; None says to their end."""
        since = self.now
        events, self._released = ranked(tail.between(since, until), self._ties, self._by_arrival, self._released)
        found = self.chain.step(events, until)
        self.now = since if until is None else max(until, since)
        return since, found

    def again(self, tail: Tail, changed: int) -> list[Found]:
        """Go back to before a time at which events have changed, and from there to the head again."""
        head, self.is_late = self.now, True
        while len(self.checkpoints) > 1 and self.checkpoints[-1].now > changed:
            self.checkpoints.pop()
        self.rewind(self.checkpoints[-1])
        found = []
        # states are kept at distances from the head that double: most of what comes late is late by little
        distance = tail.count(self.now, head) // 2
        while distance > max(LEAST, self.checkpoints[-1].weight):
            time = tail.time_before(head, distance)
            distance //= 2
            if time is not None and time > self.now:
                found.append(self.step(tail, time))
                self.keep()
        return [*found, self.step(tail, head)]

    def rewind(self, checkpoint: Checkpoint) -> None:
        """Be as at a checkpoint."""
        self.past.add(self.chain.counters(Counters()))
        chain = self.begun()
        chain.resume(_copied(checkpoint.state))
        self.chain.links = chain.links
        self.now, self._released = checkpoint.now, checkpoint.released

    def know_columns(self) -> None:
        """Tell the chain what events look like."""
        self.chain.step(self._none, BEGINNING)

    def begun(self) -> Chain:
        """A chain that knows what events look like."""
        chain = self.remade()
        chain.step(self._none, BEGINNING)
        return chain

    def ended(self) -> dict[str, pa.Table]:
        """What would be found next if the stream were over."""
        chain = self.begun()
        chain.resume(_copied(self.chain.state()))
        return chain.step(self._none, None)

    def keep(self) -> None:
        """Make a checkpoint."""
        self.checkpoints.append(Checkpoint(self.now, self._released, _copied(self.chain.state())))

    def begin_here(self) -> None:
        """Make a checkpoint, and forget all others: nothing before it can be matched again."""
        self.checkpoints = []
        self.keep()

    def keep_some(self, tail: Tail, punctuation: int) -> None:
        """Make a checkpoint if that is worth it, and forget those that are not."""
        last = self.checkpoints[-1]
        count = tail.count(last.now, self.now)
        least = max(LEAST, last.weight) if self.is_late else max(16 * LEAST, last.weight, len(tail) // 2)
        if count > least:
            self.keep()
            self._thin(tail)
        while len(self.checkpoints) > 1 and self.checkpoints[1].now <= punctuation:
            self.checkpoints.pop(0)

    def _thin(self, tail: Tail) -> None:
        """Forget checkpoints that are near others, for how far from the head they are."""
        kept = [self.checkpoints[-1]]
        for one, before in zip(self.checkpoints[-2:0:-1], self.checkpoints[-3::-1], strict=False):
            # without this one, the way from the one before to the one after it
            if tail.count(before.now, kept[-1].now) > tail.count(kept[-1].now, self.now):
                kept.append(one)
        self.checkpoints = [self.checkpoints[0], *kept[::-1]]

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> State:
        """All checkpoints, and where the head is."""
        times = np.array([(one.now, one.released) for one in self.checkpoints], np.int64).reshape(-1, 2)
        states = {str(place): one.state for place, one in enumerate(self.checkpoints)}
        own = {"now": self.now, "released": self._released, "late": int(self.is_late), "times": times}
        return {**own, **in_parts(states)}

    def resume(self, state: State, tail: Tail) -> None:
        """Go on from there: the head is found again from the last checkpoint, if there are some."""
        self.is_late, self.past = bool(state["late"]), Counters()
        self.now, self._released = state["now"], state["released"]
        self.checkpoints = [
            Checkpoint(now, released, part(str(place), state))
            for place, (now, released) in enumerate(state["times"].tolist())
        ]
        if self.checkpoints:
            self.rewind(self.checkpoints[-1])
            self.past = Counters()
            self.step(tail, max(state["now"], self.now))


def _copied(state: State) -> State:
    """A state of which nothing is shared: a matching may change arrays of its own."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
