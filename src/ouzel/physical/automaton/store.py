"""The match store: what open runs have bound, as paths of nodes that runs share (design of SASE+ 5.1).

It is SASE+'s shared versioned buffer without version numbers: a version is a path.  A node binds an event to a
component and leads to the node before it; a union node joins the paths of two merged runs.  Nodes are only ever
added, each after those it leads to; what no open run leads to is pruned now and then (SASE+ 5.3).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.kernels import paths
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.event_table import Integers
from ouzel.physical.recycled import recycled

# The component of a union node.
UNION = paths.UNION
# What a node takes in all columns.
NODE_BYTES = 18
COLUMNS = ("event", "component", "before", "lesser", "stretch")
# What a store keeps of the events themselves, in columns of integers and of floats.
KEPT = ("kept_i", "kept_f")


@dataclass
class Store:
    """Nodes as columns.

    Of a union, `before` leads to the paths that started last and `event` to the others, of which `lesser` is the
    latest start, which tells when they are all expired.  Of other nodes, `stretch` is how many in a row, with this
    one the last, are of one component and lead each to the one just before it: paths are copied by stretches.
    """

    event: Any = field(default_factory=lambda: np.empty(1024, np.int32))
    component: Any = field(default_factory=lambda: np.empty(1024, np.int16))
    before: Any = field(default_factory=lambda: np.empty(1024, np.int32))
    lesser: Any = field(default_factory=lambda: np.empty(1024, np.int32))
    stretch: Any = field(default_factory=lambda: np.empty(1024, np.int32))
    nodes: int = 0
    kept: tuple[Any, Any] = field(default_factory=lambda: (np.empty((1024, 0), np.int64), np.empty((1024, 0))))

    @classmethod
    def keeping(cls, widths: tuple[int, int]) -> Store:
        """An empty store that keeps so many integers and floats of every event."""
        return cls(kept=(np.zeros((1024, widths[0]), np.int64), np.zeros((1024, widths[1]))))

    @classmethod
    def of(cls, arrays: list[Any], kept: tuple[Any, Any]) -> Store:
        """A store of nodes, with room for as many again."""
        nodes = len(arrays[0])
        room = max(1024, nodes)
        longer_ones = [np.concatenate([one, np.empty(room, one.dtype)]) for one in arrays]
        integers, floats = (np.concatenate([one, np.zeros((room, one.shape[1]), one.dtype)]) for one in kept)
        return cls(**dict(zip(COLUMNS, longer_ones, strict=True)), nodes=nodes, kept=(integers, floats))

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any, Any]:
        """The columns, in the order of the fields."""
        return self.event, self.component, self.before, self.lesser, self.stretch

    def state(self) -> dict[str, Any]:
        """All nodes, column by column; what a node does not have is 0, so that states of one past are equal."""
        held = {name: one[: self.nodes].copy() for name, one in zip(COLUMNS, self.arrays, strict=True)}
        is_union = held["component"] == UNION
        held["lesser"][~is_union] = 0
        held["stretch"][is_union] = 0
        kept = zip(KEPT, self.kept, strict=True)
        return held | {name: one[: self.nodes].copy() for name, one in kept if one.shape[1]}

    def grow(self, times: int = 2) -> None:
        """Make room for twice as many nodes, or more."""
        room = times * len(self.event)
        self.event, self.component, self.before, self.lesser, self.stretch = (
            self._moved(one, room) for one in self.arrays
        )
        more = room - len(self.kept[0])
        integers, floats = (np.concatenate([one, np.zeros((more, one.shape[1]), one.dtype)]) for one in self.kept)
        self.kept = integers, floats

    def _moved(self, nodes: Any, room: int) -> Any:
        moved = recycled(room, nodes.dtype)
        moved[: self.nodes] = nodes[: self.nodes]
        return moved

    def have_room(self, more: int) -> None:
        """Make room for more nodes, if there is none for so many."""
        times = 1
        while self.nodes + more > times * len(self.event):
            times *= 2
        if times > 1:
            self.grow(times)

    def reached(self, roots: Integers, alive: Any) -> tuple[Integers, Any]:
        """The new numbers of the nodes that some lead to, -1 for the others, and which events they bind.

        `alive` says of every event whether a match that starts with it may still end.
        """
        kernel = kernel_of(paths.number_reached, self.nodes)
        numbers, used = kernel(*self.arrays[:-1], self.nodes, roots, alive)
        return numbers, used

    def keep(self, numbers: Integers, events: Integers) -> None:
        """Keep the nodes that have a new number, with their events renumbered."""
        nodes = kernel_of(paths.keep_numbered, self.nodes)(*self.arrays, self.nodes, numbers, events)
        # a union that is none any more has the number of a node before it
        highest = np.maximum.accumulate(np.concatenate([np.full(1, -1), numbers]))[:-1]
        own = np.flatnonzero(numbers > highest)
        kept = Store.of([one[:nodes] for one in self.arrays], (self.kept[0][own], self.kept[1][own]))
        self.kept = kept.kept
        self.event, self.component, self.before, self.lesser, self.stretch = kept.arrays
        self.nodes = nodes
