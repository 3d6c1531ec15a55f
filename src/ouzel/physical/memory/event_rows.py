"""The rows of retained events, without the columns that can be had otherwise.

The time column says what the times say, a key column what the partitions say, and some columns what kernels take.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
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
        # the columns that a partition's key tells and their places in it, and those that are kept as they are
        self._keys: dict[str, int] = {}
        self._kept: list[str] = []
        self.are_read = True
        """Whether anybody asks for more of events than when they were."""

    def borrow(self, columns: dict[str, tuple[Growing, Growing]]) -> None:
        """Take some columns from values and null flags that somebody else keeps of every event."""
        self._borrowed = columns
        self._learn()
        self.chunks.select(self._kept)

    def begin(self, table: pa.Table) -> None:
        """Learn from the first batch which columns there are."""
        if self._schema is None:
            self._schema = table.schema
            self._learn()

    def _learn(self) -> None:
        assert self._schema is not None
        keys = [column for column, _test in self.partitions.tests]
        # to the last bit
        exact = {field.name for field in self._schema if field.name in keys and _is_exact(field.type)}
        self._keys = {name: keys.index(name) for name in keys if name in exact}
        self._kept = [
            field.name
            for field in self._schema
            if self.are_read
            and field.name not in self._keys
            and field.name not in self._borrowed
            and not (field.name == self.time and are_integers(field.type))
        ]

    def add(self, table: pa.Table, rows: Integers) -> None:
        """Keep some rows of a batch."""
        if self._kept and len(rows):
            self.chunks.add(table.select(self._kept), rows)

    def keep(self, kept: Any) -> None:
        """Drop all rows but those for which a flag is set."""
        if self._kept:
            self.chunks.keep(kept)

    def taken(
        self,
        numbers: Integers,
        rows: Integers,
        pushed: tuple[pa.Table, Integers] | None,
        times: Array,
        parts: Array,
        wanted: Collection[str] | None,
    ) -> pa.Table:
        """Some events, given in order, with some columns or all; their times and partitions say some of these.

        The first of them are `rows` here, the others rows of a batch that was `pushed` and not added yet.
        """
        assert self._schema is not None
        fields = [field for field in self._schema if wanted is None or field.name in wanted]
        schema = self._schema if wanted is None else pa.schema(fields)
        if not len(numbers):
            return schema.empty_table()
        names = [field.name for field in fields]
        held = self._held([name for name in self._kept if name in names], rows, pushed)
        are_keys = self.partitions.keys is not None and not self._keys.keys().isdisjoint(names)
        keys = self.partitions.keys.keys(parts) if are_keys and self.partitions.keys is not None else None
        columns: list[Any] = []
        for field in fields:
            if keys is not None and field.name in self._keys:
                columns.append(keys.column(self._keys[field.name]))
            elif field.name in self._borrowed:
                values, nulls = (one.values[numbers] for one in self._borrowed[field.name])
                columns.append(pa.array(values, field.type, mask=nulls))
            elif field.name in self._kept:
                assert held is not None
                columns.append(held.column(field.name))
            else:
                column = pa.array(times)
                columns.append(column if field.type == column.type else column.cast(field.type))
        return pa.table(columns, schema=schema)

    def _held(self, names: list[str], rows: Integers, pushed: tuple[pa.Table, Integers] | None) -> pa.Table | None:
        """The columns that are kept as they are, of rows that are kept and then of others."""
        if not names:
            return None
        tables = self.chunks.taken(rows, names)
        if pushed is not None:
            table, places = pushed
            tables.append(table.select(names).take(pa.array(places)))
        return pa.concat_tables(tables)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All rows, with the columns that are borrowed, and an empty table that has all columns."""
        if self._schema is None:
            return {}
        rows = pa.concat_tables([self._schema.empty_table().select(self._kept), *self.chunks.tables])
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
        if self._schema is not None:
            self._learn()
        if count and self._kept:
            self.chunks.add(state["rows"].select(self._kept), np.arange(count))


def _is_exact(arrow: pa.DataType) -> bool:
    """Whether equal keys are the same value: not so for floats with their two zeros."""
    return are_integers(arrow) or pa.types.is_string(arrow) or pa.types.is_large_string(arrow)
