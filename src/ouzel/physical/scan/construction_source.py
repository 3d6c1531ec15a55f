"""The source of construction: the sequences of each end, in the order of results.

From an end, the stacks are gone through backwards (SASE 4.1), each but once: what lies in the window (SASE 4.3),
is followed by something that stays of the next stack, and meets the conditions on it and on the end, stays.
Then the components are bound from the first to the last but one, by a loop each, so that sequences come in the
order of results; and with their number known before, unless conditions are left that compare other components.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ouzel.physical.compiled.emit import NESTED, ByVariable, Emitter
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.scan.shape import Levels, Negative, Shape
from ouzel.physical.stoppable import SEEN

# In a short sequence, conditions nest in the loops of its components.
_SHORT = 6
# More sequences than any limit allows; twice that is still an integer of 64 bits.
COUNTLESS = 2**61

Test = Callable[[], str]


def construction_source(shape: Shape, operands: Operands) -> str:
    """Write the kernel: it writes the sequences of some ends into a column per component, from `found` on.

    It says at which end it stopped, for lack of room or as there are more than `most`; how many sequences there
    are then; and how many more there would be.  Without `fill` it but counts them, where `counts_first` says so.
    """
    writer = _Writer(shape, operands)
    writer.write_kernel()
    return writer.text


def counts_first(shape: Shape) -> bool:
    """Whether the number of sequences is known before they are written."""
    several = [levels for levels in all_levels(shape) if len(levels - {shape.length - 1}) > 1]
    # of events that last, those that end after another need not follow it
    overlap = shape.lasting and shape.length > 2
    return not several and not overlap and not (shape.compared and not shape.early)


def all_levels(shape: Shape) -> Iterator[Levels]:
    """The components that each condition and each negative component needs."""
    yield from map(shape.levels, shape.conjuncts)
    yield from map(shape.negative_levels, shape.inner)


def compares_neighbours(shape: Shape, level: int) -> bool:
    """Whether conditions on a component and the next one also narrow its stack.

    With three components it is as quick to try all pairs.
    """
    pair = {level, level + 1}
    return shape.length > 3 and any(levels - {shape.length - 1} == pair for levels in all_levels(shape))


class Scratch:
    """Which arrays the kernel works in, of what type: what stays of each stack."""

    @staticmethod
    def names(shape: Shape) -> dict[str, tuple[int, str]]:
        """The level and type of each array by name."""
        names: dict[str, tuple[int, str]] = {}
        with_nodes = {negative.gap for negative in shape.inner}
        for level in range(shape.depth):
            names[f"near{level}"] = level, "int32"
            if level in with_nodes:
                names[f"nodes{level}"] = level, "int32"
            if level < shape.depth - 1:
                names[f"after{level}"] = level, "int32"
            if level < shape.depth - 1 and compares_neighbours(shape, level):
                names[f"until{level}"] = level, "int32"
            if 0 < level < shape.depth - 1:
                names[f"ways{level}"] = level, "int64"
        return names


class _Writer(Emitter):
    """Writes the loop over ends."""

    def __init__(self, shape: Shape, operands: Operands) -> None:
        super().__init__(operands=operands, depth=0)
        self.shape = shape
        self.last = shape.length - 1
        self.counts = counts_first(shape)
        self.rows = {one.variable: f"x{level}" for level, one in enumerate(shape.positives)}
        self.scratch = Scratch.names(shape)

    def write_kernel(self) -> None:
        with self.scope():
            self.depth = 1
            self.write(REACH, "shed = 0")
            with self.block("for i in range(begin, end):"):
                self.line("board[1] = i - begin")
                with self.block(SEEN):
                    self.line("return i, found, shed")
                self._end()
            self.line("return end, found, shed")
        shape = self.shape
        names = [f"out{level}" for level in range(shape.length)]
        names += [f"key{key}" for key in range(shape.keys)]
        names += [name for level in range(shape.length) for name in shape.fields(level)]
        names += ["refuter", "earlier", *self.scratch]
        plain = "board, fill, begin, end, found, room, most, sheds, starts, moments, start_clocks, clocks, limit"
        head = f"def kernel({plain}, {', '.join(names)}, {self.operands.parameters}):"
        self.lines[:0] = ["@jit", head]

    def _end(self) -> None:
        """All sequences of one end."""
        last = self.last
        self.write(f"x{last} = event{last}[i]", f"at{last} = moments[x{last}]", f"now = clocks[x{last}]")
        self.write(f"oldest = {oldest('now')}", "before = found")
        if self.shape.lasting:
            self.line(f"since{last} = starts[x{last}]")
            if last == 0:
                self.write("if start_clocks[x0] <= oldest:", "    continue")
        for test in self._tests(lambda levels: levels <= {last}):
            with self.block(f"if not ({test()}):"):
                self.line("continue")
        for level in reversed(range(last)):
            self._narrow(level)
        if self.counts:
            with self.block("if not fill:"):
                ways = {0: "1", 1: "high0 - low0"}.get(last, "ways")
                self.write(f"found = min(found + {ways}, {COUNTLESS})", "continue")
        self._bind(0)

    # ---- backwards: what stays of the stacks -------------------------------------------------------------

    def _narrow(self, level: int) -> None:
        """Keep the events of a stack that may be part of a sequence, from the latest to the earliest.

        `near` has them in order of time, up to its very end.  `after` is where those begin, of the next component,
        that follow one; `ways` is how many sequences there are from one or a later one on.
        """
        then, is_first = level + 1, level == self.last - 1
        self.write(f"high{level} = len(near{level})", f"low{level} = high{level}", f"top{level} = -1")
        self.line(f"j{level} = rip{then}[{'i' if is_first else f'top{then}'}]")
        if not is_first:
            self.write(f"at{then} = moments[near{then}[high{then} - 1]]", f"to = high{then}")
        if level == 0 and self.last > 1:
            self.line("ways = 0")
        nexts = list(
            self._tests(lambda one: f"until{level}" in self.scratch and one - {self.last} == {level, then})
        )
        with self.block(f"while j{level} >= 0:"):
            if self.shape.inner or nexts:
                with self.block(SEEN):
                    self.line("return i, found, shed")
            self.line(f"x{level} = event{level}[j{level}]")
            with self.block(f"if clocks[x{level}] <= oldest:"):
                self.line("break")
            self.line(f"at{level} = moments[x{level}]")
            if self.shape.lasting:
                self.line(f"since{level} = starts[x{level}]")
            # simultaneous events share a stack's top: neither precedes the other
            with self.block(f"if {self._is_early(level, is_first=is_first)}:"):
                self._go_on_if(list(self._tests(lambda one: one - {self.last} == {level})))
                if not is_first:
                    with self.block(f"while to > low{then} and moments[near{then}[to - 1]] > at{level}:"):
                        self.line("to -= 1")
                if nexts:
                    self._if_some(level, nexts)
                self._stays(level)
            previous = f"previous{level}_0[j{level}]" if self.shape.stacks else f"j{level} - 1"
            self.line(f"j{level} = {previous}")
        with self.block(f"if low{level} == high{level}:"):
            self.line("continue")

    def _is_early(self, level: int, *, is_first: bool) -> str:
        """Whether an event can precede the next one; if that lasts, it is asked again when both are bound."""
        then = level + 1
        if not self.shape.lasting:
            return f"at{level} < at{then}"
        own = f"at{level} < {'since' if is_first else 'at'}{then}"
        return own if level else f"{own} and start_clocks[x0] > oldest"

    def _if_some(self, level: int, tests: list[Test]) -> None:
        """Go on if some event of the next component meets the conditions on both: no other leads to an end.

        It is tried again with those from the first to the last that does.
        """
        then = level + 1
        self.write("first = -1", "final = -1", f"latest = at{then}")
        self._find("first", then, f"to, high{then}", tests)
        with self.block("if first >= 0:"):
            self._find("final", then, f"high{then} - 1, first - 1, -1", tests)
        self.line(f"at{then} = latest")
        self.begin("if first >= 0:")

    def _find(self, name: str, level: int, places: str, tests: list[Test]) -> None:
        """Note the first of some places in what stays of a stack where tests hold."""
        with self.block(f"for i{level} in range({places}):"):
            self._bound(level)
            self._go_on_if(tests)
            self.write(f"{name} = i{level}", "break")

    def _stays(self, level: int) -> None:
        with self.block(f"if top{level} < 0:"):
            self.line(f"top{level} = j{level}")
        self.line(f"low{level} -= 1")
        self.line(f"near{level}[low{level}] = x{level}")
        if f"nodes{level}" in self.scratch:
            self.line(f"nodes{level}[low{level}] = j{level}")
        if level == self.last - 1:
            return
        then = level + 1
        if f"until{level}" in self.scratch:
            self.write(f"after{level}[low{level}] = first", f"until{level}[low{level}] = final + 1")
        else:
            self.line(f"after{level}[low{level}] = to")
        if not self.counts:
            return
        ways = f"high{then} - to" if then == self.last - 1 else f"ways{then}[to]"
        if level == 0:
            self.line(f"ways = min(ways + {ways}, {COUNTLESS})")
        else:
            later = f"(ways{level}[low{level} + 1] if low{level} + 1 < high{level} else 0)"
            self.line(f"ways{level}[low{level}] = min({later} + {ways}, {COUNTLESS})")

    # ---- forwards: sequences -----------------------------------------------------------------------------

    def _bind(self, level: int) -> None:
        """Bind a component to each event that follows those bound before, then the next one."""
        if level == self.last:
            self._emit()
            return
        tests = list(self._tests(lambda one: len(one - {self.last}) > 1 and max(one - {self.last}) == level))
        if level and self.shape.lasting:
            tests.insert(0, lambda: f"moments[x{level - 1}] < starts[x{level}]")
        innermost = level == self.last - 1
        if innermost and self.shape.compared and not self.shape.early:
            # what the stacks do not tell apart is left to selection (SASE 3.1, 4.2.2)
            tests.append(lambda: " and ".join(t for k in range(self.last) for t in self._same_keys(f"x{k}")))
        begin = f"after{level - 1}[i{level - 1}]" if level else "low0"
        if innermost and not tests:
            self._emit_run(level, begin)
            return
        end = f"until{level - 1}[i{level - 1}]" if f"until{level - 1}" in self.scratch else f"high{level}"
        with self.block(f"for i{level} in range({begin}, {end}):"):
            if not innermost or self.shape.inner:
                # the innermost loop alone is never long
                with self.block(SEEN):
                    self.line("return i, found, shed")
            self._bound(level)
            self._go_on_if(tests)
            self._bind(level + 1)

    def _bound(self, level: int) -> None:
        self.line(f"x{level} = near{level}[i{level}]")
        if self.shape.inner:
            self.line(f"at{level} = moments[x{level}]")
            if self.shape.lasting:
                self.line(f"since{level} = starts[x{level}]")
        if f"nodes{level}" in self.scratch:
            self.line(f"j{level} = nodes{level}[i{level}]")

    def _emit(self) -> None:
        """Write a sequence; without room for it, leave the end for another time."""
        with self.block("if found < room:"):
            for level in range(self.shape.length):
                self.line(f"out{level}[found] = x{level}")
            self.line("found += 1")
        with self.block("else:"):
            self._no_room("1")

    def _emit_run(self, level: int, begin: str) -> None:
        """Write the sequences that differ in their last component but one only."""
        self.write(f"first = {begin}", f"count = high{level} - first")
        with self.block("if count > room - found:"):
            self._no_room("count - (room - found)")
            self.line("count = room - found")
        # numbers without a sign are never taken for places from the end, which makes it several times faster
        self.line("at = np.uint64(found)")
        with self.block("for k in range(np.uint64(first), np.uint64(first + count)):"):
            for other in range(self.shape.length):
                self.line(f"out{other}[at] = {f'near{level}[k]' if other == level else f'x{other}'}")
            self.line("at += np.uint64(1)")
        self.line("found += count")

    def _no_room(self, count: str) -> None:
        with self.block("if room == most:"):
            self.line(f"shed += {count}")
        with self.block("if room < most or not sheds:"):
            # to grow the arrays here would slow down the loops manifold: the caller does
            self.line("return i, before, shed")

    # ---- tests -------------------------------------------------------------------------------------------

    def _go_on_if(self, tests: list[Test]) -> None:
        self.go_on_if(tests, NESTED if self.shape.length <= _SHORT else 1)

    def _tests(self, decides: Callable[[Levels], bool]) -> Iterator[Test]:
        """What writes the tests that need certain components."""
        rows = ByVariable(self.rows)
        if self.shape.early and self.shape.compared:
            # dynamic filtering in construction (SASE 4.2.2)
            for level in range(self.last):
                if decides(frozenset({level})):
                    yield partial(" and ".join, self._same_keys(f"x{level}"))
        for conjunct in self.shape.conjuncts:
            if decides(self.shape.levels(conjunct)):
                yield partial(self.holds, conjunct, rows)
        for number, negative in enumerate(self.shape.inner):
            if decides(self.shape.negative_levels(negative)):
                yield partial(self._not_refuted, number, negative)

    def _same_keys(self, event: str) -> list[str]:
        """The tests that an event agrees with the last one on the keys that are compared."""
        return [f"key{key}[{event}] == key{key}[x{self.last}]" for key in self.shape.compared]

    def _lies_between(self, negative: Negative) -> str:
        """Whether event y, which ends after the left neighbour, lies in the gap."""
        gap = negative.gap
        if not self.shape.lasting:
            return f"moments[y] < at{gap}"
        begins = f"starts[y] > at{gap - 1}" if gap else "start_clocks[y] > oldest"
        return f"moments[y] < since{gap} and {begins}"

    def _not_refuted(self, number: int, negative: Negative) -> str:
        """Whether no event in the gap refutes the match: those after the left neighbour, latest first."""
        gap = negative.gap
        self.write(f"q = behind{number}[{'i' if gap == self.last else f'j{gap}'}]", "refuted = False")
        with self.block("while q >= 0:"):
            self.line("y = refuter[q]")
            with self.block(f"if {'clocks[y] <= oldest' if gap == 0 else f'moments[y] <= at{gap - 1}'}:"):
                self.line("break")
            with self.block(f"if {self._lies_between(negative)}:"):
                rows = ByVariable({**self.rows, negative.component.variable: "y"})
                flags = self._same_keys("y") + [self.holds(conjunct, rows) for conjunct in negative.conjuncts]
                with self.block(f"if {' and '.join(flags) or 'True'}:"):
                    self.write("refuted = True", "break")
            self.line("q = earlier[q]")
        return "not refuted"
