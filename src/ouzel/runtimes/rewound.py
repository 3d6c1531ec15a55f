"""Corrections by rewinding, for every query: what the head finds again is compared with what was reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pyarrow as pa

from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.changing import Program
from ouzel.runtimes.reported import PROVISIONAL, Log, Rows
from ouzel.runtimes.rewinding import Found, Rewinding
from ouzel.runtimes.tail import Tail
from ouzel.state.parts import in_parts, part

Breaking = Callable[[], AbstractContextManager[None]]
"""In which errors end a matcher for good."""
Standing = dict[str, tuple[pa.Table, Integers]]
"""The matches of each query that were told, with their ids."""


class Rewound:
    """A chain, the checkpoints behind it, and what it reported."""

    words = "late and withdrawn events: back to a checkpoint before them, and on from there"
    rewinds = True

    def __init__(self, head: Rewinding, program: Program, *, speculates: bool) -> None:
        """Begin."""
        self.head, self._program, self._speculates = head, program, speculates
        self.log = Log(remembers=speculates)
        self._is_begun = False

    @property
    def chain(self) -> Chain:
        """The chain at its head."""
        return self.head.chain

    @property
    def now(self) -> int:
        """The time that has been matched."""
        return self.head.now

    def numbered(self, events: EventTable) -> EventTable:
        """Events as they are kept."""
        return events

    def begin(self) -> None:
        """Bring the chain no events, but their columns; where it can go back, that is where it began."""
        if not self._is_begun:
            self._is_begun = True
            self.head.know_columns()
            if self._speculates:
                self.head.keep()

    def go(self, tail: Tail, changed: EventTable, until: int | None) -> dict[str, pa.Table]:
        """Match the events before a time, again from where they have changed; the differences."""
        found: list[Found] = []
        if len(changed):
            found = self.head.again(tail, int(changed.end_times.min()))
        since = found[0][0] if found else PROVISIONAL
        found.append(self.head.step(tail, until))
        self.log.replace(self._program.names, since, found if until is None else [*found, *self._provisional()])
        return self.log.told(self._program.names)

    def again(self, tail: Tail, since: int, until: int) -> dict[str, pa.Table]:
        """Match anew from a time on, as arcs have changed; the differences."""
        if not self._speculates or since > self.head.now:
            return self.go(tail, tail.none, until)
        # windows that ended at that time were over when time came there
        found = self.head.again(tail, since - 1)
        found.append(self.head.step(tail, until))
        self.log.replace(self._program.names, found[0][0], [*found, *self._provisional()])
        return self.log.told(self._program.names)

    def go_on(self, tail: Tail, punctuation: int, now: int, standing: Standing, next_id: int) -> None:
        """Go on where another way is: from a state at the punctuation, and with what was told and is not final."""
        self.begin()
        if punctuation > BEGINNING:
            self.head.step(tail, punctuation)
            self.head.begin_here()
        self.head.step(tail, now)
        rows = {name: Rows(self.head.base, table, ids) for name, (table, ids) in standing.items()}
        self.log.know(rows, next_id)

    def _provisional(self) -> list[Found]:
        """What would be found if the stream were over, where totals over matches wait for that."""
        is_total = any(plan.query.aggregates for plan in self.chain.all_plans)
        return [(PROVISIONAL, self.head.ended())] if self._speculates and is_total else []

    def forget(self, tail: Tail, punctuation: int) -> None:
        """Forget what no correction can reach any more."""
        if not self._speculates:
            tail.forget(self.head.now)
            return
        self.head.keep_some(tail, punctuation)
        tail.forget(self.head.base)
        self.log.forget(self.head.base)

    @contextmanager
    def at_punctuation(self, tail: Tail, punctuation: int, breaking: Breaking) -> Iterator[None]:
        """Let queries change where nothing but what is final has been matched; then go on to the head."""
        self.begin()
        if not self._speculates:
            yield
            return
        head, base = self.head.now, self.head.base
        with breaking():
            self.head.rewind(self.head.checkpoints[0])
            found = [self.head.step(tail, punctuation)] if punctuation > base else []
        try:
            yield
        finally:
            with breaking():
                self.head.begin_here()
                found.append(self.head.step(tail, max(head, self.head.now)))
                self.log.replace(self._program.names, base, [*found, *self._provisional()])
                self.forget(tail, punctuation)

    def suits(self, plan: Plan) -> bool:  # noqa: ARG002 - every one
        """Whether a query can be corrected so once its arcs are others."""
        return True

    def settled(self, now: int) -> int:
        """Before this time nothing is matched any more."""
        return self.head.base if self._speculates else now

    def changes_from(self, now: int, latest: int) -> int:  # noqa: ARG002 - it goes back as far as may be
        """From this time on arcs may change."""
        return now

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""
        return self.chain.open_runs

    def counters(self, counted: Counters) -> Counters:
        """What all chains did."""
        counted = self.chain.counters(counted)
        counted.add(self.head.past)
        return counted

    def state(self, tail: Tail) -> dict[str, Any]:  # noqa: ARG002 - it knows all that it needs
        """The checkpoints, or the chain if it cannot go back; and what was reported."""
        states = {"head": self.head.state(), "log": self.log.state()}
        return in_parts(states if self._speculates else {**states, "chain": self.chain.state()})

    def resume(self, state: dict[str, Any], tail: Tail) -> None:
        """Go on from there."""
        self.begin()
        self.log.resume(part("log", state))
        if not self._speculates:
            self.chain.resume(part("chain", state))
        self.head.resume(part("head", state), tail)
