"""The kernels at work: a batch of events goes onto the stacks, and the sequences of its ends come out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.kernels.jit import Kernel
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.share import each_in_a_thread
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits
from ouzel.physical.memory.growing import Growing
from ouzel.physical.scan.construction_source import Scratch
from ouzel.physical.scan.memory import Memory

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan

# So many matches there is room for at first.
_ROOM = 1_024


class TooManyError(Exception):
    """There are more sequences than are allowed, or fit."""


@dataclass(frozen=True)
class Constructed:
    """Sequences as columns of event numbers, one for each component; and how many were shed."""

    columns: list[Array]
    shed: int


class Construction:
    """Scan and construction of one plan, on the stacks that are in memory."""

    def __init__(self, plan: ScanPlan, memory: Memory, limits: Limits) -> None:
        """Begin with what memory has."""
        self.plan = plan
        self.memory = memory
        self.limits = limits
        self._scratch = _scratch(plan)
        self._end_columns = len(plan.shape.fields(plan.shape.depth))
        self._end_bit = 1 << plan.shape.positives[-1].bit

    def scan(self, masks: Integers, base: int) -> list[Array]:
        """Push the latest events, of which the first has the number `base`; the ends among them, as columns."""
        memory, stacks = self.memory, self.memory.stacks
        if not len(masks):
            return [np.empty(0, np.int32)]
        retained, counts = memory.retained, stacks.counts()
        ends = np.count_nonzero(masks & self._end_bit)
        columns: list[Array] = [np.empty(ends, np.int32) for _ in range(self._end_columns)]
        stacks.reserve(len(masks), memory.keys.counts())
        kernel = long_kernel_of(self.plan.scan_source, len(masks))
        count = kernel(
            *(base, masks, retained.clocks, self.plan.limit, counts),
            *(*memory.keys.arrays(retained), *stacks.tops, *stacks.nodes_by_level, *columns),
            *(stacks.refuting.data, *stacks.lists),
        )
        stacks.added(counts)
        return [one[:count] for one in columns]

    def sequences(self, ends: list[Array], most: int, threads: int, own: int) -> Constructed:
        """The sequences of some ends, in order; at most so many, which several threads construct if they can.

        Where their number is not known before, each thread makes `own` at most.
        """
        count = len(ends[0])
        if not count:
            return Constructed([np.empty(0, np.int32)] * self.plan.shape.length, 0)
        share = 1 / count
        parts = list(pairwise(count * k // threads for k in range(threads + 1)))
        if self.plan.counts_first and self.memory.once and not self.limits.sheds:
            return Constructed(self._counted(ends, parts, most, share), 0)
        if threads == 1:
            return self._grown(ends, parts[0], most, self._scratch, share)
        most_each = min(most, own)
        work = each_in_a_thread(lambda part: self._grown(ends, part, most_each, _scratch(self.plan), share), parts)
        columns = [np.concatenate(column) for column in zip(*(one.columns for one in work), strict=True)]
        if len(columns[0]) > most:
            raise TooManyError
        return Constructed(columns, 0)

    def _counted(self, ends: list[Array], parts: list[tuple[int, int]], most: int, share: float) -> list[Array]:
        """Sequences whose number can be counted first: then all threads write into the same columns."""
        scratches = [_scratch(self.plan) for _ in parts]
        none = [np.empty(0, np.int32)] * self.plan.shape.length

        def count(number: int) -> int:
            kernel = self._kernel(ends, scratches[number])
            return int(kernel(False, *parts[number], 0, 0, most, False, none)[1])

        def fill(number: int) -> None:
            kernel = self._kernel(ends, scratches[number], share)
            kernel(True, *parts[number], begins[number], begins[number + 1], most, False, columns)

        numbers = range(len(parts))
        counts = [count(0)] if len(parts) == 1 else each_in_a_thread(count, numbers)
        begins = [sum(counts[:number]) for number in range(len(parts) + 1)]
        if begins[-1] > most:
            raise TooManyError
        columns = [np.empty(begins[-1], np.int32) for _ in none]
        if len(parts) == 1:
            fill(0)
        else:
            each_in_a_thread(fill, numbers)
        return columns

    def _grown(
        self, ends: list[Array], part: tuple[int, int], most: int, scratch: dict[str, Growing], share: float
    ) -> Constructed:
        """Sequences whose number is not known: there is room for more of them whenever it is needed."""
        kernel, length = self._kernel(ends, scratch, share), self.plan.shape.length
        columns = [Growing(np.int32) for _ in range(length)]
        done, end = part
        found = shed = 0
        room = min(_ROOM, most)
        while done < end:
            for column in columns:
                column.count = found
                column.reserve(room - found, most)
            room = min(len(columns[0].data), most)
            data = [one.data for one in columns]
            done, found, shed = kernel(True, done, end, found, room, most, self.limits.sheds, data)
            if shed and not self.limits.sheds:
                raise TooManyError
            room = min(2 * room, most)
        return Constructed([one.data[:found] for one in columns], shed)

    def _kernel(self, ends: list[Array], scratch: dict[str, Growing], share: float = 0.0) -> Kernel:
        """The kernel for some ends, which takes what to do and the columns to fill."""
        plan, memory = self.plan, self.memory
        counts = memory.stacks.counts()
        for name, (level, _type) in Scratch.names(plan.shape).items():
            scratch[name].reserve(int(counts[level]))
        kernel = long_kernel_of(plan.source, len(memory.retained.pushed[1]), share)
        retained = memory.retained
        events = (retained.starts, retained.ends, retained.start_clocks, retained.clocks, plan.limit)
        keys = memory.keys.arrays(memory.retained)
        nodes = (*memory.stacks.nodes_by_level, *ends, *memory.stacks.lists)
        work = [one.data for one in scratch.values()]
        values = memory.arguments()

        def run(*arguments: Any) -> Any:
            *what, columns = arguments
            return kernel(*what, *events, *columns, *keys, *nodes, *work, *values)

        return run


def _scratch(plan: ScanPlan) -> dict[str, Growing]:
    """What a thread works in, which grows with the stacks."""
    return {name: Growing(np.dtype(kind)) for name, (_level, kind) in Scratch.names(plan.shape).items()}
