"""Numbers, each once: NumPy's own way hashes them, which takes ten times as long as to sort them."""

from __future__ import annotations

from typing import Any

import numpy as np

# Numbers that are so dense are marked in an array rather than sorted.
DENSE = 16


def each_once(*some: Any) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The numbers in arrays, each once, in order."""
    values = some[0] if len(some) == 1 else np.concatenate(some)
    if not len(values):
        return np.zeros(0, np.int64)
    least, most = int(values.min()), int(values.max())
    if most - least < DENSE * len(values):
        is_there = np.zeros(most - least + 1, np.bool_)
        is_there[values - least] = True
        return np.flatnonzero(is_there) + least
    ordered = np.sort(values)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])], np.int64)
