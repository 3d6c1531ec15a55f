"""Negation at the end of a pattern, postponed until the window has passed (SASE 3.3).

Only events after a sequence refute it: of each batch, those that it brings are tried on all sequences that wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import Array, Operands
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.memory.prepare import Prepared
from ouzel.physical.scan.shape import Negative, Shape
from ouzel.physical.stoppable import SEEN


@dataclass(frozen=True)
class Postponed:
    """A negative component at the end, and the kernel that finds what it refutes.

    `columns` is how many of the columns that conditions compare the kernel takes.
    """

    bit: int
    source: str
    columns: int
    keyed: bool

    @classmethod
    def of(cls, shape: Shape, negative: Negative, operands: Operands) -> Postponed:
        """Write the kernel."""
        source = _source(shape, negative, operands)
        return cls(1 << negative.component.position, source, len(operands.columns), shape.keys > 0)

    def refute(
        self, keep: Any, sequences: list[Array], new: Prepared, base: int, seen: int, arguments: tuple[Any, ...]
    ) -> None:
        """Clear the flags of the sequences that an event of the batch from `base` on refutes.

        `arguments` are the keys, moments, clocks and values of all events; `seen` is how many events there were so
        far, which tells whether compiling pays.
        """
        refuters = base + np.flatnonzero(new.masks & self.bit)
        if not len(refuters) or not len(keep):
            return
        parts = arguments[0][refuters] if self.keyed else np.zeros(len(refuters), np.int64)
        order = np.argsort(parts, kind="stable")
        starts = np.searchsorted(parts[order], np.arange(int(parts.max()) + 2))
        long_kernel_of(self.source, seen)(keep, refuters[order], starts, *sequences, *arguments)


def _source(shape: Shape, negative: Negative, operands: Operands) -> str:
    """Write the kernel: `refuters` are in order of partition and time, those of partition p begin at starts[p]."""
    emitter = Emitter(operands=operands, depth=3)
    last = shape.length - 1
    rows = {one.variable: f"x{k}" for k, one in enumerate(shape.positives)}
    bound = ByVariable({**rows, negative.component.variable: "y"})
    flags = [f"key{key}[y] == key{key}[x{last}]" for key in range(1, shape.keys)]
    flags += [emitter.holds(c, bound) for c in negative.conjuncts]
    emitter.line(f"if {' and '.join(flags) or 'True'}:")
    body = "\n".join(emitter.lines)
    sequences = ", ".join(f"s{k}" for k in range(shape.length))
    binding = "\n".join(f"        x{k} = s{k}[s]" for k in range(shape.length))
    keys = "".join(f"key{key}, " for key in range(shape.keys))
    return f"""
@jit
def kernel(board, keep, refuters, starts, {sequences}, {keys}moments, clocks, limit, {operands.parameters}):
    {REACH}
    for s in range(len(keep)):
        {SEEN}
            return
        if not keep[s]:
            continue
{binding}
        p = {f"key0[x{last}]" if shape.keys else "0"}
        if p + 1 >= len(starts):
            continue
        low = starts[p]
        high = starts[p + 1]
        while low < high:
            middle = (low + high) // 2
            if moments[refuters[middle]] <= moments[x{last}]:
                low = middle + 1
            else:
                high = middle
        for q in range(low, starts[p + 1]):
            y = refuters[q]
            if {oldest("clocks[y]")} >= clocks[x0]:
                break
{body}
                keep[s] = False
                break
"""
