"""Negation at the end of a pattern, postponed until the window has passed (SASE 3.3)."""

from __future__ import annotations

from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.scan.source import Negative, Shape


def postponed_source(shape: Shape, negative: Negative, operands: Operands) -> str:
    """Write the kernel: which sequences no event refutes between their last event and the end of their window.

    `refuters` are the events that may, by partition and time; those of partition p begin at starts[p].
    """
    emitter = Emitter(operands, depth=3)
    rows = {one.variable: f"x{k}" for k, one in enumerate(shape.positives)}
    bound = ByVariable({**rows, negative.component.variable: "y"})
    flags = [emitter.holds(c, bound) for c in negative.conjuncts]
    emitter.line(f"if {' and '.join(flags) or 'True'}:")
    body = "\n".join(emitter.lines)
    binding = "\n".join(f"        x{k} = sequences[s, {k}]" for k in range(shape.length))
    last = shape.length - 1
    return f"""
@jit
def kernel(sequences, parts, moments, clocks, limit, refuters, starts, {operands.parameters}):
    keep = np.ones(len(sequences), np.bool_)
    for s in range(len(sequences)):
{binding}
        p = parts[x{last}]
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
            if clocks[y] - clocks[x0] >= limit:
                break
{body}
                keep[s] = False
                break
    return keep
"""
