"""What every engine hands over: matches as columns of row numbers, ready to be gathered into a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.physical.event_table import Integers

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class One:
    """The row that a variable is bound to in each match, -1 where it is bound to none."""

    rows: Integers


@dataclass(frozen=True)
class Many:
    """The rows that an array variable is bound to: those of match m are rows[offsets[m]:offsets[m + 1]].

    An unbound variable, of an alternative that was not chosen, is null rather than empty.
    """

    offsets: Integers
    rows: Integers
    unbound: Flags


@dataclass(frozen=True)
class MatchTable:
    """Matches: what each variable is bound to, and their intervals."""

    bound: dict[str, One | Many]
    starts: Integers
    ends: Integers
    start_times: Integers
    end_times: Integers

    def __len__(self) -> int:
        """The number of matches."""
        return len(self.starts)
