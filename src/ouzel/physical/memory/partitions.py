"""The partitions of a stream: numbers for their keys, kept over all batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.kernels import numbering
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.compiled.share import in_threads, picked
from ouzel.physical.event_table import EventTable, Integers, are_all
from ouzel.physical.limits import Room
from ouzel.physical.meaning import constant_key, encoded, key_values, plain
from ouzel.physical.memory.growing import Growing
from ouzel.physical.memory.key_numbers import KeyNumbers, are_integers
from ouzel.physical.memory.spread import ANY, Spread
from ouzel.physical.recycled import recycled

# The name of a key that is in several columns.
SEVERAL = "\0several"
# So few keys are looked up one by one in less time than Arrow takes to begin.
FEW = 32
# No event is at that moment.
LEAST = -(2**63)


class Partitions:
    """Numbers the partitions, and counts the events of each if the window asks for it.

    Where there is but one batch, its own numbering is all that is needed: no key need be kept.
    """

    def __init__(self, query: BoundQuery, *, once: bool, tests: Sequence[EquivalenceTest] | None = None) -> None:
        """Begin with no partition, or, without equivalence tests, with one; `tests` are all, or some of them."""
        tests = query.equivalences if tests is None else tests
        self.tests = [(key_column(query, test), test) for test in tests]
        self._types = set(query.schema.types) if query.minds_all_events else set()
        self._outside = tuple(sorted(name for name in self._types if any(test.is_outside(name) for test in tests)))
        self.once = once
        self._has_constants = any(test.constant is not None for test in tests)
        one_column = len(self.tests) == 1 and self.tests[0][0] != SEVERAL
        self._is_direct = one_column and not once and not self._has_constants
        self.keys: KeyNumbers | None = None
        self.shared: Spread | None = None
        self.count = 0 if self.tests else 1
        self.counts = query.window is not None and query.window.counts_events
        self._seen, self._over, self._latest = (Growing(np.int64) for _ in range(3))
        self._serials, self._next_serial = Growing(np.int64), 0

    @property
    def seen(self) -> Integers:
        """How many events of each partition there were, if the window counts them."""
        self._seen.fill(self.count * self.counts, 0)
        return self._seen.values

    def number(self, events: EventTable, rows: Integers, threads: int = 1) -> Integers:
        """The partitions of some rows; one with a null in its key is in none and gets -1."""
        if not self.tests:
            return np.zeros(len(rows), np.int64)
        parts = self._number(events, rows, threads)
        if self._outside:
            # the column may hold something for events whose type does not have the attribute
            parts = np.where(events.types.among(self._outside)[rows] >= 0, -1, parts)
        return parts

    def spread(self, events: EventTable, rows: Integers, room: Room, threads: int = 1) -> Spread:
        """The partitions of some rows, all that there are, where a row may be in several."""
        keys = []
        outside = events.types.among(self._outside)[rows] >= 0 if self._outside else False
        for column, test in self.tests:
            taken = self._taken(events, rows, column, test, threads)
            codes, _count = _numbered(taken, test, is_word=column == SEVERAL)
            lacking = events.types.among(test.types_by_column.get(None, ()))[rows] >= 0
            # a constant is the key of events that lack the attribute, too
            codes = np.where(lacking, ANY if test.constant is None else 0, codes)
            keys.append(np.where(outside, -1, codes))
        self.shared = Spread(rows, keys, room)
        self.count = self.shared.count
        return self.shared

    def _number(self, events: EventTable, rows: Integers, threads: int) -> Integers:
        if self._is_direct and (whole := _whole(events.table.column(self.tests[0][0]))) is not None:
            return self._counted(self._keys_of([whole[0]]).of_integers(picked(whole[1], rows, threads)))
        if self.once and (dense := self._dense(events, rows, threads)) is not None:
            parts, self.count = dense
            return parts
        taken = [self._taken(events, rows, column, test, threads) for column, test in self.tests]
        if len(rows) <= FEW and not self.once and not self._has_constants:
            keys = pa.table(taken, names=self._names)
            return self._counted(self._keys_of(keys.schema.types).number(keys))
        parts, count = np.zeros(len(rows), np.int64), 1
        for column, (name, test) in zip(taken, self.tests, strict=True):
            codes, distinct = _numbered(column, test, is_word=name == SEVERAL)
            parts, count = _combined(parts, count, codes, distinct)
        if self.once:
            self.count = count
            return parts
        return self._known(taken, parts, count)

    def _dense(self, events: EventTable, rows: Integers, threads: int) -> tuple[Integers, int] | None:
        """The partitions of rows whose keys are integers of small ranges, which are numbers already; how many."""
        names = [name for name, _test in self.tests]
        if self._has_constants or SEVERAL in names or not len(rows):
            return None
        columns = [whole[1] for name in names if (whole := _whole(events.table.column(name))) is not None]
        if len(columns) < len(names):
            return None
        is_whole = are_all(rows, len(events))
        keys: list[Integers] = columns if is_whole else [recycled(len(rows)) for _ in columns]
        parts: Integers = recycled(len(rows)) if is_whole else keys[0]

        def take(begin: int, end: int) -> list[tuple[int, int]]:
            for column, key in zip(columns, keys, strict=True):
                if not is_whole:
                    np.take(column, rows[begin:end], out=key[begin:end], mode="clip")
            return [(int(key[begin:end].min()), int(key[begin:end].max())) for key in keys]

        def combine(begin: int, end: int) -> None:
            own = np.subtract(keys[0][begin:end], lows[0], out=parts[begin:end])
            for key, low, size in zip(keys[1:], lows[1:], sizes[1:], strict=True):
                own *= size
                own += key[begin:end]
                own -= low

        spans = list(zip(*in_threads(take, len(rows), threads), strict=True))
        lows = [min(low for low, _high in span) for span in spans]
        sizes = [max(high for _low, high in span) - low + 1 for span, low in zip(spans, lows, strict=True)]
        if math.prod(sizes) > _most_numbers(len(rows)):
            return None
        in_threads(combine, len(rows), threads)
        return parts, math.prod(sizes)

    def _taken(
        self, events: EventTable, rows: Integers, column: str, test: EquivalenceTest, threads: int
    ) -> pa.ChunkedArray:
        """What a test compares of some rows; of several columns, texts that are equal if their values are."""
        if column != SEVERAL:
            # of integers, all that matters of one batch is which are equal: Arrow takes some times as long
            whole = _whole(events.table.column(column)) if self.once and test.constant is None else None
            if whole is not None:
                numbers = whole[1] if are_all(rows, len(events)) else picked(whole[1], rows, threads)
                return pa.chunked_array([pa.array(numbers)])
            return _comparable(events.column(column, rows))
        words = np.full(len(rows), None, object)
        minded = self._types | test.pattern_types
        for name in sorted({held for one in minded if (held := test.column(one)) is not None}):
            types = tuple(sorted(one for one in minded if test.column(one) == name))
            places = np.flatnonzero(events.types.among(types)[rows] >= 0)
            codes, values = encoded(events.table.column(name).take(pa.array(rows[places])))
            known = key_values(pa.chunked_array([values]), real=test.is_real)
            words[places] = np.array([*map(key_word, known), None], object)[codes]
        return pa.chunked_array([pa.array(words, pa.string())])

    def _known(self, columns: list[pa.ChunkedArray], parts: Integers, count: int) -> Integers:
        """The numbers that partitions of this batch had in earlier ones, new numbers for new ones."""
        # where an index occurs several times, the last value stays: here that of the first row
        first = np.full(count + 1, -1, np.int64)
        first[parts[::-1]] = np.arange(len(parts))[::-1]
        present = np.flatnonzero(first[:-1] >= 0)
        first = first[present]
        keys = pa.table([column.take(pa.array(first)) for column in columns], names=self._names)
        known = np.full(count + 1, -1, np.int64)
        known[present] = self._counted(self._keys_of(keys.schema.types).number(keys))
        return known[parts]

    def _keys_of(self, types: Sequence[pa.DataType]) -> KeyNumbers:
        if self.keys is None:
            self.keys = KeyNumbers(pa.schema(list(zip(self._names, types, strict=True))))
        return self.keys

    def _counted(self, numbers: Integers) -> Integers:
        assert self.keys is not None
        self.count = self.keys.count
        return numbers

    def serials(self, parts: Integers) -> Integers:
        """Numbers that stand for partitions as long as these are kept, whatever others are forgotten."""
        new = self.count - len(self._serials)
        self._serials.extend(np.arange(self._next_serial, self._next_serial + new))
        self._next_serial += new
        return np.where(parts < 0, -1, self._serials.values[parts]) if len(self._serials) else parts

    @property
    def _names(self) -> list[str]:
        return [f"k{number}" for number in range(len(self.tests))]

    def keep(self, kept: Integers) -> Integers:
        """Forget all partitions but some; the new number of every old one, -1 for those forgotten."""
        numbers = np.full(self.count + 1, -1, np.int64)
        numbers[kept] = np.arange(len(kept))
        if self.keys is not None:
            self.keys.keep(kept)
            for column in (self._seen, self._over, self._latest, self._serials):
                column.pick(kept[kept < len(column)])
            self.count = len(kept)
        return numbers

    def state(self) -> dict[str, Any]:
        """The keys in the order of their numbers, and the events of each partition so far."""
        state = {"seen": self.seen.copy(), "serials": self._serials.values.copy(), "next": self._next_serial}
        return state | ({} if self.keys is None else {"keys": self.keys.keys()})

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self._seen, self._serials = Growing(np.int64, state["seen"]), Growing(np.int64, state["serials"])
        self._over, self._latest = Growing(np.int64), Growing(np.int64)
        self._next_serial = state["next"]
        self.keys = None
        if "keys" in state:
            self.keys = KeyNumbers(state["keys"].schema)
            self.keys.number(state["keys"])
            self.count = self.keys.count

    def count_on(self, seen: Integers) -> None:
        """Go on counting events, of which there were so many in each partition."""
        self._seen, self._over, self._latest = Growing(np.int64, seen), Growing(np.int64), Growing(np.int64)

    def positions(self, moments: Integers, parts: Integers) -> Integers:
        """The position of every event: how many events of its partition are over before it."""
        self._over.fill(self.count, 0)
        self._latest.fill(self.count, LEAST)
        counted = self.seen, self._over.values, self._latest.values
        positions: Integers = recycled(len(moments))
        kernel_of(numbering.number_positions, len(moments))(moments, parts, *counted, positions)
        return positions


def key_column(query: BoundQuery, test: EquivalenceTest) -> str:
    """The column that an equivalence test compares, SEVERAL if types of events hold the attribute in their own."""
    return query.key_column(test) or SEVERAL


def key_word(value: Any) -> str | None:
    """A key as a text, the same for equal values of whatever type; what does not equal itself has none.

    >>> key_word(2), key_word(2.0), key_word(Decimal("2.00")), key_word("2")
    ('2', '2', '2', "'2'")
    """
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        return str(Fraction(value))
    return None if value is None or value != value else repr(value)  # noqa: PLR0124


def _whole(column: pa.ChunkedArray) -> tuple[pa.DataType, Integers] | None:
    """A column of integers or times as integers, and their type; None if it is something else, or has nulls."""
    arrow = column.type
    if column.null_count or not are_integers(arrow):
        return None
    values = (column.chunk(0) if column.num_chunks == 1 else column).to_numpy()
    return arrow, values.view(np.int64) if pa.types.is_timestamp(arrow) else values.astype(np.int64, copy=False)


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A key column with one value for all that are equal; what does not equal itself is in no partition."""
    column = plain(column)
    if pa.types.is_floating(column.type):
        # of the two zeros, the sum is the positive one
        column = pc.add(column.cast(pa.float64()), 0.0)
        return pc.if_else(pc.is_nan(column), None, column)
    return column


def _numbered(column: pa.ChunkedArray, test: EquivalenceTest, *, is_word: bool) -> tuple[Integers, int]:
    """Number the values of a key column from 0, -1 for null; with a constant, all but its value are null."""
    direct = _small_integers(column) if test.constant is None else None
    if direct is not None:
        return direct
    codes, values = encoded(column)
    if test.constant is not None:
        known, wanted = key_values(pa.chunked_array([values]), real=test.is_real), constant_key(test)
        wanted = key_word(wanted) if is_word else wanted
        chosen = np.array([value == wanted for value in known] + [False], np.bool_)
        return np.where(chosen[codes], 0, -1), 1
    return codes, max(len(values), 1)


def _small_integers(column: pa.ChunkedArray) -> tuple[Integers, int] | None:
    """Integers of a small range are numbers already."""
    whole = are_integers(column.type) and pa.types.is_integer(column.type)
    if not whole or column.null_count or not len(column):
        return None
    values: Integers = column.to_numpy().astype(np.int64, copy=False)
    low, high = int(values.min()), int(values.max())
    if high - low >= _most_numbers(len(values)):
        return None
    return np.subtract(values, low, out=recycled(len(values))), high - low + 1


def _most_numbers(rows: int) -> int:
    """How many numbers there may be, used or not, for the keys of so many rows."""
    return max(4 * rows, 1024)


def _combined(parts: Integers, count: int, codes: Integers, distinct: int) -> tuple[Integers, int]:
    """Number the pairs of two numberings, closing gaps where there would be too many."""
    if count == 1 and parts.min(initial=0) == 0:
        return codes, distinct
    joined: Integers = np.multiply(parts, distinct, out=recycled(len(parts)))
    joined += codes
    if min(parts.min(initial=0), codes.min(initial=0)) < 0:
        joined[(parts < 0) | (codes < 0)] = -1
    if count * distinct <= _most_numbers(len(parts)):
        return joined, count * distinct
    known, numbers = np.unique(joined, return_inverse=True)
    shift = int(len(known) > 0 and known[0] == -1)
    return numbers.astype(np.int64) - shift, max(len(known) - shift, 1)
