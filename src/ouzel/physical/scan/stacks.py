"""Active instance stacks from batch to batch: the nodes of all levels, and the events that may refute."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.growing import Growing, Numbers, picked
from ouzel.physical.scan.shape import Shape

Pool = dict[str, Growing]


class Stacks:
    """Nodes by level as columns, and where the latest of every stack is."""

    def __init__(self, shape: Shape) -> None:
        """Begin with empty stacks."""
        self.shape = shape
        self.levels = [_pool(shape.fields(level)) for level in range(shape.depth)]
        self.refuters = _pool(["refuter", "earlier"])
        self.heads = [Growing(np.int32) for _ in range(max(shape.stacks, 1))]
        self.refuting = Growing(np.int32)
        self._pools = (*self.levels, self.refuters)
        self._firsts = [next(iter(pool.values())) for pool in self._pools]

    @property
    def nodes(self) -> int:
        """The number of nodes of all levels."""
        return sum(one.count for one in self._firsts[:-1])

    def __len__(self) -> int:
        """The number of nodes and refuters."""
        return sum(one.count for one in self._firsts)

    def counts(self) -> Integers:
        """The number of nodes of each level, and of refuters."""
        return np.array([one.count for one in self._firsts], np.int64)

    # ---- a kernel's work ---------------------------------------------------------------------------------

    def reserve(self, more: int, keys: list[int]) -> None:
        """Make room for so many more events and for so many numbers of each key."""
        for heads, count in zip(self.heads, keys if self.shape.stacks else [1], strict=False):
            heads.fill(count * self.shape.depth, -1)
        self.refuting.fill((keys[0] if self.shape.stacks else 1) * len(self.shape.inner), -1)
        for pool in self._pools:
            for column in pool.values():
                column.reserve(more)

    @property
    def tops(self) -> list[Array]:
        """Where the latest node of every stack is, by key."""
        return [one.data for one in self.heads]

    @property
    def nodes_by_level(self) -> list[Array]:
        """What nodes are made of, level by level."""
        return [column.data for pool in self.levels for column in pool.values()]

    @property
    def lists(self) -> list[Array]:
        """The events that may refute, and which one comes before each."""
        return [column.data for column in self.refuters.values()]

    def added(self, counts: Integers) -> None:
        """Take note of what a kernel has added."""
        for pool, count in zip(self._pools, counts.tolist(), strict=True):
            for column in pool.values():
                column.count = count

    # ---- what goes ---------------------------------------------------------------------------------------

    def events(self, since: Integers | None = None) -> list[Array]:
        """The events of all nodes and refuters, or of those added since there were so many."""
        begins = [0] * len(self._firsts) if since is None else since.tolist()
        return [one.data[begin : one.count] for one, begin in zip(self._firsts, begins, strict=True)]

    def prune(self, alive: Any) -> None:
        """Drop nodes that no match can use any more; `alive` says which events may still start one.

        Stacks and lists run from the latest to the earliest, so that what is dropped is always their end.
        """
        refuters = self._prune(self.refuters, picked(alive, self.refuters["refuter"].values), None)
        count = len(self.shape.inner)
        for number in range(count):
            refuters.renumber(self.refuting.values[number::count])
        before: Numbers | None = None
        for level, pool in enumerate(self.levels):
            kept = picked(alive, pool[f"event{level}"].values)
            if before is not None:
                rip = pool[f"rip{level}"]
                before.renumber(rip.values)
                # without an event before it a node leads nowhere; but in stacks of several keys it may lie between
                kept &= (rip.values >= 0) | (self.shape.stacks > 1)
            before = self._prune(pool, kept, refuters)
            for heads in self.heads:
                before.renumber(heads.values[level :: self.shape.depth])

    def _prune(self, pool: Pool, kept: Any, refuters: Numbers | None) -> Numbers:
        """Keep some nodes of a level, or some refuters, with new numbers for those they lead to."""
        numbers = Numbers(kept)
        for name, column in pool.items():
            if numbers.count < len(kept):
                column.keep(kept)
            if name.startswith(("previous", "earlier")):
                numbers.renumber(column.values)
            elif name.startswith("behind") and refuters is not None:
                refuters.renumber(column.values)
        return numbers

    def forget(self, kept: list[Integers]) -> None:
        """Keep only some numbers of every key."""
        if not self.shape.stacks:
            return
        for number, heads in enumerate(self.heads):
            heads.fill((int(kept[number].max(initial=-1)) + 1) * self.shape.depth, -1)
            self.heads[number] = _rows(heads, self.shape.depth, kept[number])
        self.refuting.fill((int(kept[0].max(initial=-1)) + 1) * len(self.shape.inner), -1)
        self.refuting = _rows(self.refuting, len(self.shape.inner), kept[0])

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All arrays by name."""
        return {name: column.values.copy() for name, column in self._named().items()}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        for name, column in self._named().items():
            column.data = np.array(state[name], np.int32)
            column.count = len(column.data)

    def _named(self) -> Pool:
        heads = {f"heads{number}": one for number, one in enumerate(self.heads)}
        pools = {name: column for pool in (*self.levels, self.refuters) for name, column in pool.items()}
        return {**pools, **heads, "refuting": self.refuting}


def _pool(names: list[str]) -> Pool:
    return {name: Growing(np.int32) for name in names}


def _rows(column: Growing, width: int, kept: Integers) -> Growing:
    """Some rows of a table that is kept row by row in one column."""
    return Growing(np.int32, column.values.reshape(-1, width)[kept].ravel()) if width else column
