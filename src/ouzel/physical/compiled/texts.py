"""Texts as kernels have them: numbers in order of arrival, and for every number a rank, which orders them.

Ranks leave gaps: a new text mostly finds room between two old ones, so that a batch with few of them costs little,
however many there are.  Texts are ordered by code points, as Python does it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import compress, islice
from typing import Any

import numpy as np

from ouzel.physical.event_table import Integers

# How far apart ranks are at first; there is room for so many texts in a row.
_GAP = 2**32
# From this share of new ones on, all are put in order anew.
_MANY = 1 / 16


class Texts(dict[str, int]):
    """Numbers of texts, from 0 on.

    >>> texts = Texts({"b": 0, "a": 1})
    >>> texts.number("c"), texts.text(1)
    (2, 'a')
    >>> bool(texts.ranks()[1] < texts.ranks()[0] < texts.ranks()[2])
    True
    """

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        """Begin with some numbers, in order."""
        super().__init__(known or {})
        self._known: list[str] = []
        self._in_order: list[str] = []
        self._ranks: Integers = np.zeros(1, np.int64)

    def number(self, text: str) -> int:
        """The number of a text, a new one if it is new."""
        return self.setdefault(text, len(self))

    def text(self, number: int) -> str:
        """The text of a number."""
        if number >= len(self._known):
            self._known.extend(islice(self, len(self._known), None))
        return self._known[number]

    def only(self, used: Any) -> tuple[Texts, Integers]:
        """Those for which a flag is set, numbered anew; and the new numbers by the old ones."""
        kept = compress(self, used.tolist())
        numbers: Integers = np.cumsum(used) - 1
        return Texts({text: number for number, text in enumerate(kept)}), numbers

    def ranks(self) -> Integers:
        """A rank for every number; at least one, for there may be null, which has the number 0."""
        new = len(self) - len(self._in_order)
        if new > _MANY * len(self) or not all(map(self._placed, islice(self, len(self._in_order), None))):
            self._in_order = sorted(self)
            self._ranks = np.zeros(2 * len(self) + 1, np.int64)
            numbers = np.fromiter(map(self.__getitem__, self._in_order), np.int64, len(self))
            self._ranks[numbers] = _GAP * np.arange(1, len(self) + 1)
        return self._ranks[: max(len(self), 1)]

    def _placed(self, text: str) -> bool:
        """Give a new text a rank between its neighbours'; whether there was room."""
        order, number = self._in_order, self[text]
        place = bisect_left(order, text)
        low = int(self._ranks[self[order[place - 1]]]) if place else 0
        high = int(self._ranks[self[order[place]]]) if place < len(order) else low + 2 * _GAP
        if high - low < 2 or number >= len(self._ranks) or high >= 2**62:
            return False
        order.insert(place, text)
        self._ranks[number] = (low + high) // 2
        return True
