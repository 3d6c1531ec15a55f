"""What lies in a window: told by its oldest clock, as a difference of two clocks may not fit into 64 bits."""

from __future__ import annotations

from ouzel.kernels.arithmetic import LEAST, MOST


def reach_of(limit: int) -> int:
    """The clock from which on a window begins after the first of all clocks; a limit of 0 is no window."""
    return limit + LEAST if limit > 0 else MOST


def oldest_clock(clock: int, limit: int, reach: int) -> int:
    """The clock up to which events are too old for a window that ends at another."""
    return clock - limit if clock >= reach else LEAST
