"""NON_OVERLAP for matches in columns."""

from __future__ import annotations

import numpy as np

from ouzel.physical.compiled.prepare import kernel_of
from ouzel.physical.event_table import Integers

_KEEP = """
@jit
def kernel(order, parts, part_count, starts, ends):
    keep = np.zeros(len(order), np.bool_)
    until = np.zeros(part_count, np.int64)
    any_kept = np.zeros(part_count, np.bool_)
    for k in order:
        p = parts[k]
        if not any_kept[p] or until[p] < starts[k]:
            keep[k] = True
            any_kept[p] = True
            until[p] = ends[k]
    return keep
"""


def keep_apart(parts: Integers, part_count: int, starts: Integers, ends: Integers, counts: Integers) -> Integers:
    """Which matches, given in the order of results, do not overlap with the one kept before in their partition.

    They are tried by end; of those that end together, the one that starts last, then the one with fewest events.
    """
    order = np.lexsort((np.arange(len(parts)), counts, -starts, ends))
    keep = kernel_of(_KEEP, len(parts))(order, parts, part_count, starts, ends)
    return np.flatnonzero(keep)
