"""Peers: what a user could take instead, on the same data and in the same process; and how fast memory is."""

from __future__ import annotations

from collections.abc import Sequence as Names
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.bench.measure import Contender, timed
from ouzel.bench.sequences import Sequence


class DuckDB:
    """DuckDB with the events in a table of its own, the loading of which is not counted."""

    def __init__(self, stream: pa.Table, threads: int | None = None) -> None:
        """Load the events; on all processors, unless a number of threads is given."""
        import duckdb

        self.connection = duckdb.connect(config={} if threads is None else {"threads": threads})
        self.connection.register("stream", stream)
        self.connection.execute("CREATE TABLE events AS SELECT * FROM stream")

    @classmethod
    def of(cls, stream: pa.Table, threads: int | None = None) -> DuckDB | None:
        """DuckDB, if it is installed."""
        try:
            return cls(stream, threads)
        except ModuleNotFoundError:
            return None

    def query(self, sql: str) -> Contender:
        """A query over the table `events`."""
        return Contender(partial(self._run, sql), lambda found: {"matches": found.num_rows})

    def joins(self, sequence: Sequence) -> list[Contender]:
        """A sequence in all formulations."""
        return [
            Contender(partial(self._run, sql), lambda found: {"matches": found.num_rows}, name)
            for name, sql in sequence.joins.items()
        ]

    def fastest(self, sequence: Sequence) -> Contender:
        """A sequence in the formulation that is the fastest in one run of each."""
        return min(self.joins(sequence), key=lambda one: timed(one.run)[1])

    def _run(self, sql: str) -> Any:
        return self.connection.sql(sql).to_arrow_table()


def numpy_pass(stream: pa.Table, columns: Names[str]) -> Contender:
    """Reads every byte of some columns once and does nothing with it but sum: as fast as memory lets one be."""
    chunks = [chunk for name in columns for chunk in stream.column(name).chunks]
    buffers = [buffer for chunk in chunks for buffer in chunk.buffers() if buffer is not None]
    arrays = [np.frombuffer(buffer, np.int64, buffer.size // 8) for buffer in buffers]
    return Contender(lambda: [array.sum() for array in arrays])
