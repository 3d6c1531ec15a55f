"""Events on their way to a kernel: in order of time, masked by component, numbered by partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ouzel.kernels import jit
from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.operands import Array, Operands, encoded
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.reference.events import python_values

# Below so many events, running the source as it is beats compiling it.
COMPILE_FROM = 20_000
# The length of a window where there is none; times must lie closer together than that.
NO_LIMIT = 2**62


@dataclass(frozen=True)
class Prepared:
    """The events that some component wants, in order of time.

    `rows` are their rows in the event table, `masks` one bit per component, `parts` their partitions, `moments`
    what orders them, `clocks` what windows measure: times, or positions in the partition.
    """

    rows: Integers
    masks: Integers
    parts: Integers
    part_count: int
    moments: Integers
    clocks: Integers

    def by_partition(self) -> Prepared:
        """The events of each partition together, still in order of time."""
        if self.part_count == 1:
            return self
        return self._taken(np.argsort(self.parts, kind="stable"))

    def none(self) -> Prepared:
        """No events at all."""
        return self._taken(np.zeros(0, np.int64))

    def _taken(self, places: Integers) -> Prepared:
        arrays = (self.rows, self.masks, self.parts, self.moments, self.clocks)
        rows, masks, parts, moments, clocks = (one[places] for one in arrays)
        return Prepared(rows, masks, parts, self.part_count, moments, clocks)


def kernel_of(source: str, events: int) -> jit.Kernel:
    """The kernel of generated source, compiled where that pays."""
    return jit.compiled(source) if jit.is_enabled() and events >= COMPILE_FROM else jit.interpreted(source)


def prepare(query: BoundQuery, events: EventTable, filters: Filters, *, keep_all: bool = False) -> Prepared:
    """Select, order, mask and partition the events of a query; `keep_all` keeps those no component wants."""
    if events.has_intervals:
        raise UnsuitableError("composite events last, and compiled kernels know moments only")
    wanted = _type_masks(query, events)
    counts = query.window is not None and query.window.counts_events
    rows = np.arange(len(events)) if counts or keep_all else np.flatnonzero(wanted != 0)
    moments = events.ends[rows]
    if np.any(moments[1:] < moments[:-1]):
        order = np.argsort(moments, kind="stable")
        rows, moments = rows[order], moments[order]
    parts, part_count = _partitions(query, events.table, rows)
    clocks = _positions(moments, parts, part_count) if counts else events.end_times[rows]
    if len(clocks) and int(clocks.max()) - int(clocks.min()) >= NO_LIMIT:
        raise UnsuitableError("the times are so far apart that their differences do not fit into 64 bits")
    masks = filters.apply(wanted[rows].astype(np.int64), events.table, rows, events.end_times[rows])
    prepared = Prepared(rows, masks, parts, part_count, moments, clocks)
    inside = parts >= 0
    kept = np.flatnonzero(inside if keep_all else inside & (masks != 0))
    return prepared if len(kept) == len(rows) else prepared._taken(kept)


def _type_masks(query: BoundQuery, events: EventTable) -> Array:
    """For every event, one bit for each component that binds events of its type."""
    names = tuple(sorted({name for component in query.components for name in component.type_names}))
    bits = [sum(1 << c.position for c in query.components if name in c.type_names) for name in names]
    smallest = np.uint8 if len(query.components) <= 8 else np.int64
    return np.array([*bits, 0], smallest)[events.types.among(names)]


# ---- partitions ------------------------------------------------------------------------------------------


def _partitions(query: BoundQuery, table: pa.Table, rows: Integers) -> tuple[Integers, int]:
    """Number the partitions; an event with a null in its key is in none and gets -1."""
    parts, count = np.zeros(len(rows), np.int64), 1
    for test in query.equivalences:
        column = table.column(key_column(query, test)).take(pa.array(rows))
        codes, distinct = _numbered(column, None if test.constant is None else test.constant.value)
        parts, count = _combined(parts, count, codes, distinct)
    return parts, count


def key_column(query: BoundQuery, test: EquivalenceTest) -> str:
    """The column that an equivalence test compares."""
    names = {test.column(name) for component in query.components for name in component.type_names}
    name = names.pop()
    if name is None or names:
        raise UnsuitableError(f"'{test.attribute}' is not one column of all components")
    return name


def _numbered(column: pa.ChunkedArray, constant: object) -> tuple[Integers, int]:
    """Number the values of a key column from 0, -1 for null; with a constant, all but its value are null."""
    direct = _small_integers(column) if constant is None else None
    if direct is not None:
        return direct
    codes, values = encoded(column)
    if constant is not None:
        known = python_values(pa.chunked_array([values]))
        chosen = np.array([value == constant for value in known] + [False], np.bool_)
        return np.where(chosen[codes], 0, -1), 1
    return codes, max(len(values), 1)


def _small_integers(column: pa.ChunkedArray) -> tuple[Integers, int] | None:
    """Integers of a small range are numbers already."""
    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return None
    values: Integers = column.to_numpy().astype(np.int64, copy=False)
    low, high = int(values.min()), int(values.max())
    return (values - low, high - low + 1) if high - low < max(4 * len(values), 1024) else None


def _combined(parts: Integers, count: int, codes: Integers, distinct: int) -> tuple[Integers, int]:
    """Number the pairs of two numberings, closing gaps where there would be too many."""
    joined = np.where((parts < 0) | (codes < 0), -1, parts * distinct + codes)
    if count * distinct <= max(4 * len(parts), 1024):
        return joined, count * distinct
    known, numbers = np.unique(joined, return_inverse=True)
    shift = int(len(known) > 0 and known[0] == -1)
    return numbers.astype(np.int64) - shift, max(len(known) - shift, 1)


def _positions(moments: Integers, parts: Integers, part_count: int) -> Integers:
    """The position of every event: how many events of its partition are over before it."""
    kernel = kernel_of(_POSITIONS, len(moments))
    return kernel(moments, parts, part_count)  # type: ignore[no-any-return]


_POSITIONS = """
@jit
def kernel(moments, parts, part_count):
    positions = np.zeros(len(moments), np.int64)
    seen = np.zeros(part_count, np.int64)
    before = np.zeros(part_count, np.int64)
    latest = np.zeros(part_count, np.int64)
    for i in range(len(moments)):
        p = parts[i]
        if p < 0:
            continue
        if seen[p] == 0 or moments[i] != latest[p]:
            latest[p] = moments[i]
            before[p] = seen[p]
        positions[i] = before[p]
        seen[p] += 1
    return positions
"""


# ---- conditions on single events -------------------------------------------------------------------------


class Filters:
    """Conditions on one event each, evaluated once per event into the mask of its component."""

    def __init__(self, conjuncts: list[tuple[Component, list[Conjunct]]]) -> None:
        """Write the kernel."""
        self.operands = Operands()
        emitter = Emitter(self.operands, depth=2)
        emitter.line("m = masks[i]")
        for component, own in conjuncts:
            if own:
                self._filter(emitter, component, own)
        emitter.line("masks[i] = m")
        self.is_empty = not any(own for _component, own in conjuncts)
        head = f"@jit\ndef kernel(masks, {self.operands.parameters}):\n    for i in range(len(masks)):\n"
        self.source = head + "\n".join(emitter.lines) + "\n    return masks\n"

    def _filter(self, emitter: Emitter, component: Component, conjuncts: list[Conjunct]) -> None:
        bit = 1 << component.position
        emitter.line(f"if m & {bit}:")
        emitter.depth += 1
        for conjunct in conjuncts:
            flag = emitter.holds(conjunct, ByVariable({component.variable: "i"}))
            emitter.line(f"if not ({flag}):")
            emitter.line(f"    m &= ~{bit}")
        emitter.depth -= 1

    def apply(self, masks: Integers, table: pa.Table, rows: Integers, times: Integers) -> Integers:
        """The masks without the components whose conditions an event fails."""
        if self.is_empty:
            return masks
        arguments: list[Array] = self.operands.arguments(table, rows, times)
        return kernel_of(self.source, len(rows))(masks, *arguments)  # type: ignore[no-any-return]
