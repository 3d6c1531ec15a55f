"""Events that come to the leaves of trees in a round."""

from __future__ import annotations

import numpy as np

from ouzel.logical.pattern import Component
from ouzel.physical.event_table import Integers


class Arrivals:
    """The events from a number on, of which masks say what they may be; those of each component are found once."""

    def __init__(self, begin: int, masks: Integers) -> None:
        """Take their masks."""
        self.begin, self.masks = begin, masks
        self._known: dict[int, Integers] = {}

    def __len__(self) -> int:
        """The number of events."""
        return len(self.masks)

    def of(self, component: Component) -> Integers:
        """The numbers of those that may be of a component."""
        if component.bit not in self._known:
            self._known[component.bit] = self.begin + np.flatnonzero(self.masks & (1 << component.bit))
        return self._known[component.bit]
