"""Rows of tables kept from batch to batch, in chunks that are neither many nor large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.physical.event_table import Integers

# Chunks are joined up to so many rows; a larger one is copied only when some of its rows go.
_MOST = 1 << 20
# So many small tables may wait until they are joined.
_WAITING = 32


class Chunks:
    """A table that grows at its end and shrinks anywhere."""

    def __init__(self) -> None:
        """Begin with no rows."""
        self._tables: list[pa.Table] = []
        self._lengths: list[int] = []
        self._waiting: list[tuple[pa.Table, Integers]] = []
        self._spanned = 0

    @property
    def tables(self) -> list[pa.Table]:
        """All rows, in chunks."""
        self._join_waiting()
        return self._tables

    def add(self, table: pa.Table, rows: Integers) -> None:
        """Add some rows of a table at the end: to take those of many small tables at once costs far less."""
        if len(rows):
            self._waiting.append((table, rows))
            self._spanned += table.num_rows
            if len(self._waiting) >= _WAITING or self._spanned >= _MOST // _WAITING:
                self._join_waiting()

    def _join_waiting(self) -> None:
        if not self._waiting:
            return
        tables, rows = zip(*self._waiting, strict=True)
        begins = np.cumsum([0, *(table.num_rows for table in tables)])
        places = np.concatenate([own + begin for own, begin in zip(rows, begins, strict=False)])
        table = tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()
        self._waiting, self._spanned = [], 0
        # a copy, even of all rows: they may be few of a large table
        self._append(table.take(pa.array(places)), len(places))

    def _append(self, table: pa.Table, length: int) -> None:
        """Chunks of one size are joined, so that each row is copied a few times only."""
        while self._lengths and self._lengths[-1] <= 2 * length and self._lengths[-1] + length <= _MOST:
            table = pa.concat_tables([self._tables.pop(), table]).combine_chunks()
            length += self._lengths.pop()
        self._tables.append(table)
        self._lengths.append(length)

    def taken(self, rows: Integers, columns: list[str] | None = None) -> list[pa.Table]:
        """Some of the rows, given in order, with some columns or all, in pieces."""
        tables = self.tables
        begins = np.cumsum([0, *self._lengths])
        bounds = np.searchsorted(rows, begins)
        return [
            (table if columns is None else table.select(columns)).take(pa.array(rows[low:high] - begin))
            for table, begin, low, high in zip(tables, begins, bounds, bounds[1:], strict=False)
            if low < high
        ]

    def keep(self, kept: Any) -> None:
        """Keep the rows for which a flag is set."""
        tables, lengths = self.tables, self._lengths
        self._tables, self._lengths = [], []
        first = 0
        for table, length in zip(tables, lengths, strict=True):
            flags = kept[first : first + length]
            first += length
            count = int(np.count_nonzero(flags))
            if count:
                self._append(table if count == length else table.take(pa.array(np.flatnonzero(flags))), count)

    def select(self, columns: list[str]) -> None:
        """Keep some columns; without any, no rows are left."""
        tables = [table.select(columns) for table in self.tables] if columns else []
        self._tables, self._lengths = tables, [table.num_rows for table in tables]
