"""Records of tree plans: buckets and links between events, and the events of records that bind several."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def mixed(place: int, value: int) -> int:
    """A number for a bucket, of one before and a value; nothing overflows."""
    return (place * 31 + value % 2147483647) % 2147483647 * 40503 % 2147483647


def link_events(events: Array, keys: Array, heads: Array, previous: Array) -> None:
    """Link events, each to the one before it of the same key."""
    for k in range(len(events)):
        previous[events[k]] = heads[keys[k]]
        heads[keys[k]] = events[k]


def chain_elements(tails: Array, event: Array, before: Array, offsets: Array, rows: Array) -> None:
    """Write the events of closures out, from links of which each leads to the one before."""
    for m in range(len(tails)):
        q = tails[m]
        for k in range(offsets[m + 1] - 1, offsets[m] - 1, -1):
            rows[k] = event[q]
            q = before[q]


def group_elements(
    tails: Array,
    since: Array,
    oldest: Array,
    starts: Array,
    ends: Array,
    start_clocks: Array,
    previous: Array,
    offsets: Array,
    rows: Array,
) -> None:
    """Write the events of groups out: of those that last, the ones count that start after the end of another, or
    in the window.
    """
    for m in range(len(tails)):
        q = tails[m]
        k = offsets[m + 1] - 1
        while k >= offsets[m]:
            if starts[q] > ends[since[m]] if since[m] >= 0 else start_clocks[q] > oldest[m]:
                rows[k] = q
                k -= 1
            q = previous[q]
