"""Arrays that grow, and rows that are copied: what generated kernels do with their state."""

from __future__ import annotations

from typing import Any

import numpy as np


def longer(array: Any) -> Any:
    """The array with room for twice as many values."""
    result = np.empty(len(array) * 2, array.dtype)
    for k in range(len(array)):
        result[k] = array[k]
    return result


def taller(array: Any) -> Any:
    """The array with room for twice as many rows."""
    height, width = array.shape
    result = np.empty((height * 2, width), array.dtype)
    for k in range(height):
        for j in range(width):
            result[k, j] = array[k, j]
    return result


def copy_row(array: Any, source: int, target: int) -> None:
    """Copy a row of an array over another."""
    for j in range(array.shape[1]):
        array[target, j] = array[source, j]
