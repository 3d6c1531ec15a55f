"""NON_OVERLAP for matches in columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels import numbering
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.event_table import Integers

# The end of the last match kept in a partition that has none.
NONE_KEPT = -(2**63)


def keep_apart(parts: Integers, until: Any, starts: Integers, ends: Integers, counts: Integers) -> Integers:
    """Which matches, given in the order of results, do not overlap with the one kept before in their partition.

    They are tried by end; of those that end together, the one that starts last, then the one with fewest events.
    `until` is where the last match kept in each partition ends, which is changed.
    """
    order = np.lexsort((np.arange(len(parts)), counts, -starts, ends))
    return np.flatnonzero(kernel_of(numbering.mark_apart, len(parts))(order, parts, until, starts, ends))
