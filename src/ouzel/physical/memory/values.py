"""The values that conditions on several events compare, of all events that are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.values import Kind
from ouzel.physical.compiled.fill import Failing, Wanted, settled
from ouzel.physical.compiled.operands import HEAD, TIME, TIMES, Operands
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.memory.growing import Growing
from ouzel.physical.memory.intervals import Intervals


class Values:
    """The columns that kernels take, from batch to batch."""

    def __init__(self, operands: Operands, *, once: bool) -> None:
        """Begin with no events."""
        self.operands = operands
        self.once = once
        self.texts = Texts(operands.texts)
        self._columns: list[Growing] = []
        self._arguments: list[Any] = []

    def add(self, events: EventTable, rows: Integers, times: Integers, wanted: Wanted | None = None) -> None:
        """Add the events of a batch; `wanted` tells which of them a variable may be bound to.

        Without it, they are events that were there before: what could not be computed then, nobody asks for.
        """
        self._arguments = self.operands.arguments(events, rows, times, self.texts, wanted)
        if self.once:
            return
        if wanted is not None:
            settled(self._arguments)
        self._arguments = [one.nulls if isinstance(one, Failing) else one for one in self._arguments]
        if not self._columns:
            self._columns = [Growing(one.dtype) for one in self._arguments[HEAD:]]
        for number, one in enumerate(self._arguments[HEAD:]):
            if self.operands.columns[number // 2][0] not in TIMES:
                self._columns[number].extend(one)
        self._arguments = self._arguments[:HEAD]

    def exact(self, schema: pa.Schema) -> dict[str, tuple[Growing, Growing]]:
        """The columns of events that are here to the last bit: their values and null flags."""
        return {
            name: (self._columns[2 * number], self._columns[2 * number + 1])
            for number, (name, _type) in enumerate(self.operands.columns)
            if isinstance(name, str)
            and name in schema.names
            and schema.field(name).type in (pa.int64(), pa.float64())
        }

    def arguments(self, intervals: Intervals) -> list[Any]:
        """The arguments for a kernel."""
        if self.once:
            return self._arguments
        arrays = [one.values for one in self._columns]
        for number, (column, _type) in enumerate(self.operands.columns):
            if column in TIMES:
                arrays[2 * number] = (intervals.end_times if column == TIME else intervals.start_times).values
        return [*self._arguments, *arrays]

    def keep(self, kept: Any, begin: int = 0) -> None:
        """Keep those of the events from `begin` on for which a flag is set."""
        for number, column in enumerate(self._columns):
            if self.operands.columns[number // 2][0] not in TIMES:
                column.keep(kept, begin)

    def forget(self) -> None:
        """Forget texts that no event has."""
        if not self.texts:
            return
        known = list(self.texts)
        kinds = [value_type.kind for _column, value_type in self.operands.columns]
        columns = [self._columns[2 * n] for n, kind in enumerate(kinds) if kind is Kind.STRING]
        # those that the query mentions have the first numbers, and keep them
        kept = each_once(np.arange(len(self.operands.texts)), *(one.values for one in columns))
        numbers = np.zeros(len(known), np.int64)
        numbers[kept] = np.arange(len(kept))
        self.texts = Texts({known[number]: place for place, number in enumerate(kept.tolist())})
        for column in columns:
            column.values[:] = numbers[column.values]
