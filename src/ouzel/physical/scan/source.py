"""The source of a scan: active instance stacks as linked nodes.

Every event that can be component k becomes a node of stack k of its partition (SASE 4.2.1).  A node knows the
one pushed before it (`previous`) and the most recent one in the stack before (`rip`, SASE 4.1).  An event that can
be the last component is on no stack: it is noted as an end, from which construction starts.
"""

from __future__ import annotations

from ouzel.logical.pattern import Component
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.compiled.writer import Writer
from ouzel.physical.scan.shape import Shape
from ouzel.physical.stoppable import SEEN


def scan_source(shape: Shape) -> str:
    """Write the kernel: it pushes a batch of events, and tells how many ends there are among them.

    Events are numbered from `base` on; what is known of those before is in the stacks.  `counts` is how many nodes
    each level has and how many refuters were noted, which is changed; there is room for all that may come.
    """
    writer = _Writer(shape)
    writer.write_kernel()
    return writer.text


class _Writer(Writer):
    """Writes the loop over events."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.last = shape.length - 1

    def write_kernel(self) -> None:
        shape, last = self.shape, self.last
        arrays = [f"key{key}" for key in range(shape.keys)]
        arrays += [f"heads{key}" for key in range(max(shape.stacks, 1))]
        arrays += [name for level in range(shape.length) for name in shape.fields(level)]
        arrays += ["refuting", "refuter", "earlier"]
        self.line("@jit")
        with self.block(f"def kernel(board, base, masks, clocks, limit, counts, {', '.join(arrays)}):"):
            for level in range(shape.depth):
                self.line(f"pushed{level} = counts[{level}]")
            self.write(f"noted = counts[{shape.depth}]", f"pushed{last} = 0", REACH)
            with self.block("for i in range(len(masks)):"):
                with self.block(SEEN):
                    self.line(f"return pushed{last}")
                self._event()
            for level in range(shape.depth):
                self.line(f"counts[{level}] = pushed{level}")
            self.write(f"counts[{shape.depth}] = noted", f"return pushed{last}")

    def _event(self) -> None:
        self.write("m = masks[i]", "x = base + i", "now = clocks[x]", f"oldest = {oldest('now')}")
        for key in range(self.shape.stacks):
            self.line(f"p{key} = key{key}[x]")
        for level in reversed(range(self.shape.length)):
            with self.block(f"if m & {_bit(self.shape.positives[level])}:"):
                self._push(level)
        for number, negative in enumerate(self.shape.inner):
            with self.block(f"if m & {_bit(negative.component)}:"):
                self._note(number)

    def _head(self, level: int, key: int = 0) -> str:
        """Where the latest node of a stack is noted."""
        place = f"p{key} * {self.shape.depth} + {level}" if self.shape.stacks else str(level)
        return f"heads{key}[{place}]"

    def _refuting(self, number: int) -> str:
        """Where the latest event that may refute is noted."""
        count = len(self.shape.inner)
        return f"refuting[{f'p0 * {count} + {number}' if self.shape.stacks else number}]"

    def _push(self, level: int) -> None:
        """Push the event onto a stack, unless nothing in the stack before is near enough (windows in the scan)."""
        with self.scope():
            if level > 0:
                self.line(f"r = {self._head(level - 1)}")
                self._if_reached(level - 1)
            self.line(f"event{level}[pushed{level}] = x")
            if level > 0:
                self.line(f"rip{level}[pushed{level}] = r")
            for number, negative in enumerate(self.shape.inner):
                if negative.gap == level:
                    self.line(f"behind{number}[pushed{level}] = {self._refuting(number)}")
            if level < self.last:
                for key in range(self.shape.stacks):
                    self.line(f"previous{level}_{key}[pushed{level}] = {self._head(level, key)}")
                for key in range(max(self.shape.stacks, 1)):
                    self.line(f"{self._head(level, key)} = pushed{level}")
            self.line(f"pushed{level} += 1")

    def _if_reached(self, before: int) -> None:
        """Go on if some event in the stacks before matches on all keys that have stacks."""
        if self.shape.stacks < 2:
            self.begin(f"if r >= 0 and clocks[event{before}[r]] > oldest:")
            return
        # cross-attribute transition filtering (SASE 4.2.2): the stacks of all keys, latest first, share one event
        nodes = [f"q{key}" for key in range(self.shape.stacks)]
        for key, node in enumerate(nodes):
            self.line(f"{node} = {self._head(before, key)}")
        self.line("met = False")
        with self.block("while True:"):
            self.line(f"low = min({', '.join(nodes)})")
            with self.block(f"if low < 0 or clocks[event{before}[low]] <= oldest:"):
                self.line("break")
            self.line(f"high = max({', '.join(nodes)})")
            with self.block("if low == high:"):
                self.write("met = True", "break")
            for key, node in enumerate(nodes):
                with self.block(f"if {node} == high:"):
                    self.line(f"{node} = previous{before}_{key}[{node}]")
        self.begin("if met:")

    def _note(self, number: int) -> None:
        """Note an event that may refute matches, in a list per partition from the latest to the earliest."""
        self.write(
            "refuter[noted] = x",
            f"earlier[noted] = {self._refuting(number)}",
            f"{self._refuting(number)} = noted",
            "noted += 1",
        )


def _bit(component: Component) -> int:
    return 1 << component.bit
