"""Matches that are not final yet: negation at the end of a pattern waits for the window to pass (SASE 3.3).

NON_OVERLAP decides in the order of ends: a match waits until none that ends before it is still undecided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits, Room
from ouzel.physical.match_table import Bound, Many, One, chosen, joined
from ouzel.physical.memory.growing import Growing, Numbers


@dataclass
class Pending:
    """Matches that wait: what they bind, and whether they were found to stand already.

    `until` is where the last match that NON_OVERLAP kept ends, in every partition.
    """

    bound: Bound | None = None
    stands: Any = None
    until: Growing = field(default_factory=lambda: Growing(np.int64))

    def __len__(self) -> int:
        """The number of matches."""
        return 0 if self.bound is None else len(self.stands)

    def add(self, bound: Bound) -> None:
        """Let more matches wait."""
        stands = np.zeros(len(next(iter(bound.values()))), np.bool_)
        self.bound = bound if self.bound is None else joined([self.bound, bound])
        self.stands = stands if self.stands is None else np.concatenate([self.stands, stands])

    def within(self, limits: Limits, room: Room, cost: float) -> int:
        """See that not too many wait, of so many bytes each: an error, or the latest are shed; how many."""
        most = room.most(cost)
        if len(self) <= most:
            return 0
        if not limits.sheds:
            raise room.exceeded(most, "matches that wait until they are final")
        shed = len(self) - most
        self.keep(np.arange(most))
        return shed

    def keep(self, kept: Integers) -> None:
        """Let only some wait on."""
        assert self.bound is not None
        self.bound = {variable: chosen(one, kept) for variable, one in self.bound.items()}
        self.stands = self.stands[kept]

    def columns(self, begin: int = 0) -> list[Any]:
        """The events that the matches from `begin` on bind, variable by variable; -1 where they bind none."""
        bound = (self.bound or {}).values()
        return [one.rows[begin if isinstance(one, One) else one.offsets[begin] :] for one in bound]

    def rows(self) -> Integers:
        """The events that the matches bind."""
        rows = np.concatenate([np.zeros(0, np.int64), *self.columns()])
        return rows[rows >= 0]

    def renumber(self, numbers: Numbers, begin: int = 0) -> None:
        """Give the events of the matches from `begin` on new numbers."""
        for column in self.columns(begin):
            numbers.renumber(column)

    def forget(self, kept: Integers) -> None:
        """Keep only some partitions: no match to come can overlap with those of the others."""
        self.until.pick(kept[kept < len(self.until)])

    def state(self) -> dict[str, Any]:
        """What the matches bind, variable by variable."""
        state: dict[str, Any] = {"until": self.until.values.copy(), "variables": list(self.bound or {})}
        if self.bound is None:
            return state
        state["stands"] = self.stands.copy()
        for number, one in enumerate(self.bound.values()):
            # numbers of events are changed in place, and a state is not
            state[f"rows{number}"] = one.rows.copy()
            if isinstance(one, Many):
                state[f"offsets{number}"] = one.offsets
            if one.unbound is not None:
                state[f"unbound{number}"] = one.unbound
        return state

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.bound, self.stands = None, None
        self.until = Growing(np.int64, state["until"])
        for number, variable in enumerate(state["variables"]):
            self.stands = state["stands"].copy()
            rows = state[f"rows{number}"].copy()
            unbound: Any = state.get(f"unbound{number}")
            many = f"offsets{number}" in state
            one = Many(state[f"offsets{number}"], rows, unbound) if many else One(rows, unbound)
            self.bound = {**(self.bound or {}), variable: one}


def released(decided: Any, ends: Integers, *, in_order: bool) -> Any:
    """Which of the decided matches may be reported now."""
    if not in_order or np.all(decided):
        return decided
    return decided & (ends < ends[~decided].min())
