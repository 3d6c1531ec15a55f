"""The source of a scan: active instance stacks as linked nodes, construction as nested loops.

Every event that can be component k becomes a node of stack k of its partition (SASE 4.2.1).  A node knows the
one pushed before it (`previous`) and the most recent one in the stack before (`rip`, SASE 4.1).  An event that can
be the last component is never pushed: it starts the construction, a loop per component from the last to the first,
which stops where the window ends (SASE 4.3) and checks each condition as soon as its events are there.
"""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Component
from ouzel.physical.compiled.emit import ByVariable, Emitter
from ouzel.physical.compiled.operands import Operands


@dataclass(frozen=True)
class Negative:
    """A negative component in the gap before the positive component `gap`; its conditions on more than itself."""

    component: Component
    gap: int
    conjuncts: tuple[Conjunct, ...]


@dataclass(frozen=True)
class Shape:
    """What the source is written from: positive components in order, their conditions, negative components."""

    positives: tuple[Component, ...]
    conjuncts: tuple[Conjunct, ...]
    negatives: tuple[Negative, ...]

    @property
    def length(self) -> int:
        """The number of positive components."""
        return len(self.positives)

    def level(self, conjunct: Conjunct) -> int:
        """The component whose binding completes a conjunct: the first, as construction goes backwards."""
        return min(p for p, one in enumerate(self.positives) if one.variable in conjunct.variables)

    def negative_level(self, negative: Negative) -> int:
        """The component whose binding makes a negative component decidable."""
        levels = [max(negative.gap - 1, 0)]
        for conjunct in negative.conjuncts:
            levels += [p for p, one in enumerate(self.positives) if one.variable in conjunct.variables]
        return min(levels)


def scan_source(shape: Shape, operands: Operands) -> str:
    """Write the kernel: all sequences as event numbers, flat, and how many there are (-1: more than `most`)."""
    writer = _Writer(shape, Emitter(operands, depth=2))
    body = writer.body()
    last = shape.length - 1
    middle = [n for n, one in enumerate(shape.negatives) if one.gap < last]
    stacks = "\n".join(f"    behind{n} = np.empty(nodes, np.int32)" for n in middle)
    return f"""
@jit
def kernel(masks, parts, part_count, moments, clocks, limit, nodes, refuters, most, {operands.parameters}):
    heads = np.full({max(last, 1)} * part_count, -1, np.int32)
    event = np.empty(nodes, np.int32)
    previous = np.empty(nodes, np.int32)
    rip = np.empty(nodes, np.int32)
    refuting = np.full({max(len(shape.negatives), 1)} * part_count, -1, np.int32)
    refuter = np.empty(refuters, np.int32)
    earlier = np.empty(refuters, np.int32)
{stacks}
    pushed = 0
    noted = 0
    found = 0
    room = 1024
    out = np.empty(room * {shape.length}, np.int32)
    for x{last} in range(len(masks)):
{body}
    return out, found
"""


class _Writer:
    """Writes the loop's body."""

    def __init__(self, shape: Shape, emitter: Emitter) -> None:
        self.shape = shape
        self.emitter = emitter
        self.rows = {one.variable: f"x{p}" for p, one in enumerate(shape.positives)}

    def body(self) -> str:
        last, line = self.shape.length - 1, self.emitter.line
        line(f"m = masks[x{last}]")
        line(f"p = parts[x{last}]")
        line(f"if m & {self._bit(self.shape.positives[last])}:")
        self._inner(self._construct, last)
        for level in range(last - 1, -1, -1):
            line(f"if m & {self._bit(self.shape.positives[level])}:")
            self._inner(self._push, level)
        for number, negative in enumerate(self.shape.negatives):
            line(f"if m & {self._bit(negative.component)}:")
            self._inner(self._note, number)
        return "\n".join(self.emitter.lines)

    def _bit(self, component: Component) -> int:
        return 1 << component.position

    def _inner(self, write: object, argument: int) -> None:
        self.emitter.depth += 1
        write(argument)  # type: ignore[operator]
        self.emitter.depth -= 1

    # ---- scan --------------------------------------------------------------------------------------------

    def _push(self, level: int) -> None:
        """Push the event onto a stack, unless nothing in the stack before is near enough (windows in the scan)."""
        line, last = self.emitter.line, self.shape.length - 1
        if level > 0:
            line(f"r = heads[{level - 1} * part_count + p]")
            line(f"if r >= 0 and clocks[x{last}] - clocks[event[r]] < limit:")
            self.emitter.depth += 1
        line(f"event[pushed] = x{last}")
        line(f"rip[pushed] = {'r' if level > 0 else '-1'}")
        line(f"previous[pushed] = heads[{level} * part_count + p]")
        for number, negative in enumerate(self.shape.negatives):
            if negative.gap == level:
                line(f"behind{number}[pushed] = refuting[{number} * part_count + p]")
        line(f"heads[{level} * part_count + p] = pushed")
        line("pushed += 1")
        if level > 0:
            self.emitter.depth -= 1

    def _note(self, number: int) -> None:
        """Note an event that may refute matches, in a list per partition from the latest to the earliest."""
        line, last = self.emitter.line, self.shape.length - 1
        line(f"refuter[noted] = x{last}")
        line(f"earlier[noted] = refuting[{number} * part_count + p]")
        line(f"refuting[{number} * part_count + p] = noted")
        line("noted += 1")

    # ---- construction ------------------------------------------------------------------------------------

    def _construct(self, level: int) -> None:
        """Decide what can be decided with component `level` bound, then bind the one before."""
        depth = self.emitter.depth
        for conjunct in self.shape.conjuncts:
            if self.shape.level(conjunct) == level:
                flag = self.emitter.holds(conjunct, ByVariable(self.rows))
                self.emitter.line(f"if {flag}:")
                self.emitter.depth += 1
        for number, negative in enumerate(self.shape.negatives):
            if negative.gap < self.shape.length and self.shape.negative_level(negative) == level:
                self._unless_refuted(number, negative)
        if level == 0:
            self._emit()
        else:
            self._loop(level - 1)
        self.emitter.depth = depth

    def _loop(self, level: int) -> None:
        line, last = self.emitter.line, self.shape.length - 1
        top = level == last - 1
        line(f"j{level} = " + (f"heads[{level} * part_count + p]" if top else f"rip[j{level + 1}]"))
        line(f"while j{level} >= 0:")
        self.emitter.depth += 1
        line(f"x{level} = event[j{level}]")
        line(f"if clocks[x{last}] - clocks[x{level}] >= limit:")
        line("    break")
        # simultaneous events share a stack's top: neither precedes the other
        line(f"if moments[x{level}] < moments[x{level + 1}]:")
        self._inner(self._construct, level)
        line(f"j{level} = previous[j{level}]")
        self.emitter.depth -= 1

    def _unless_refuted(self, number: int, negative: Negative) -> None:
        """Go on unless an event in the gap refutes the match: those after the left neighbour, latest first."""
        line, last, gap = self.emitter.line, self.shape.length - 1, negative.gap
        line(f"q = {f'refuting[{number} * part_count + p]' if gap == last else f'behind{number}[j{gap}]'}")
        line("refuted = False")
        line("while q >= 0:")
        line("    y = refuter[q]")
        if gap == 0:
            line(f"    if clocks[x{last}] - clocks[y] >= limit:")
        else:
            line(f"    if moments[y] <= moments[x{gap - 1}]:")
        line("        break")
        line(f"    if moments[y] < moments[x{gap}]:")
        self.emitter.depth += 2
        rows = ByVariable({**self.rows, negative.component.variable: "y"})
        flags = [self.emitter.holds(conjunct, rows) for conjunct in negative.conjuncts]
        line(f"if {' and '.join(flags) or 'True'}:")
        line("    refuted = True")
        line("    break")
        self.emitter.depth -= 2
        line("    q = earlier[q]")
        line("if not refuted:")
        self.emitter.depth += 1

    def _emit(self) -> None:
        line, length = self.emitter.line, self.shape.length
        line("if found == room:")
        line("    if room >= most:")
        line("        return out, -1")
        line("    room *= 2")
        line("    out = longer(out)")
        for level in range(length):
            line(f"out[found * {length} + {level}] = x{level}")
        line("found += 1")
