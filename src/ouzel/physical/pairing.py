"""Equal rows, told by numbers: the first of those there were is the first of those there are, and so on."""

from __future__ import annotations

import numpy as np

from ouzel.physical.event_table import Integers


def paired(old: Integers, new: Integers) -> tuple[Integers, Integers]:
    """The places of equal numbers, the n-th of the old ones beside the n-th of the new ones.

    >>> there, here = paired(np.array([7, 8, 7]), np.array([9, 7, 7, 7]))
    >>> there.tolist(), here.tolist()
    ([0, 2], [1, 2])
    """
    width = len(old) + len(new) + 1
    were, are = (numbers * width + _nth_of_equal(numbers) for numbers in (old, new))
    _both, there, here = np.intersect1d(were, are, assume_unique=True, return_indices=True)
    return there, here


def _nth_of_equal(numbers: Integers) -> Integers:
    """Of each number, how often it stood before."""
    order = np.argsort(numbers, kind="stable")
    found = np.empty(len(numbers), np.int64)
    found[order] = occurrences(numbers[order])
    return found


def occurrences(ordered: Integers) -> Integers:
    """Of equal numbers that stand together, which one each is."""
    places = np.arange(len(ordered))
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    return places - np.maximum.accumulate(np.where(is_first, places, 0))
