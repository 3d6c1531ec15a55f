"""How threads share the partitions of a table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ouzel.physical.event_table import Integers


def split_evenly(begins: Integers, parts: int) -> list[tuple[int, int]]:
    """Ranges of partitions with about as many events each; `begins` is where the events of each begin.

    >>> split_evenly(np.array([0, 10, 11, 12, 20]), 2)
    [(0, 1), (1, 4)]
    """
    wanted = begins[-1] * np.arange(1, parts) // parts
    inner = np.unique(np.searchsorted(begins, wanted))
    edges = [0, *(int(edge) for edge in inner if 0 < edge < len(begins) - 1), len(begins) - 1]
    return list(pairwise(edges))
