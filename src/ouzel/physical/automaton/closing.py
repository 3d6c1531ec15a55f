"""The end of the window (AFA, Appendix E): runs that wait for it, and are matches if no event comes before.

What an arc at the end of the window asks is judged at the event that was consumed last, so it is known when that
comes.  The run then waits in a state of its own, which the next event of its partition ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.logical.automata.registers import Arc
from ouzel.logical.times import END
from ouzel.physical.automaton.epochs import Epochs
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Flags


@dataclass(frozen=True)
class Closing:
    """What a run waits for: an arc, its place, and the state that it leads to, which is final since a time."""

    arc: Arc
    place: int
    target: str
    since: int

    @property
    def name(self) -> str:
        """What the state of waiting is called."""
        return f"{self.target} by {self.arc.id} at the end of the window"

    def is_same(self, other: Closing) -> bool:
        """Whether it is the same as in another plan, whenever the arc lives."""
        arcs = [(one.source, one.target, one.fence, one.sets) for one in (self.arc, other.arc)]
        return (self.arc.id, self.target) == (other.arc.id, other.target) and arcs[0] == arcs[1]

    def serves(self, ends: Integers, epochs: Epochs | None) -> Flags:
        """Whether windows that end at some times are matches: the arc lives then, and the state is final."""
        if epochs is not None:
            lives = epochs.serves(self.place, ends)
        else:
            lives = np.zeros(len(ends), np.bool_)
            for since, until in self.arc.lives:
                lives |= (since <= ends) & (ends < until)
        found: Flags = lives & (self.since <= ends) & (ends < END)
        return found


def window_ends(starts: Any, limit: int) -> Integers:
    """When windows end that begin at some times; none ends after all times."""
    starts = np.asarray(starts, np.int64)
    ends: Integers = np.minimum(starts, END - limit) + limit
    return ends
