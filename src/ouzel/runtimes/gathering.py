"""Values of events, gathered for many matches: by all threads, where every value is as wide as the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.kernels import jit, ordering
from ouzel.physical.compiled import share
from ouzel.physical.event_table import Integers
from ouzel.physical.match_table import Pieces
from ouzel.physical.recycled import picked, recycled
from ouzel.physical.stoppable import check, stoppable

# So many rows are gathered at a time: between them Ctrl-C is heard.
_BLOCK = 1 << 20


def gathered(column: pa.ChunkedArray, rows: Integers | Pieces, threads: int) -> pa.Array | pa.ChunkedArray:
    """The values of some rows, null for -1."""
    if not isinstance(rows, Pieces):
        return stoppable(lambda: _plain(column, rows, threads) or _taken(column, rows), size=len(rows))
    return stoppable(lambda: _copied(column, rows, threads), size=int(rows.lengths.sum()))


def _copied(column: pa.ChunkedArray, pieces: Pieces, threads: int) -> pa.Array | pa.ChunkedArray:
    """By pieces, where every value is as wide as the others; else row by row."""
    values = _values(column)
    if values is None:
        return _taken(column, pieces.copied(pieces.rows, threads))
    out = pieces.copied(picked(values, pieces.rows), threads)
    return pa.Array.from_buffers(column.type, len(out), [None, pa.py_buffer(out)])


def _values(column: pa.ChunkedArray) -> Any:
    """The bits of values that are all there and as wide as each other; None if they are not."""
    arrow = column.type
    if not pa.types.is_primitive(arrow) or arrow.bit_width not in (8, 16, 32, 64) or column.null_count:
        return None
    whole = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    return np.frombuffer(whole.buffers()[1], f"uint{arrow.bit_width}")[whole.offset : whole.offset + len(whole)]


def _taken(column: pa.ChunkedArray, rows: Integers) -> pa.Array | pa.ChunkedArray:
    """By Arrow, which takes every type, and null for a null."""
    is_whole = not len(rows) or int(rows.min()) >= 0
    places = pa.array(rows) if is_whole else pa.array(rows, mask=rows < 0)
    return (column.chunk(0) if column.num_chunks == 1 else column).take(places)


def _plain(column: pa.ChunkedArray, rows: Integers, threads: int) -> pa.Array | None:
    """By a kernel; None if there are few rows, or nulls, or values of several widths."""
    many = len(rows) >= max(share.PARALLEL_FROM, len(column)) and jit.is_enabled()
    if not many or (values := _values(column)) is None:
        return None
    out = recycled(len(rows), values.dtype)
    gather: Any = jit.compiled(ordering.gather)

    def work(begin: int, end: int) -> bool:
        for first in range(begin, end, _BLOCK):
            check()
            part = rows[first : min(first + _BLOCK, end)]
            if int(part.min()) < 0:
                return False
            gather(values, part, out[first : first + len(part)])
        return True

    if not all(share.in_threads(work, len(rows), threads)):
        return None
    return pa.Array.from_buffers(column.type, len(rows), [None, pa.py_buffer(out)])
