"""Events of a partition on their way into order: in memory, or, if there are too many, as sorted runs on disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class Spill:
    """Collects batches; beyond `memory` bytes it writes what it has to disk, sorted by time (an external sort)."""

    def __init__(self, schema: pa.Schema, time: str, memory: int) -> None:
        """Begin with nothing."""
        self.schema, self.time, self.memory = schema, time, memory
        self._batches: list[pa.Table] = []
        self._bytes = 0
        self._runs: list[Path] = []
        self._directory: Path | None = None

    def __enter__(self) -> Spill:
        """Nothing is on disk yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove what is on disk."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    @property
    def is_spilled(self) -> bool:
        """Whether some events are on disk."""
        return bool(self._runs)

    def add(self, batch: pa.RecordBatch) -> None:
        """Add a batch."""
        table = pa.Table.from_batches([batch]).select(self.schema.names).cast(self.schema)
        self._batches.append(table)
        self._bytes += table.nbytes
        if self._bytes > self.memory:
            self._write()

    def table(self) -> pa.Table:
        """The events that are in memory."""
        return pa.concat_tables(self._batches) if self._batches else self.schema.empty_table()

    def _write(self) -> None:
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="ouzel-spill-"))
        path = self._directory / f"{len(self._runs)}.arrow"
        table = self.table().sort_by(self.time)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, self.schema) as writer:
            writer.write_table(table.combine_chunks())
        self._runs.append(path)
        self._batches, self._bytes = [], 0

    def in_order(self) -> Iterator[pa.Table]:
        """All events, in slices that follow each other in time and that fit into memory."""
        if self._batches:
            self._write()
        runs = [pa.ipc.open_file(pa.memory_map(str(path))).read_all() for path in self._runs]
        times = [_ticks(run.column(self.time)) for run in runs]
        slices = 2 * len(runs)
        # the times that cut each run into equal parts cut all of them into about equal parts
        some = np.sort(np.concatenate([time[:: max(1, len(time) // slices)] for time in times]))
        cuts = np.unique(some[:: len(runs)])[1:].tolist()
        begins = [0] * len(runs)
        for cut in [*cuts, None]:
            ends = [len(time) if cut is None else int(np.searchsorted(time, cut)) for time in times]
            parts = [run.slice(b, e - b) for run, b, e in zip(runs, begins, ends, strict=True)]
            begins = ends
            part = pa.concat_tables(parts)
            if part.num_rows:
                yield part


def _ticks(column: pa.ChunkedArray) -> Any:
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return pc.cast(column, pa.int64()).to_numpy()
