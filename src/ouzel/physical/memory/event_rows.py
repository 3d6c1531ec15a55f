"""The rows of retained events, without the columns that can be had otherwise.

The time column says what the times say, a key column what the partitions say, and some columns what kernels take.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.chunks import Chunks
from ouzel.physical.memory.growing import Growing
from ouzel.physical.memory.key_numbers import are_integers
from ouzel.physical.memory.partitions import Partitions


class EventRows:
    """The table that events came in, as far as they are kept."""

    def __init__(self, time: str, partitions: Partitions) -> None:
        """Begin with no rows."""
        self.time = time
        self.partitions = partitions
        self.chunks = Chunks()
        self._schema: pa.Schema | None = None
        self._borrowed: dict[str, tuple[Growing, Growing]] = {}

    def borrow(self, columns: dict[str, tuple[Growing, Growing]]) -> None:
        """Take some columns from values and null flags that somebody else keeps of every event."""
        self._borrowed = columns
        self.chunks.select(self._kept())

    def begin(self, table: pa.Table) -> None:
        """Learn from the first batch which columns there are."""
        self._schema = self._schema or table.schema

    def conform(self, table: pa.Table) -> pa.Table:
        """A batch with the columns of the first."""
        assert self._schema is not None
        return table.select(self._schema.names)

    def add(self, table: pa.Table, rows: Integers) -> None:
        """Keep some rows of a batch."""
        self.chunks.add(table.select(self._kept()).take(pa.array(rows)), len(rows))

    def keep(self, kept: Any) -> None:
        """Drop all rows but those for which a flag is set."""
        self.chunks.keep(kept)

    def taken(self, rows: Integers, times: Array, parts: Array) -> pa.Table:
        """Some rows, given in order, with all columns; the times and partitions of these events say the rest."""
        assert self._schema is not None
        if not len(rows):
            return self._schema.empty_table()
        held = pa.concat_tables(self.chunks.taken(rows)) if self._kept() else None
        keys = self._keys()
        values = self.partitions.keys.keys(parts) if keys and self.partitions.keys is not None else None
        columns: list[Any] = []
        for field in self._schema:
            if field.name in keys and values is not None:
                columns.append(values.column(keys[field.name]))
            elif field.name in self._borrowed:
                values_of, nulls = (one.values[rows] for one in self._borrowed[field.name])
                columns.append(pa.array(values_of, field.type, mask=nulls))
            elif held is not None and field.name in held.column_names:
                columns.append(held.column(field.name))
            else:
                columns.append(pa.array(times).cast(field.type))
        return pa.table(columns, schema=self._schema)

    def _kept(self) -> list[str]:
        """The columns that are kept as they are."""
        assert self._schema is not None
        keys = self._keys()
        return [
            field.name
            for field in self._schema
            if field.name not in keys
            and field.name not in self._borrowed
            and not (field.name == self.time and are_integers(field.type))
        ]

    def _keys(self) -> dict[str, int]:
        """The columns that a partition's key tells, to the last bit, and their places in it."""
        assert self._schema is not None
        names = [column for column, _test in self.partitions.tests]
        return {
            name: names.index(name)
            for name in names
            if name in self._schema.names and _is_exact(self._schema.field(name).type)
        }

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All rows, with the columns that are borrowed, and an empty table that has all columns."""
        if self._schema is None:
            return {}
        rows = pa.concat_tables([self._schema.empty_table().select(self._kept()), *self.chunks.tables])
        columns = dict(zip(rows.column_names, rows.columns, strict=True))
        for name, (values, nulls) in self._borrowed.items():
            # a copy: Arrow would share the values, which change in place, and a state does not
            columns[name] = pa.array(values.values.copy(), self._schema.field(name).type, mask=nulls.values)
        return {"rows": pa.table(columns), "columns": self._schema.empty_table()}

    def resume(self, state: dict[str, Any], count: int) -> None:
        """Go on from a state."""
        self._schema = state["columns"].schema if "columns" in state else None
        self._borrowed = {}
        self.chunks = Chunks()
        if count:
            self.chunks.add(state["rows"], count)


def _is_exact(arrow: pa.DataType) -> bool:
    """Whether equal keys are the same value: not so for floats with their two zeros."""
    return are_integers(arrow) or pa.types.is_string(arrow) or pa.types.is_large_string(arrow)
