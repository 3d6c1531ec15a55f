"""Rows of tables kept from batch to batch, in chunks that are neither many nor large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.physical.event_table import Integers

# Chunks are joined up to so many rows; a larger one is copied only when some of its rows go.
_MOST = 1 << 20


class Chunks:
    """A table that grows at its end and shrinks anywhere."""

    def __init__(self) -> None:
        """Begin with no rows."""
        self.tables: list[pa.Table] = []
        # a table without columns does not know how many rows it has
        self.lengths: list[int] = []

    def add(self, table: pa.Table, length: int) -> None:
        """Add rows at the end; chunks of one size are joined, so that each row is copied a few times only."""
        if not length:
            return
        while self.lengths and self.lengths[-1] <= 2 * length and self.lengths[-1] + length <= _MOST:
            table = pa.concat_tables([self.tables.pop(), table]).combine_chunks()
            length += self.lengths.pop()
        self.tables.append(table)
        self.lengths.append(length)

    def taken(self, rows: Integers) -> list[pa.Table]:
        """Some of the rows, given in order, in pieces."""
        begins = np.cumsum([0, *self.lengths])
        bounds = np.searchsorted(rows, begins)
        return [
            table.take(pa.array(rows[low:high] - begin))
            for table, begin, low, high in zip(self.tables, begins, bounds, bounds[1:], strict=False)
            if low < high
        ]

    def keep(self, kept: Any) -> None:
        """Keep the rows for which a flag is set."""
        tables, lengths, self.tables, self.lengths = self.tables, self.lengths, [], []
        first = 0
        for table, length in zip(tables, lengths, strict=True):
            flags = kept[first : first + length]
            first += length
            count = int(np.count_nonzero(flags))
            self.add(table if count == length else table.take(pa.array(np.flatnonzero(flags))), count)

    def select(self, columns: list[str]) -> None:
        """Keep some columns."""
        self.tables = [table.select(columns) for table in self.tables]

    def table(self) -> pa.Table | None:
        """All rows in one table."""
        return pa.concat_tables(self.tables) if self.tables else None
