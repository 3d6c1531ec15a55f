"""A few numbers looked for among many: buckets of partitions, times.

Most of the many differ from all of the few in their last bits.  For these there is a small table of flags, which
stays near the processor; only where a flag is set is a number looked up.
"""

from __future__ import annotations

import numpy as np

from ouzel.kernels import jit, numbering
from ouzel.physical.compiled.kernel import pays
from ouzel.physical.event_table import Integers

_LAST_BITS = 1 << 16


class Sought:
    """Some numbers, in order, that are looked for among many."""

    def __init__(self, numbers: Integers) -> None:
        """Set flags for their last bits, which take little room."""
        self.numbers = numbers
        self._flags = np.zeros(_LAST_BITS, np.bool_)
        self._flags[numbers & (_LAST_BITS - 1)] = True

    def among(self, many: Integers) -> Integers:
        """The places of those of many numbers that are one of these."""
        if not len(self.numbers):
            return np.zeros(0, np.int64)
        places = self._flagged(many)
        own = many[places]
        known = self.numbers[np.minimum(self.numbers.searchsorted(own), len(self.numbers) - 1)]
        found: Integers = places[known == own]
        return found

    def _flagged(self, many: Integers) -> Integers:
        """The places of those of many numbers for whose last bits there is a flag."""
        if not pays(numbering.flagged, len(many)):
            return np.flatnonzero(self._flags[many & (_LAST_BITS - 1)])
        places = np.empty(len(many), np.int64)
        return places[: jit.compiled(numbering.flagged)(many, self._flags, places)]
