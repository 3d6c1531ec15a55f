"""The source of a scan: active instance stacks as linked nodes, construction as nested loops.

Every event that can be component k becomes a node of stack k of its partition (SASE 4.2.1).  A node knows the
one pushed before it (`previous`) and the most recent one in the stack before (`rip`, SASE 4.1).  An event that can
be the last component is never pushed: it starts the construction, a loop per component from the last to the first,
which stops where the window ends (SASE 4.3) and checks each condition as soon as its events are there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ouzel.logical.pattern import Component
from ouzel.physical.compiled.emit import NESTED, ByVariable, Emitter
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.scan.shape import Negative, Shape
from ouzel.physical.stoppable import SEEN

# In a short sequence, conditions nest in the loops of its components.
_SHORT = 6


def scan_source(shape: Shape, operands: Operands) -> str:
    """Write the kernel: it writes sequences as event numbers into `out`, from `found` on, event by event.

    Events are numbered from `base` on; what is known of those before is in the stacks.  `counts` is how many nodes
    each level has and how many refuters were noted, which is changed; there is room for all that may come.  The
    kernel says at which event it stopped, for lack of room in `out` or as there are more than `most`; how many
    sequences there are then; and how many more there would be.
    """
    writer = _Writer(shape, Emitter(operands=operands, depth=2))
    body = writer.body()
    levels = range(shape.depth)
    arrays = [f"key{key}" for key in range(shape.keys)]
    arrays += [f"heads{key}" for key in range(max(shape.stacks, 1))]
    arrays += [name for level in levels for name in shape.fields(level)]
    arrays += ["refuting", "refuter", "earlier"]
    begin = "\n".join(f"    pushed{level} = counts[{level}]" for level in levels)
    return f"""
@jit
def kernel(
    board, begin, base, masks, moments, clocks, limit, out, found, most, sheds, counts, {", ".join(arrays)},
    {operands.parameters}
):
{begin}
    noted = counts[{shape.depth}]
    {REACH}
    shed = 0
    room = min(len(out) // {shape.length}, most)
    for i in range(begin, len(masks)):
        board[1] = i
        {SEEN}
            return i, found, shed
{body}
{writer.returning("    ", "len(masks)", "found")}
"""


class _Writer:
    """Writes the loop's body."""

    def __init__(self, shape: Shape, emitter: Emitter) -> None:
        self.shape = shape
        self.emitter = emitter
        self.last = shape.length - 1
        self.rows = {one.variable: f"x{p}" for p, one in enumerate(shape.positives)}

    def body(self) -> str:
        line = self.emitter.line
        line("m = masks[i]")
        line("before = found")
        line(f"x{self.last} = base + i")
        line(f"now = clocks[x{self.last}]")
        line(f"oldest = {oldest('now')}")
        for key in range(self.shape.stacks):
            line(f"p{key} = key{key}[x{self.last}]")
        line(f"if m & {_bit(self.shape.positives[self.last])}:")
        self._inner(self._complete, self.last)
        for level in range(self.last - 1, -1, -1):
            line(f"if m & {_bit(self.shape.positives[level])}:")
            self._inner(self._push, level)
        for number, negative in enumerate(self.shape.inner):
            line(f"if m & {_bit(negative.component)}:")
            self._inner(self._note, number)
        return "\n".join(self.emitter.lines)

    def _inner(self, write: Callable[[int], None], argument: int) -> None:
        depth = self.emitter.depth
        self.emitter.depth += 1
        write(argument)
        self.emitter.depth = depth

    # ---- stacks ------------------------------------------------------------------------------------------

    def _head(self, level: int, key: int = 0) -> str:
        """Where the latest node of a stack is noted."""
        place = f"p{key} * {self.shape.depth} + {level}" if self.shape.stacks else str(level)
        return f"heads{key}[{place}]"

    def _previous(self, level: int, node: str, key: int = 0) -> str:
        """The node before another in its stack: the one pushed before, if there is but one stack."""
        return f"previous{level}_{key}[{node}]" if self.shape.stacks else f"{node} - 1"

    def _refuting(self, number: int) -> str:
        """Where the latest event that may refute is noted."""
        count = len(self.shape.inner)
        return f"refuting[{f'p0 * {count} + {number}' if self.shape.stacks else number}]"

    # ---- scan --------------------------------------------------------------------------------------------

    def _push(self, level: int) -> None:
        """Push the event onto a stack, unless nothing in the stack before is near enough (windows in the scan)."""
        line = self.emitter.line
        if level > 0:
            line(f"r = {self._head(level - 1)}")
            self._if_reached(level)
        line(f"event{level}[pushed{level}] = x{self.last}")
        if level > 0:
            line(f"rip{level}[pushed{level}] = r")
        for number, negative in enumerate(self.shape.inner):
            if negative.gap == level:
                line(f"behind{number}[pushed{level}] = {self._refuting(number)}")
        for key in range(self.shape.stacks):
            line(f"previous{level}_{key}[pushed{level}] = {self._head(level, key)}")
        for key in range(max(self.shape.stacks, 1)):
            line(f"{self._head(level, key)} = pushed{level}")
        line(f"pushed{level} += 1")

    def _if_reached(self, level: int) -> None:
        """Go on if some event in the stacks before matches on all keys that have stacks."""
        line, before = self.emitter.line, level - 1
        if self.shape.stacks < 2:
            line(f"if r >= 0 and clocks[event{before}[r]] > oldest:")
            self.emitter.depth += 1
            return
        # cross-attribute transition filtering (SASE 4.2.2): the stacks of all keys, latest first, share one event
        nodes = [f"q{key}" for key in range(self.shape.stacks)]
        for key, node in enumerate(nodes):
            line(f"{node} = {self._head(before, key)}")
        line("met = False")
        line("while True:")
        line(f"    low = min({', '.join(nodes)})")
        line(f"    if low < 0 or clocks[event{before}[low]] <= oldest:")
        line("        break")
        line(f"    high = max({', '.join(nodes)})")
        line("    if low == high:")
        line("        met = True")
        line("        break")
        for key, node in enumerate(nodes):
            line(f"    if {node} == high:")
            line(f"        {node} = {self._previous(before, node, key)}")
        line("if met:")
        self.emitter.depth += 1

    def _note(self, number: int) -> None:
        """Note an event that may refute matches, in a list per partition from the latest to the earliest."""
        line = self.emitter.line
        line(f"refuter[noted] = x{self.last}")
        line(f"earlier[noted] = {self._refuting(number)}")
        line(f"{self._refuting(number)} = noted")
        line("noted += 1")

    # ---- construction ------------------------------------------------------------------------------------

    def _complete(self, level: int) -> None:
        """Construct all sequences that end with the event."""
        self.emitter.line(f"at{level} = moments[x{level}]")
        if level > 0 and self.shape.stacks > 1:
            self._if_reached(level)
        self._construct(level)

    def _construct(self, level: int) -> None:
        """Decide what can be decided with component `level` bound, then bind the one before."""
        depth = self.emitter.depth
        rows, tests = ByVariable(self.rows), list[Callable[[], str]]()
        if self.shape.early and level < self.last and self._same_keys(""):
            # dynamic filtering in construction (SASE 4.2.2)
            tests.append(lambda: " and ".join(self._same_keys(f"x{level}")))
        own = [conjunct for conjunct in self.shape.conjuncts if self.shape.level(conjunct) == level]
        tests += [partial(self.emitter.holds, conjunct, rows) for conjunct in own]
        for number, negative in enumerate(self.shape.inner):
            if self.shape.negative_level(negative) == level:
                tests.append(partial(self._not_refuted, number, negative))
        if level == 0 and not self.shape.early and self.last and self._same_keys(""):
            # what the stacks do not tell apart is left to selection (SASE 3.1, 4.2.2)
            tests.append(lambda: " and ".join(t for k in range(self.last) for t in self._same_keys(f"x{k}")))
        self.emitter.go_on_if(tests, NESTED if self.shape.length <= _SHORT else 1)
        if level == 0:
            self._emit()
        else:
            self._loop(level - 1)
        self.emitter.depth = depth

    def _same_keys(self, event: str) -> list[str]:
        """The tests that an event agrees with the last one on the keys that are compared."""
        keys = range(self.shape.unchecked, self.shape.keys)
        return [f"key{key}[{event}] == key{key}[x{self.last}]" for key in keys]

    def _loop(self, level: int) -> None:
        line, last = self.emitter.line, self.last
        line(f"j{level} = " + (self._head(level) if level == last - 1 else f"rip{level + 1}[j{level + 1}]"))
        line(f"while j{level} >= 0:")
        self.emitter.depth += 1
        if level > 0 or self.shape.inner:
            # the innermost loop alone is never long
            line(SEEN)
            line("    return i, found, shed")
        line(f"x{level} = event{level}[j{level}]")
        line(f"if clocks[x{level}] <= oldest:")
        line("    break")
        line(f"at{level} = moments[x{level}]")
        # simultaneous events share a stack's top: neither precedes the other
        line(f"if at{level} < at{level + 1}:")
        self._inner(self._construct, level)
        line(f"j{level} = {self._previous(level, f'j{level}')}")
        self.emitter.depth -= 1

    def _not_refuted(self, number: int, negative: Negative) -> str:
        """Whether no event in the gap refutes the match: those after the left neighbour, latest first."""
        line, gap = self.emitter.line, negative.gap
        line(f"q = {self._refuting(number) if gap == self.last else f'behind{number}[j{gap}]'}")
        line("refuted = False")
        line("while q >= 0:")
        line("    y = refuter[q]")
        if gap == 0:
            line("    if clocks[y] <= oldest:")
        else:
            line(f"    if moments[y] <= at{gap - 1}:")
        line("        break")
        line(f"    if moments[y] < at{gap}:")
        self.emitter.depth += 2
        rows = ByVariable({**self.rows, negative.component.variable: "y"})
        flags = self._same_keys("y") + [self.emitter.holds(conjunct, rows) for conjunct in negative.conjuncts]
        line(f"if {' and '.join(flags) or 'True'}:")
        line("    refuted = True")
        line("    break")
        self.emitter.depth -= 2
        line("    q = earlier[q]")
        return "not refuted"

    def _emit(self) -> None:
        """Write a sequence; without room for it, leave the event for another time."""
        line, length = self.emitter.line, self.shape.length
        line("if found < room:")
        for level in range(length):
            line(f"    out[found * {length} + {level}] = x{level}")
        line("    found += 1")
        line("else:")
        line("    if room == most:")
        line("        shed += 1")
        line("    if room < most or not sheds:")
        # to grow the array here would slow down the loops manifold: the caller does
        self.emitter.lines.append(self.returning("    " * (self.emitter.depth + 2), "i", "before"))

    def returning(self, indent: str, event: str, found: str) -> str:
        """Lines that note what the stacks hold, and return."""
        counts = [f"pushed{level}" for level in range(self.shape.depth)] + ["noted"]
        lines = [f"counts[{place}] = {name}" for place, name in enumerate(counts)]
        return "\n".join(f"{indent}{one}" for one in (*lines, f"return {event}, {found}, shed"))


def _bit(component: Component) -> int:
    return 1 << component.position
