"""The kernel at work: a batch of events goes onto the stacks, and sequences come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits
from ouzel.physical.memory.growing import Growing
from ouzel.physical.scan.memory import Memory
from ouzel.physical.scan.stacks import Stacks

if TYPE_CHECKING:
    from ouzel.physical.scan.scan import ScanPlan

# So many matches there is room for at first.
_ROOM = 1_024


class TooManyError(Exception):
    """There are more sequences than are allowed, or fit."""


@dataclass(frozen=True)
class Constructed:
    """Sequences as rows of event numbers; how many nodes were made and there are; how many sequences were shed."""

    sequences: Array
    made: int
    nodes: int
    shed: int


@dataclass(frozen=True)
class Construction:
    """What the kernel takes of a plan and of memory; several may work at once on stacks of their own.

    `parts` is how many, and `most` how many sequences fit into memory.
    """

    plan: ScanPlan
    memory: Memory
    stacks: Stacks
    limits: Limits
    arguments: list[Array]
    most: int
    parts: int = 1

    def run(self, masks: Integers, base: int) -> Constructed:
        """Take the latest events, of which the first has the number `base`."""
        memory, length, before = self.memory, self.plan.shape.length, self.stacks.nodes
        counts = self.stacks.counts()
        events = (base, masks, memory.retained.ends, memory.retained.clocks, self.plan.limit)
        most = min(self.limits.max_matches, self.most)
        limits = (most, self.limits.sheds)
        rest = (
            *memory.keys.arrays(memory.retained),
            *self.stacks.arrays(len(masks), memory.keys.counts()),
            *self.arguments,
        )
        kernel = long_kernel_of(self.plan.source, memory.seen, 1 / (self.parts * max(len(masks), 1)))
        out = Growing(np.int32)
        out.reserve(min(_ROOM, most) * length, most * length)
        done = found = shed = 0
        while done < len(masks):
            done, found, shed = kernel(done, *events, out.data, found, *limits, counts, *rest)
            if shed and not self.limits.sheds:
                raise TooManyError
            out.count = found * length
            if done < len(masks):
                out.reserve(min(2 * len(out.data), most * length - out.count), most * length)
        self.stacks.added(counts)
        nodes = self.stacks.nodes
        return Constructed(out.values.reshape(found, length), nodes - before, nodes, int(shed))
