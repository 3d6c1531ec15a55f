"""Dates that are none: those of 64 bits count milliseconds, and Arrow does not check that they are whole days."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ouzel.runtimes.quarantine import Problem

_DAY = 24 * 3_600 * 1_000


def odd_days(table: pa.Table) -> Iterator[Problem]:
    """The dates of a table, also in structs, that are no whole days."""
    for name, arrow in zip(table.column_names, table.schema.types, strict=True):
        if holds_dates(arrow):
            yield from _of_column(name, table.column(name))


def holds_dates(arrow: pa.DataType) -> bool:
    """Whether values of a type are dates of 64 bits, or have such as fields."""
    if pa.types.is_struct(arrow):
        return any(holds_dates(field.type) for field in arrow)
    return bool(pa.types.is_date64(arrow.value_type if pa.types.is_dictionary(arrow) else arrow))


def _of_column(name: str, column: pa.ChunkedArray) -> Iterator[Problem]:
    if pa.types.is_struct(column.type):
        for place, field in enumerate(column.type):
            if holds_dates(field.type):
                yield from _of_column(name, pc.struct_field(column, [place]))
        return
    ticks = column.cast(pa.date64()).cast(pa.int64())
    whole = pc.multiply(pc.divide(ticks, _DAY), _DAY)
    for row in pc.indices_nonzero(pc.not_equal(ticks, whole)).to_pylist():
        yield Problem(row, name, f"required a whole day; got {ticks[row]} milliseconds since 1970")
