"""How kernels tell what lies in a window: by its oldest clock, as a difference of two may not fit into 64 bits."""

from __future__ import annotations

from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING, END

# The length of a window where there is none.
_NO_LIMIT = 0

# The least integer, as a compiler of 64 bits reads it.
_BEFORE_ALL = f"{BEGINNING + 1} - 1"

REACH = f"reach = limit + ({_BEFORE_ALL}) if limit > 0 else {END}"
"""A line of source, once per kernel: the clock from which on a window begins after the first of all."""


def window_limit(query: BoundQuery) -> int:
    """The length of a query's window, in what its clock counts, as kernels take it."""
    return query.window.limit if query.window else _NO_LIMIT


def oldest(clock: str) -> str:
    """The clock up to which events are too old for a window that ends at another."""
    return f"({clock} - limit if {clock} >= reach else {_BEFORE_ALL})"
