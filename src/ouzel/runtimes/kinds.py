"""Kinds of table: what comes in is turned into Arrow, and what goes out is of the kind that came in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa

from ouzel.errors import SchemaError

Restore = Callable[[pa.Table], Any]


def to_arrow(events: Any) -> tuple[pa.Table, Restore]:
    """An Arrow table of the events, and the way back to their kind.

    Lists of dicts are not taken here: their values may be malformed (see rows.py).
    """
    if isinstance(events, pa.Table):
        return events, lambda table: table
    if isinstance(events, pa.RecordBatch):
        return pa.Table.from_batches([events]), lambda table: table
    try:
        frame = nw.from_native(events, eager_only=True)
    except TypeError:
        frame = None
    if frame is not None:
        backend = frame.implementation
        return _plain(frame.to_arrow()), lambda table: nw.from_arrow(table, backend=backend).to_native()
    if hasattr(events, "__arrow_c_stream__"):
        return pa.table(events), lambda table: table
    raise SchemaError(
        f"events: required a pyarrow, pandas or Polars table, a list of dicts, or a dict of them by event type; "
        f"got {type(events).__name__}"
        + ("\n  hint: collect a lazy frame first" if "Lazy" in type(events).__name__ else "")
    )


def is_rows(events: Any) -> bool:
    """Whether events come as a list of dicts."""
    return isinstance(events, Sequence) and not isinstance(events, str | bytes)


def is_tables_by_type(events: Any) -> bool:
    """Whether events come as one table per type."""
    return isinstance(events, Mapping)


def _plain(table: pa.Table) -> pa.Table:
    """Pandas leaves its index and metadata in the table: they are no attributes."""
    names = [name for name in table.column_names if not name.startswith("__index_level_")]
    return table.select(names).replace_schema_metadata(None)
