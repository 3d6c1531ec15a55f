"""How what was told is corrected: the contract of the three ways, of which a matcher takes the best that suits."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable
from ouzel.runtimes.tail import Tail


class Way(Protocol):
    """It matches surviving events, and what has changed again, and knows what was told and may still be withdrawn.

    The events that may still be corrected are in a tail, which is not its own.
    """

    words: str
    """How it corrects, for `explain`."""

    rewinds: bool
    """Whether it goes back to states of the past: then queries can change, and a snapshot has those states."""

    @property
    def now(self) -> int:
        """The time that has been matched."""

    @property
    def open_runs(self) -> int:
        """How many runs may still become matches."""

    def numbered(self, events: EventTable) -> EventTable:
        """Events as they are kept in the tail."""

    def begin(self) -> None:
        """Learn what columns look like, before anything else."""

    def go(self, tail: Tail, changed: EventTable, until: int | None) -> dict[str, pa.Table]:
        """Match the events before a time, and again where events have changed; the differences, by query."""

    def forget(self, tail: Tail, punctuation: int) -> None:
        """Forget what no correction can reach any more."""

    def suits(self, plan: Plan) -> bool:
        """Whether a query can be corrected so, too, once its arcs are others."""

    def settled(self, now: int) -> int:
        """Before this time nothing is matched any more, if time has passed to `now`."""

    def changes_from(self, now: int, latest: int) -> int:
        """From this time on arcs may change; `latest` is the time of the latest event."""

    def counters(self, counted: Counters) -> Counters:
        """What was done, beside what was counted."""

    def state(self, tail: Tail) -> dict[str, Any]:
        """All there is to know to go on elsewhere, but for the events of the tail."""

    def resume(self, state: dict[str, Any], tail: Tail) -> None:
        """Go on from there."""
