"""What an engine may hand over for OUTPUT AGGREGATE in place of matches: totals over them, by partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.physical.event_table import Integers

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
    """Totals over matches, by partition, in any order; partitions without a match may be among them.

    - `keys`: for each equivalence test of the query, the row of an event that has the partition's value, -1 where
      no event of its matches has the attribute.
    - `matches`: how many there are.
    - `totals`: one for each aggregate of the query.

    A query without equivalence tests has one partition.
    """

    keys: tuple[Integers, ...]
    matches: Floats
    totals: tuple[Total, ...]


def floats_of(column: pa.ChunkedArray) -> Floats:
    """Values to add up; 0 for null."""
    floats: Floats = _plain(column).cast(pa.float64(), safe=False).fill_null(0.0).to_numpy()
    return floats


def ranks_of(column: pa.ChunkedArray, function: str) -> Integers:
    """Ranks of values, the least for the one that `min` or `max` takes; nulls and NaN come last in either case."""
    order = pc.sort_indices(_plain(column), [("", "ascending" if function == "min" else "descending")]).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that Arrow can sort: without a dictionary, and without floats of 16 bits."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.float32()) if pa.types.is_float16(column.type) else column
