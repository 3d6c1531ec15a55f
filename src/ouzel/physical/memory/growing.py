"""Arrays with room to grow: what a matching keeps from batch to batch without copying it every time.

Room that was never written costs no memory, so there may be plenty of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.physical.compiled.operands import Array

# So many values are moved at a time, so that moving them needs little room besides.
_BLOCK = 1 << 16
_LEAST = 1024
_MANY = 1 << 20


class Growing:
    """An array that grows at its end and shrinks anywhere."""

    def __init__(self, dtype: Any, values: Array | None = None) -> None:
        """Begin with some values, or with none."""
        self.data: Array = np.empty(0, dtype) if values is None else np.array(values, dtype)
        self.count = len(self.data)

    def __len__(self) -> int:
        """The number of values."""
        return self.count

    @property
    def values(self) -> Array:
        """The values, for as long as none is added or dropped."""
        return self.data[: self.count]

    def reserve(self, more: int, most: int | None = None) -> None:
        """Make room for more values; for no more than `most` in all, if there are never to be more."""
        if self.count + more > len(self.data):
            # while values are moved they are there twice: many are moved rarely
            room = max(_LEAST, self.count + more, (2 if self.count < _MANY else 8) * len(self.data))
            self._move(room if most is None else min(room, most))

    def extend(self, values: Array) -> None:
        """Add values at the end."""
        self.reserve(len(values))
        self.data[self.count : self.count + len(values)] = values
        self.count += len(values)

    def fill(self, count: int, value: int) -> None:
        """Add a value at the end until there are so many."""
        self.reserve(count - self.count)
        self.data[self.count : count] = value
        self.count = max(self.count, count)

    def pick(self, places: Array) -> None:
        """Keep the values at some places, in that order; as many as there were may soon come again."""
        before, picked = self.count, self.values[places]
        self.count = len(picked)
        if self.count <= len(self.data) <= max(_LEAST, 32 * before):
            self.data[: self.count] = picked
        else:
            self.data = picked

    def keep(self, kept: Any, begin: int = 0) -> None:
        """Keep those of the values from `begin` on for which a flag is set, in place."""
        at = begin
        # in order of time it is mostly the first that go
        since = begin + (int(kept.argmax()) if len(kept) else 0)
        for first in range(since, self.count, _BLOCK):
            flags = kept[first - begin : first - begin + _BLOCK]
            block = self.data[first : first + len(flags)]
            values = block if flags.all() else block[flags]
            self.data[at : at + len(values)] = values
            at += len(values)
        self.count = at
        if len(self.data) > max(_LEAST, 32 * self.count):
            self._move(2 * self.count)

    def drop(self, count: int) -> None:
        """Drop the first values, in place; as many as there were may soon come again."""
        before, self.count = self.count, self.count - count
        for first in range(0, self.count, _BLOCK):
            until = min(first + _BLOCK, self.count)
            self.data[first:until] = self.data[first + count : until + count]
        if len(self.data) > max(_LEAST, 32 * before):
            self._move(2 * before)

    def _move(self, room: int) -> None:
        data = np.empty(room, self.data.dtype)
        data[: self.count] = self.values
        self.data = data


class Numbers:
    """New numbers for what is left when some of it goes; those that went become -1, those below `base` stay."""

    def __init__(self, kept: Any, base: int = 0) -> None:
        """Number those for which a flag is set."""
        self.base = base
        self.count = int(np.count_nonzero(kept))
        gone = len(kept) - self.count
        # in order of time it is mostly the first that go: then no table is needed
        self.shift = gone if kept[gone:].all() else None
        self.table: Array = np.zeros(0, np.int32)
        if self.shift is None:
            self.table = np.full(len(kept) + 1, -1, np.int32)
            self.table[np.flatnonzero(kept)] = np.arange(self.count, dtype=np.int32)

    def renumber(self, values: Array) -> None:
        """Replace numbers by new ones, in place."""
        if self.base:
            later = values >= self.base
            own = values[later] - self.base
            self._renumber(own)
            values[later] = own + self.base
        else:
            self._renumber(values)

    def _renumber(self, values: Array) -> None:
        if self.shift is None:
            for first in range(0, len(values), _BLOCK):
                values[first : first + _BLOCK] = self.table[values[first : first + _BLOCK]]
        elif self.shift:
            np.subtract(values, self.shift, out=values)
            np.maximum(values, -1, out=values)


def picked(flags: Any, numbers: Array) -> Any:
    """The flags of some numbers."""
    found = np.empty(len(numbers), np.bool_)
    for first in range(0, len(numbers), _BLOCK):
        found[first : first + _BLOCK] = flags[numbers[first : first + _BLOCK]]
    return found


def marked(count: int, *numbers: Array) -> Any:
    """Flags for so many numbers, set for those given."""
    flags = np.zeros(count, np.bool_)
    for one in numbers:
        for first in range(0, len(one), _BLOCK):
            flags[one[first : first + _BLOCK]] = True
    return flags
