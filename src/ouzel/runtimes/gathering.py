"""Values of events, gathered for many matches: by all threads, where every value is as wide as the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.kernels import jit, ordering
from ouzel.physical.compiled import share
from ouzel.physical.event_table import Integers
from ouzel.physical.recycled import recycled
from ouzel.physical.stoppable import check, stoppable

# So many rows are gathered at a time: between them Ctrl-C is heard.
_BLOCK = 1 << 20


def gathered(column: pa.ChunkedArray, rows: Integers, threads: int) -> pa.Array | pa.ChunkedArray:
    """The values of some rows, null for -1."""
    return stoppable(lambda: _plain(column, rows, threads) or _taken(column, rows), size=len(rows))


def _taken(column: pa.ChunkedArray, rows: Integers) -> pa.Array | pa.ChunkedArray:
    """By Arrow, which takes every type, and null for a null."""
    is_whole = not len(rows) or int(rows.min()) >= 0
    places = pa.array(rows) if is_whole else pa.array(rows, mask=rows < 0)
    return (column.chunk(0) if column.num_chunks == 1 else column).take(places)


def _plain(column: pa.ChunkedArray, rows: Integers, threads: int) -> pa.Array | None:
    """By a kernel; None if there are few rows, or nulls, or values of several widths."""
    arrow = column.type
    is_wide = pa.types.is_primitive(arrow) and arrow.bit_width in (8, 16, 32, 64)
    many = len(rows) >= max(share.PARALLEL_FROM, len(column))
    if not is_wide or not many or column.null_count or not jit.is_enabled():
        return None
    whole = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    kind = np.dtype(f"uint{arrow.bit_width}")
    values = np.frombuffer(whole.buffers()[1], kind)[whole.offset : whole.offset + len(whole)]
    out = recycled(len(rows), kind)
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
    return pa.Array.from_buffers(arrow, len(rows), [None, pa.py_buffer(out)])
