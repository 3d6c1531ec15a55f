"""Which times there are: whole ticks of 64 bits, but for the least and the largest, which no event may have.

So there is a time before all events and one after them.  Differences of times may take more than 64 bits: what
measures windows must not compute them in 64.
"""

from __future__ import annotations

import pyarrow as pa

BEGINNING, END = -(2**63), 2**63 - 1
EARLIEST, LATEST = BEGINNING + 1, END - 1


def too_far_off(time: object) -> str:
    """What is wrong with a time that cannot be counted."""
    return f"the time {time} is too far off to be counted; required {EARLIEST} to {LATEST}"


def shown_time(ticks: int, time: pa.DataType) -> str:
    """A time as the time column has it, for a message."""
    try:
        return str(pa.array([ticks], pa.int64()).cast(time)[0].as_py())
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return str(ticks)


def told_event(variable: str, type_name: str, ticks: int, time: pa.DataType) -> str:
    """An event in words, for a message."""
    return f"{variable}{f', of type {type_name}' if type_name else ''}, at {shown_time(ticks, time)}"
