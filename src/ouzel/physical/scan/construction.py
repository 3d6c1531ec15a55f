"""The kernels at work: a batch of events goes onto the stacks, and the sequences of its ends come out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.kernels.arithmetic import LEAST
from ouzel.kernels.jit import Kernel
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Array
from ouzel.physical.compiled.share import each_in_a_thread
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits
from ouzel.physical.memory.growing import Growing
from ouzel.physical.scan.construction_source import COUNTLESS, Scratch
from ouzel.physical.scan.memory import Memory
from ouzel.physical.scan.stacks import Stacks
from ouzel.physical.stoppable import LARGE, STEPS, stoppable

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan

# Threads scan on their own if they scan no more than that share of all events again.
MOST_AGAIN = 0.25
# One of so many ends is looked at to guess how many sequences there are; up to so many of each, that is tried.
SAMPLE, FEW_EACH = 64, 64
# So many matches there is room for at first, and so many are written before Ctrl-C could be heard.
_ROOM, FEW = 1_024, 10_000


class TooManyError(Exception):
    """There are more sequences than are allowed, or fit."""


@dataclass(frozen=True)
class Part:
    """Some of the ends, the stacks that lead to them, and what a thread works in that constructs sequences."""

    stacks: Stacks
    ends: list[Array]
    begin: int
    end: int
    scratch: dict[str, Growing]

    def __len__(self) -> int:
        """The number of ends."""
        return self.end - self.begin


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
        self._levels = {name: level for name, (level, _type) in Scratch.names(plan.shape).items()}
        self._end_columns = len(plan.shape.fields(plan.shape.depth))

    # ---- scan --------------------------------------------------------------------------------------------

    def scan(self, masks: Integers, base: int, threads: int) -> tuple[list[Part], int]:
        """Push the latest events, of which the first has the number `base`.

        The ends among them are in as many parts as there are threads; and how many nodes were pushed.
        """
        stretches = self._stretches(len(masks), threads)
        if stretches:
            found = each_in_a_thread(lambda one: self._stretch(masks, *one), stretches)
            return [part for part, _nodes in found], sum(nodes for _part, nodes in found)
        stacks = self.memory.stacks
        before = stacks.nodes
        ends = self._push(stacks, masks, base)
        count = len(ends[0])
        edges = pairwise(count * k // threads for k in range(threads + 1))
        if threads == 1:
            return [Part(stacks, ends, 0, count, self._scratch)], stacks.nodes - before
        return [Part(stacks, ends, *edge, _scratch(self.plan)) for edge in edges], stacks.nodes - before

    def _stretches(self, count: int, threads: int) -> list[tuple[int, int, int]]:
        """Stretches of time that threads scan on their own: where their ends begin and end, and what comes before.

        A node is pushed if one before it is in its window, which was pushed for the same reason.  So whatever
        leads to an end lies in as many windows as there are stacks.  There are no stretches if that is much, if
        windows do not measure time, which rises from event to event, or if stacks are kept for events to come.
        """
        window = self.plan.query.window
        if threads == 1 or not self.memory.once or window is None or window.counts_events:
            return []
        clocks, reach = self.memory.retained.clocks, window.limit * max(self.plan.shape.depth, 1)
        edges = [count * k // threads for k in range(threads + 1)]
        begins = [0] + [int(clocks.searchsorted(max(int(clocks[edge]) - reach, LEAST))) for edge in edges[1:-1]]
        again = sum(edge - begin for edge, begin in zip(edges, begins, strict=False))
        return list(zip(begins, edges, edges[1:], strict=False)) if again <= count * MOST_AGAIN else []

    def _stretch(self, masks: Integers, begin: int, edge: int, end: int) -> tuple[Part, int]:
        """Scan the events from `edge` to `end`, on stacks of their own, to which those from `begin` on lead."""
        stacks = Stacks(self.plan.shape)
        if begin < edge:
            self._push(stacks, masks[begin:edge], begin)
        before = stacks.nodes
        ends = self._push(stacks, masks[edge:end], edge)
        return Part(stacks, ends, 0, len(ends[0]), _scratch(self.plan)), stacks.nodes - before

    def _push(self, stacks: Stacks, masks: Integers, base: int) -> list[Array]:
        """Push events onto stacks; the ends among them, as columns."""
        memory = self.memory
        retained, counts = memory.retained, stacks.counts()
        # room that is never written costs nothing
        columns: list[Array] = [np.empty(len(masks), np.int32) for _ in range(self._end_columns)]
        if not len(masks):
            return columns
        stacks.reserve(len(masks), memory.keys.counts())
        kernel = long_kernel_of(self.plan.scan_source, len(masks))
        count = kernel(
            *(base, masks, retained.clocks, self.plan.limit, counts),
            *(*memory.keys.arrays(retained), *stacks.tops, *stacks.nodes_by_level, *columns),
            *(stacks.refuting.data, *stacks.lists),
        )
        stacks.added(counts)
        return [one[:count] for one in columns]

    # ---- construction ------------------------------------------------------------------------------------

    def sequences(self, parts: list[Part], most: int, own: int) -> Constructed:
        """The sequences of all ends, in order; at most so many, each part in a thread of its own.

        Where their number is not known before, each thread makes `own` at most.
        """
        count = sum(map(len, parts))
        if not count:
            return Constructed([np.empty(0, np.int32)] * self.plan.shape.length, 0)
        share = 1 / count
        if self.plan.counts_first and self.memory.once and not self.limits.sheds:
            return Constructed(self._counted(parts, most, share), 0)
        if len(parts) == 1:
            return self._grown(parts[0], most, share)
        work = each_in_a_thread(lambda part: self._grown(part, min(most, own), share), parts)
        columns = [np.concatenate(column) for column in zip(*(one.columns for one in work), strict=True)]
        if len(columns[0]) > most:
            raise TooManyError
        return Constructed(columns, 0)

    def _counted(self, parts: list[Part], most: int, share: float) -> list[Array]:
        """Sequences whose number can be counted first: then all threads write into the same columns."""
        some = len(parts[0]) // SAMPLE + 1
        each = self._count(parts[0], some) / some
        if each <= FEW_EACH and (guessed := self._guessed(parts, most, 2 * each, share)) is not None:
            return guessed

        def fill(number: int) -> None:
            part, begin, end = parts[number], begins[number], begins[number + 1]
            self._kernel(part, share)(True, part.begin, part.end, begin, end, most, False, columns)

        begins = [0, *accumulate(each_in_a_thread(self._count, parts))]
        if begins[-1] > most:
            raise TooManyError
        columns = self._columns(begins[-1])
        each_in_a_thread(fill, range(len(parts)))
        return columns

    def _count(self, part: Part, ends: int | None = None) -> int:
        """The number of sequences of a part, or of its first ends."""
        end = part.end if ends is None else min(part.begin + ends, part.end)
        return int(self._kernel(part)(False, part.begin, end, 0, 0, COUNTLESS, False, self._columns(0))[1])

    def _guessed(self, parts: list[Part], most: int, each: float, share: float) -> list[Array] | None:
        """Sequences that are written into room for so many of each end, and then together; None if they are more.

        Where there are few, to count them takes as long as to write them.
        """

        def write(part: Part) -> list[Array] | None:
            room = int(each * len(part)) + _ROOM
            columns, kernel = self._columns(room), self._kernel(part, share)
            done, found, _shed = kernel(True, part.begin, part.end, 0, room, COUNTLESS, False, columns)
            return [one[:found] for one in columns] if done == part.end else None

        written = [one for one in each_in_a_thread(write, parts) if one is not None]
        if len(written) < len(parts):
            return None
        begins = [0, *accumulate(len(one[0]) for one in written)]
        if begins[-1] > most:
            raise TooManyError
        if len(parts) == 1:
            return written[0]
        columns = self._columns(begins[-1])

        def copy(number: int) -> None:
            for column, own in zip(columns, written[number], strict=True):
                column[begins[number] : begins[number + 1]] = own

        each_in_a_thread(copy, range(len(parts)))
        return columns

    def _columns(self, count: int) -> list[Array]:
        """Columns for so many sequences: for many, large pages such as NumPy asks for are faster than used ones"""
        return [np.empty(count, np.int32) for _ in range(self.plan.shape.length)]

    def _grown(self, part: Part, most: int, share: float) -> Constructed:
        """Sequences whose number is not known: there is room for more of them whenever it is needed."""
        kernel, length = self._kernel(part, share), self.plan.shape.length
        steps = self._steps(part)
        columns = [Growing(np.int32) for _ in range(length)]
        done = part.begin
        found = shed = 0
        room = min(_ROOM, most)
        while done < part.end:
            for column in columns:
                column.count = found
                column.reserve(room - found, most)
            room = min(len(columns[0].data), most)
            data = [one.data for one in columns]
            call = partial(kernel, True, done, part.end, found, room, most, self.limits.sheds, data)
            done, found, shed = stoppable(call, size=LARGE if found >= FEW else steps)
            if shed and not self.limits.sheds:
                raise TooManyError
            room = min(2 * room, most)
        return Constructed([one.data[:found] for one in columns], shed)

    def _steps(self, part: Part) -> int:
        """The size of the work to go through the stacks of a part's ends, at most, if keys are spread evenly."""
        stacks, keys = part.stacks, max(self.memory.keys.count, 1)

        def steps(nodes: list[int]) -> int:
            ways = math.prod(max(one / keys, 1.0) for one in nodes)
            return int(min(len(part) * ways / STEPS, LARGE))

        before, window, retained = stacks.counts().tolist()[:-1], self.plan.query.window, self.memory.retained
        if steps(before) < LARGE or window is None or window.counts_events:
            return steps(before)
        # what has left the window is not gone yet: it ends the way through a stack
        clock = int(retained.clocks[part.ends[0][part.begin]])
        first = int(retained.clocks.searchsorted(max(clock - window.limit, LEAST)))
        return steps([len(one) - int(one.searchsorted(first)) for one in stacks.events()[:-1]])

    def _kernel(self, part: Part, share: float = 0.0) -> Kernel:
        """The kernel for some ends, which takes what to do and the columns to fill."""
        plan, memory, stacks = self.plan, self.memory, part.stacks
        counts = stacks.counts()
        for name, level in self._levels.items():
            part.scratch[name].reserve(int(counts[level]))
        kernel = long_kernel_of(plan.source, len(memory.retained.pushed[1]), share)
        retained = memory.retained
        events = (retained.starts, retained.ends, retained.start_clocks, retained.clocks, plan.limit)
        keys = memory.keys.arrays(memory.retained)
        nodes = (*stacks.nodes_by_level, *part.ends, *stacks.lists)
        work = [one.data for one in part.scratch.values()]
        values = memory.arguments()

        def run(*arguments: Any) -> Any:
            *what, columns = arguments
            return kernel(*what, *events, *columns, *keys, *nodes, *work, *values)

        return run


def _scratch(plan: ScanPlan) -> dict[str, Growing]:
    """What a thread works in, which grows with the stacks."""
    return {name: Growing(np.dtype(kind)) for name, (_level, kind) in Scratch.names(plan.shape).items()}
