"""Open runs from batch to batch, such that a batch touches only those of its own partitions.

All runs are rows of one pool, those of a partition in a row.  A partition that a batch has changed gets new rows
at the pool's end, and its old ones are spare; when most rows are spare, the others move together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ouzel.physical.event_table import Integers
from ouzel.physical.memory.growing import Growing

# So many rows may be spare before it is worth moving the others.
SPARE = 4_096


class OpenRuns:
    """Those of partition p are the rows begins[p] to begins[p] + counts[p]."""

    def __init__(self, widths: tuple[int, int]) -> None:
        """No runs, of some width."""
        self._ri, self._rf = np.empty((0, widths[0]), np.int64), np.empty((0, widths[1]), np.float64)
        self._begins, self._counts = Growing(np.int64), Growing(np.int64)
        self._rows = self._live = 0
        self._is_closed = True

    def __len__(self) -> int:
        """The number of runs."""
        return self._live

    @property
    def pool(self) -> tuple[Any, Any]:
        """All rows, integers and floats."""
        return self._ri, self._rf

    @property
    def ri(self) -> Any:
        """The integers of all runs, once there is nothing spare among them."""
        self._close()
        return self._ri[: self._live]

    def of(self, parts: Integers) -> tuple[Integers, Integers]:
        """From and to which row of the pool the runs of some partitions are."""
        highest = int(parts.max(initial=-1)) + 1
        if highest > len(self._counts):
            self._begins.fill(highest, 0)
            self._counts.fill(highest, 0)
        begins = self._begins.values[parts]
        return begins, begins + self._counts.values[parts]

    def replace(self, parts: Integers, edges: Integers, ri: Any, rf: Any) -> None:
        """Give partitions other runs: those of the k-th are the rows edges[k] to edges[k + 1]."""
        counts = edges[1:] - edges[:-1]
        others = self._live - int(self._counts.values[parts].sum())
        self._counts.values[parts] = counts
        self._live, self._is_closed = others + len(ri), False
        if not others:
            self._ri, self._rf, self._rows = ri, rf, len(ri)
            self._begins.values[parts] = edges[:-1]
            return
        if self._rows + len(ri) > len(self._ri):
            self._grow(2 * (self._rows + len(ri)))
        self._ri[self._rows : self._rows + len(ri)] = ri
        self._rf[self._rows : self._rows + len(rf)] = rf
        self._begins.values[parts] = self._rows + edges[:-1]
        self._rows += len(ri)
        # where there are many partitions, to look at all of them must pay too
        if self._rows > 2 * self._live + len(self._counts) + SPARE:
            self._close()

    def keep(self, chosen: Callable[[Any], Any]) -> None:
        """Keep the runs for which a flag is set, given the integers of all."""
        kept = chosen(self.ri)
        if not np.all(kept):
            owners = np.repeat(np.arange(len(self._counts)), self._counts.values)
            self._ri, self._rf = self._ri[: self._live][kept], self._rf[: self._live][kept]
            self._number(np.bincount(owners[kept], minlength=len(self._counts)))

    def forget(self, parts: Integers) -> None:
        """Keep only some partitions, which are numbered anew; the others have no runs."""
        for column in (self._begins, self._counts):
            column.pick(parts[parts < len(column)])

    def _grow(self, rows: int) -> None:
        for name in ("_ri", "_rf"):
            pool = getattr(self, name)
            longer = np.empty((rows, pool.shape[1]), pool.dtype)
            longer[: self._rows] = pool[: self._rows]
            setattr(self, name, longer)

    def _close(self) -> None:
        """Move runs together, in the order of partitions."""
        if not self._is_closed:
            rows = self._in_order()
            self._ri, self._rf = self._ri[rows], self._rf[rows]
            self._number(self._counts.values)

    def _in_order(self) -> Integers:
        """The rows of all runs, in the order of partitions."""
        counts = self._counts.values
        begins = self._begins.values - (np.cumsum(counts) - counts)
        return np.repeat(begins, counts) + np.arange(self._live)

    def _number(self, counts: Integers) -> None:
        """Say how many runs each partition has, now that all are in a row."""
        self._begins, self._counts = Growing(np.int64, np.cumsum(counts) - counts), Growing(np.int64, counts)
        self._rows = self._live = len(self._ri)
        self._is_closed = True

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The runs, in the order of partitions, and how many each of these has."""
        rows = self._in_order()
        return {"counts": self._counts.values.copy(), "ri": self._ri[rows], "rf": self._rf[rows]}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._ri, self._rf = state["ri"].copy(), state["rf"].copy()
        self._number(state["counts"])
