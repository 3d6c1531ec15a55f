"""What an engine may hand over for OUTPUT AGGREGATE in place of matches: totals over them, by partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.physical.event_table import Integers
from ouzel.physical.meaning import plain

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True)
class Total:
    """What one aggregate needs, by partition.

    - `counts`: how many values there are, once per match, without nulls; without a column, how many events, and
      without a variable, how many matches.
    - `sums`, of sum and avg: what the values add up to.
    - `rows`, of min and max: the row of an event that has the least or greatest value, -1 where there is no value;
      of one with NaN only if there is nothing else.
    """

    counts: Floats
    sums: Floats | None = None
    rows: Integers | None = None


@dataclass(frozen=True)
class MatchTotals:
    """Totals over matches, by partition and window, in any order; groups without a match may be among them.

    - `keys`: for each equivalence test of the query, the row of an event that has the partition's value, -1 where
      no event of its matches has the attribute.
    - `matches`: how many there are.
    - `totals`: one for each aggregate of the query.
    - `windows`, of a query with EVERY: the number of the window in which the matches end.

    A query without equivalence tests has one partition.
    """

    keys: tuple[Integers, ...]
    matches: Floats
    totals: tuple[Total, ...]
    windows: Integers | None = None

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.matches)


def ranks_of(column: pa.ChunkedArray, function: str) -> Integers:
    """Ranks of values, the least for the one that `min` or `max` takes; nulls and NaN come last in either case."""
    order = pc.sort_indices(plain(column), [("", "ascending" if function == "min" else "descending")]).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks
