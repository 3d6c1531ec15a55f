"""The buffers of a tree at work: records of every node, in order of their ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.physical.memory.growing import Growing, Numbers


class Buffer:
    """Columns of equal length, of which several may be one and the same."""

    def __init__(self, names: tuple[str, ...], *, shared: bool = False) -> None:
        """Begin with no records; `shared` if all columns are one."""
        only = Growing(np.int32)
        self.columns = {name: only if shared else Growing(np.int32) for name in names}
        self._apart = list({id(one): one for one in self.columns.values()}.values())

    def __len__(self) -> int:
        """The number of records."""
        return len(self._apart[0])

    def reserve(self, more: int) -> None:
        """Make room."""
        for one in self._apart:
            one.reserve(more)

    @property
    def room(self) -> int:
        """For how many records there is room."""
        return min(len(one.data) for one in self._apart)

    def made(self, count: int) -> None:
        """Take note of records that a kernel made."""
        for one in self._apart:
            one.count = count

    def keep(self, kept: Any) -> None:
        """Keep some records."""
        for one in self._apart:
            one.keep(kept)

    def empty(self) -> None:
        """Drop all records."""
        self.clear(len(self))

    def clear(self, count: int) -> None:
        """Drop the first ones."""
        for one in self._apart if count else ():
            one.drop(count)

    def renumber(self, names: list[str], numbers: Numbers) -> None:
        """Give some columns new numbers of events, or of records."""
        for one in {id(self.columns[name]): self.columns[name] for name in names}.values():
            numbers.renumber(one.values)


class Links:
    """The records of each partition or bucket in a row, each with the one before it."""

    def __init__(self) -> None:
        """Begin with none."""
        self.heads, self.previous = Growing(np.int32), Growing(np.int32)
