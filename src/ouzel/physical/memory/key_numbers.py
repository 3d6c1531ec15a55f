"""Numbers for the keys of partitions, from batch to batch.

A key that is one integer or time is found in a hash table of a few bytes a key; any other is a Python value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.kernels import numbering
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import Integers
from ouzel.physical.meaning import python_values
from ouzel.physical.memory.chunks import Chunks
from ouzel.physical.memory.growing import Growing


def are_integers(arrow: pa.DataType) -> bool:
    """Whether values of a type are integers of 64 bits, and nothing is lost in between."""
    return pa.types.is_timestamp(arrow) or (pa.types.is_integer(arrow) and not pa.types.is_uint64(arrow))


class KeyNumbers:
    """Numbers keys from 0 in the order of their appearance; keys are rows of a table."""

    def __init__(self, schema: pa.Schema) -> None:
        """Begin with no keys."""
        self.schema = schema
        self.count = 0
        self._direct = len(schema) == 1 and are_integers(schema.field(0).type)
        self._values = Growing(np.int64)
        self._slots: Array = np.zeros(0, np.int32)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._rows = Chunks()

    @property
    def are_integers(self) -> bool:
        """Whether a key is one integer or time."""
        return self._direct

    def number(self, keys: pa.Table) -> Integers:
        """The numbers of keys; keys that are new get new ones, and one with a null has none: -1."""
        if self._direct and not keys.column(0).null_count:
            return self.of_integers(_integers(keys.column(0)))
        values = list(zip(*map(python_values, keys.columns), strict=True))
        if self._direct:
            inside = np.array([value is not None for (value,) in values], np.bool_)
            numbers = np.full(len(values), -1, np.int64)
            numbers[inside] = self.of_integers(_integers(keys.column(0).drop_null()))
            return numbers
        known = self._numbers
        found = [-1 if None in key else known.setdefault(key, len(known)) for key in values]
        numbers = np.array(found, np.int64)
        if len(known) > self.count:
            # the first of each new key, in the order of their numbers
            _new, first = np.unique(np.where(numbers < self.count, -1, numbers), return_index=True)
            first = first[len(first) - (len(known) - self.count) :]
            self._rows.add(keys, first)
            self.count = len(known)
        return numbers

    def of_integers(self, keys: Array) -> Integers:
        """The numbers of keys that are integers."""
        numbers = np.empty(len(keys), np.int64)
        self._values.reserve(len(keys))
        self._make_room(self.count + len(keys))
        self.count = self._find(keys, self.count, numbers)
        self._values.count = self.count
        return numbers

    def _find(self, keys: Array, count: int, numbers: Integers) -> int:
        kernel = kernel_of(numbering.number_keys, len(keys))
        return int(kernel(keys, self._values.data, count, self._slots, numbers))

    def _make_room(self, keys: int) -> None:
        if 2 * len(self._slots) >= 3 * keys:
            return
        self._slots = np.full(1 << max(10, (2 * keys).bit_length()), -1, np.int32)
        self._find(self._values.values.copy(), 0, np.empty(self.count, np.int64))

    def keep(self, kept: Integers) -> None:
        """Forget all keys but some, which are numbered anew in the order given."""
        self.count = len(kept)
        if self._direct:
            self._values = Growing(np.int64, self._values.values[kept])
            self._slots = np.zeros(0, np.int32)
            return
        names = list(self._numbers)
        self._numbers = {names[old]: new for new, old in enumerate(kept.tolist())}
        flags = np.zeros(len(names), np.bool_)
        flags[kept] = True
        self._rows.keep(flags)

    def keys(self, numbers: Integers | None = None) -> pa.Table:
        """The keys that some numbers stand for, or all."""
        if self._direct:
            values = self._values.values if numbers is None else self._values.values[numbers]
            return pa.table([pa.array(values).cast(self.schema.field(0).type)], schema=self.schema)
        if numbers is None:
            return pa.concat_tables([self.schema.empty_table(), *self._rows.tables])
        used, places = np.unique(numbers, return_inverse=True)
        found = pa.concat_tables([self.schema.empty_table(), *self._rows.taken(used)]).combine_chunks()
        return found.take(pa.array(places))


def _integers(column: pa.ChunkedArray) -> Array:
    values: Array = column.cast(pa.int64()).to_numpy().copy()
    return values
