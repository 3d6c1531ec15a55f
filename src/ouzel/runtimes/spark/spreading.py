"""Numbers for buckets that Spark's own hash spreads evenly over its tasks."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

# Every number of tasks that divides it gets equal shares; there are no more buckets than that.
EVEN_FOR = 2**7 * 3 * 5**2
_CANDIDATES = 2**18


@lru_cache
def bucket_keys(buckets: int) -> tuple[int, ...]:
    """What each bucket is called as a key: the one in place i goes to task i, i modulo their number.

    Named 0, 1, 2, …, eight buckets would go to two tasks as five and three, and two buckets to one of them.  What
    they are called must not depend on the number of tasks, which may be another when a stream goes on.

    >>> bucket_keys(4)
    (2122, 14465, 9454, 85)
    """
    remainders = spark_hash(np.arange(_CANDIDATES, dtype=np.uint32)) % EVEN_FOR
    order = np.argsort(remainders, kind="stable")
    begins = np.searchsorted(remainders[order], np.arange(EVEN_FOR))
    return tuple(order[begins[:buckets]].tolist())


def spark_hash(values: Any) -> Any:
    """Spark's hash of 32-bit integers: Murmur3, with the seed that it shuffles by."""
    with np.errstate(over="ignore"):
        mixed = _rotated(values * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        number = _rotated(mixed ^ np.uint32(42), 13) * np.uint32(5) + np.uint32(0xE6546B64)
        number ^= np.uint32(4)  # bytes in an integer
        number = (number ^ (number >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        number = (number ^ (number >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        return (number ^ (number >> np.uint32(16))).view(np.int32).astype(np.int64)


def _rotated(values: Any, bits: int) -> Any:
    return (values << np.uint32(bits)) | (values >> np.uint32(32 - bits))
