"""Batches of one schema on their way in: what depends on the schema alone is found out once.

A batch in which nothing is malformed is an event table after a few looks at its columns.  Any other is read by
`ingest`, which says what is wrong with it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ouzel.logical.schema import UNTYPED
from ouzel.logical.times import EARLIEST, LATEST
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.event_types import EventTypes
from ouzel.physical.meaning import owned
from ouzel.runtimes.ingest import Used, ingest
from ouzel.runtimes.odd_days import holds_dates
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading, type_column_of


class Intake:
    """Reads batch after batch; their events are ordered by time alone, as whoever orders them looks further."""

    def __init__(self, schema: pa.Schema, reading: Reading, used: Used) -> None:
        """Find out how batches of a schema are read; an error if they cannot be.  `used` says what queries use."""
        self.reading, self._used = reading, used
        self.report = Report()
        self.none = ingest(schema.empty_table(), reading, self.report)[0]
        self._time, self._type = reading.time, type_column_of(schema.names, reading)
        self._ordering = [name for name in reading.order if name != reading.time]
        self._declared = tuple(self.none.schema.types) if self.none.schema.declared else None
        arrow = schema.field(reading.time).type
        self._is_simple = (
            reading.start is None
            and self.none.table.schema.equals(schema)
            and (pa.types.is_int64(arrow) or pa.types.is_timestamp(arrow))
            and (self._type is None or pa.types.is_string(schema.field(self._type).type))
            # of a dictionary each batch may have another one, and such dates may be none
            and not any(pa.types.is_dictionary(field.type) or holds_dates(field.type) for field in schema)
        )

    def read(self, table: pa.Table, report: Report) -> EventTable:
        """The events of a batch; `report` is told how many they are, and what is malformed."""
        events = self._well_formed(table) if self._is_simple else None
        if events is None:
            return ingest(table, self.reading, report, self._used)[0]
        report.events = len(events)
        return events

    def _well_formed(self, table: pa.Table) -> EventTable | None:
        """The events of a batch, if nothing is malformed."""
        if not table.num_rows or any(table.column(name).null_count for name in self._ordering):
            return None
        ticks, types = self._ticks(table.column(self._time)), self._types(table)
        if ticks is None or types is None:
            return None
        return EventTable.of_moments(table, self.none.schema, types, ticks, ticks)

    def _ticks(self, column: pa.ChunkedArray) -> Integers | None:
        if column.null_count:
            return None
        ticks = owned(column.to_numpy()).view(np.int64)
        first, last = (ticks[0], ticks[0]) if len(ticks) == 1 else (ticks.min(), ticks.max())
        return ticks if first >= EARLIEST and last <= LATEST else None

    def _types(self, table: pa.Table) -> EventTypes | None:
        if self._type is None:
            return EventTypes(None, (UNTYPED,), np.zeros(table.num_rows, np.int32))
        column = table.column(self._type)
        if column.null_count:
            return None
        types = EventTypes.of_column(column, self._type)
        if self._declared is None:
            return types
        codes = types.among(self._declared)
        return EventTypes(None, self._declared, codes) if codes.min() >= 0 else None
