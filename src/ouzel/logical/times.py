"""Which times there are: whole ticks of 64 bits, but for the least and the largest, which no event may have.

So there is a time before all events and one after them.  Differences of times may take more than 64 bits: what
measures windows must not compute them in 64.
"""

from __future__ import annotations

BEGINNING, END = -(2**63), 2**63 - 1
EARLIEST, LATEST = BEGINNING + 1, END - 1


def too_far_off(time: object) -> str:
    """What is wrong with a time that cannot be counted."""
    return f"the time {time} is too far off to be counted; required {EARLIEST} to {LATEST}"
