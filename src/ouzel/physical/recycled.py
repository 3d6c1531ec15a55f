"""Large arrays in memory that was used before.

Arrow keeps for a while what it is given back; what NumPy is given back goes to the system, and comes from there as
fresh pages, which cost several times as much as to fill them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

# Below so many bytes, NumPy keeps what it is given back too.
_LARGE = 1 << 16


def recycled(count: int, kind: Any = np.int64) -> Any:
    """An array of so many values, which are not set."""
    size = count * np.dtype(kind).itemsize
    return np.empty(count, kind) if size < _LARGE else np.frombuffer(pa.allocate_buffer(size), kind)


def numbered(count: int) -> Any:
    """The numbers from 0 on."""
    numbers = recycled(count)
    numbers.fill(1)
    np.cumsum(numbers, out=numbers)
    numbers -= 1
    return numbers


def picked(values: Any, places: Any) -> Any:
    """The values at some places, all of which there are."""
    # to clip places is faster than to check them
    return np.take(values, places, out=recycled(len(places), values.dtype), mode="clip")
