"""Arrays that grow, and rows that are copied: what generated kernels do with their state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

STOP, DONE = range(2)
"""What is where on a board: whether a loop is to stop, if that is not 0; and how many events are done."""


def longer(array: Any) -> Any:
    """The array with room for twice as many values."""
    result = np.empty(len(array) * 2, array.dtype)
    result[: len(array)] = array
    return result


def taller(array: Any) -> Any:
    """The array with room for twice as many rows."""
    height, width = array.shape
    result = np.empty((height * 2, width), array.dtype)
    result[:height] = array
    return result


def copy_rows(source: Any, begin: int, target: Any, at: int, count: int) -> None:
    """Copy rows of one array into another."""
    for k in range(count):
        for j in range(source.shape[1]):
            target[at + k, j] = source[begin + k, j]


def copy_part(source: Any, begin: int, target: Any, at: int, count: int) -> None:
    """Copy some values in a row; of slices, a compiler sees that no index counts from the end."""
    old, new = source[begin : begin + count], target[at : at + count]
    for k in range(count):
        new[k] = old[k]


def copy_pieces(board: Any, source: Any, begins: Any, lengths: Any, target: Any) -> None:
    """Copy pieces, given by where they begin and how long they are, one behind the other."""
    at = 0
    for k in range(len(begins)):
        if board[STOP] != 0:
            return
        copy_part(source, begins[k], target, at, lengths[k])
        at += lengths[k]


def same_run(ri: Any, rf: Any, a: int, b: int) -> bool:
    """Whether two runs have the same future: equal rows but for the columns 1 to 3, which tell of their past."""
    if ri[a, 0] != ri[b, 0]:
        return False
    for j in range(4, ri.shape[1]):
        if ri[a, j] != ri[b, j]:
            return False
    for j in range(rf.shape[1]):
        if rf[a, j] != rf[b, j] and not (math.isnan(rf[a, j]) and math.isnan(rf[b, j])):
            return False
    return True


def hash_run(ri: Any, rf: Any, r: int) -> int:
    """A number that is equal for equal runs; every step stays within 63 bits, compiled or not."""
    h: int = ri[r, 0]
    for j in range(4, ri.shape[1] + rf.shape[1]):
        if j < ri.shape[1]:
            h ^= ri[r, j]
        elif math.isfinite(rf[r, j - ri.shape[1]]):
            fraction, exponent = math.frexp(rf[r, j - ri.shape[1]])
            h ^= int(fraction * 9007199254740992.0) + exponent
        h = (h & 0x7FFFFFFF) * 0x5BD1E995 + ((h >> 31) & 0x7FFFFFFF) * 0x2C1B3C6D
        h ^= h >> 29
    return h
