"""The source of an automaton: for every partition, its runs step through its events.

The states are the components, in a row (SASE+ 3.1).  At an event, or at several simultaneous ones, a run may take
it into its open closure, begin a next component with it, or ignore it; forks become new runs.  What a run bound is
a path in the match store: nodes (event, component, predecessor), shared by all runs that forked from it.
"""

from __future__ import annotations

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Moment, references
from ouzel.logical.pattern import Binds, Component
from ouzel.physical.automaton.registers import FIRST, FIXED, LAST, NODE, STATE, TAKEN, Registers, RunRows
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.operands import Operands


def automaton_source(shape: Shape, operands: Operands) -> str:
    """Write the kernel.  It is written twice: the first time to learn which registers the formulas need."""
    known = {component.variable: component for component in shape.states}
    draft = Registers(Operands(), known, shape.optional)
    _Writer(shape, draft).write()
    registers = Registers(operands, known, shape.optional, draft.integers, draft.floats, draft.columns)
    body = _Writer(shape, registers).write()
    return f"""
@jit
def kernel(masks, starts, moments, clocks, limit, most_runs, most_nodes, {operands.parameters}):
    event = np.empty(1024, np.int32)
    component = np.empty(1024, np.int32)
    before = np.empty(1024, np.int32)
    nodes = 0
    found = np.empty(1024, np.int32)
    begun_at = np.empty(1024, np.int32)
    matches = 0
    ri = np.empty((64, {FIXED + len(registers.integers)}), np.int64)
    rf = np.zeros((64, {max(len(registers.floats), 1)}), np.float64)
    keep = np.empty(64, np.bool_)
    peak = 0
    for p in range(len(starts) - 1):
        runs = 0
        i = starts[p]
        while i < starts[p + 1]:
            g = i + 1
            while g < starts[p + 1] and moments[g] == moments[i]:
                g += 1
            old = runs
{body}
            alive = 0
            for r in range(runs):
                if r >= old or keep[r]:
                    if alive != r:
                        copy_row(ri, r, alive)
                        copy_row(rf, r, alive)
                    alive += 1
            runs = alive
            peak = max(peak, runs)
            if runs > most_runs or nodes > most_nodes:
                return event, component, before, nodes, found, begun_at, -1, runs
            i = g
    return event, component, before, nodes, found, begun_at, matches, peak
"""


class _Writer:
    """Writes what happens at one event, or at several simultaneous ones."""

    def __init__(self, shape: Shape, registers: Registers) -> None:
        self.shape = shape
        self.registers = registers
        self.emitter = Emitter(registers.operands, depth=3)

    def write(self) -> str:
        line = self.emitter.line
        line("for r in range(old):")
        self.emitter.depth += 1
        line(f"keep[r] = clocks[i] - clocks[ri[r, {FIRST}]] < limit")
        line("if not keep[r]:")
        line("    continue")
        line("for x in range(i, g):")
        self.emitter.depth += 1
        line("m = masks[x]")
        # the mask is zero for most events: no component wants them
        if self.shape.strategy in (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY):
            line("keep[r] = False")
        line("if m == 0:")
        line("    continue")
        for state in range(len(self.shape.states)):
            line(f"{'if' if state == 0 else 'elif'} ri[r, {STATE}] == {state}:")
            self.emitter.depth += 1
            self._moves(state)
            self.emitter.depth -= 1
        self.emitter.depth -= 2
        line("for x in range(i, g):")
        self.emitter.depth += 1
        line("m = masks[x]")
        for skipped, target in self.shape.after(-1):
            self._start(skipped, target)
        self.emitter.depth -= 1
        return "\n".join(self.emitter.lines)

    # ---- moves -------------------------------------------------------------------------------------------

    def _moves(self, state: int) -> None:
        """What a run at a component may do with event x."""
        component, line = self.shape.states[state], self.emitter.line
        closure = component.binds is Binds.CLOSURE and component.is_array
        line("taken = False")
        line("begun = False")
        open_test = "False"
        if closure:
            open_test = "True" if component.most is None else f"ri[r, {TAKEN}] < {component.most}"
            line(f"if m & {1 << component.position} and {open_test}:")
            self.emitter.depth += 1
            self._take(state, component)
            self.emitter.depth -= 1
        targets = self.shape.after(state)
        if targets:
            bits = sum(1 << self.shape.states[target].position for _skipped, target in targets)
            enough = f" and ri[r, {TAKEN}] >= {component.least}" if closure and component.least > 1 else ""
            line(f"if m & {bits}{enough}:")
            self.emitter.depth += 1
            depth = self.emitter.depth
            self._guard(self.shape.at(state, Place.PROCEED), RunRows(self.registers, "r", None))
            for skipped, target in targets:
                inner = self.emitter.depth
                line(f"if m & {1 << self.shape.states[target].position}:")
                self.emitter.depth += 1
                self._begin("r", skipped, target)
                self.emitter.depth = inner
            self.emitter.depth = depth - 1
        if self.shape.strategy is Strategy.SKIP_TILL_NEXT_MATCH:
            line(f"if taken if {open_test} else begun:")
            line("    keep[r] = False")

    def _take(self, state: int, component: Component) -> None:
        line, depth = self.emitter.line, self.emitter.depth
        line(f"if clocks[x] - clocks[ri[r, {FIRST}]] < limit:")
        self.emitter.depth += 1
        rows = RunRows(self.registers, "r", component.variable, first=False)
        self._guard(self.shape.at(state, Place.TAKE), rows)
        line("taken = True")
        self._fork("r")
        line(f"ri[runs, {TAKEN}] += 1")
        self._bound(state, first=False)
        self.emitter.depth = depth

    def _begin(self, run: str, skipped: list[int], target: int) -> None:
        """Begin a component with event x, having left others empty."""
        line, component = self.emitter.line, self.shape.states[target]
        if run == "r":
            line(f"if clocks[x] - clocks[ri[r, {FIRST}]] < limit:")
            self.emitter.depth += 1
        for one in skipped:
            self._guard(self.shape.at(one, Place.PROCEED), RunRows(self.registers, run, None))
        rows = RunRows(self.registers, run, component.variable)
        own = self.shape.at(target, Place.BEGIN) + self.shape.at(target, Place.TAKE)
        self._guard([c for c in own if component.variable not in c.from_second], rows)
        if run == "r":
            line("begun = True")
            self._fork("r")
        line(f"ri[runs, {STATE}] = {target}")
        line(f"ri[runs, {TAKEN}] = 1")
        self._bound(target, first=True)

    def _start(self, skipped: list[int], target: int) -> None:
        """Start a run with event x: an empty run is written first, for formulas about what was left empty."""
        line, depth = self.emitter.line, self.emitter.depth
        line(f"if m & {1 << self.shape.states[target].position}:")
        self.emitter.depth += 1
        self._room()
        line(f"ri[runs, {FIRST}] = x")
        line(f"ri[runs, {NODE}] = -1")
        for place, value in enumerate(self.registers.initial()):
            line(f"ri[runs, {FIXED + place}] = {value}")
        self._begin("runs", skipped, target)
        self.emitter.depth = depth

    # ---- runs and nodes ----------------------------------------------------------------------------------

    def _room(self) -> None:
        line = self.emitter.line
        line("if runs == len(ri):")
        line("    ri = taller(ri)")
        line("    rf = taller(rf)")
        line("    keep = longer(keep)")

    def _fork(self, run: str) -> None:
        self._room()
        self.emitter.line(f"copy_row(ri, {run}, runs)")
        self.emitter.line(f"copy_row(rf, {run}, runs)")

    def _bound(self, state: int, *, first: bool) -> None:
        """Finish a run that bound x: its registers, its node in the match store, and whether it is a match."""
        line, component = self.emitter.line, self.shape.states[state]
        self.registers.update(component, "runs", self.emitter, first=first)
        line("if nodes == len(event):")
        line("    event = longer(event)")
        line("    component = longer(component)")
        line("    before = longer(before)")
        line("event[nodes] = x")
        line(f"component[nodes] = {state}")
        line(f"before[nodes] = ri[runs, {NODE}]")
        line(f"ri[runs, {NODE}] = nodes")
        line(f"ri[runs, {LAST}] = x")
        line("nodes += 1")
        skipped = self.shape.trailing(state)
        if skipped is not None:
            self._accept(state, skipped)
        line("runs += 1")

    def _accept(self, state: int, skipped: list[int]) -> None:
        """A run is a match when its last component is complete with the event just bound."""
        line, depth, component = self.emitter.line, self.emitter.depth, self.shape.states[state]
        if component.least > 1:
            line(f"if ri[runs, {TAKEN}] >= {component.least}:")
            self.emitter.depth += 1
        for one in (state, *skipped):
            self._guard(self.shape.at(one, Place.PROCEED), RunRows(self.registers, "runs", None))
        line("if matches == len(found):")
        line("    found = longer(found)")
        line("    begun_at = longer(begun_at)")
        line("found[matches] = nodes - 1")
        line(f"begun_at[matches] = ri[runs, {FIRST}]")
        line("matches += 1")
        self.emitter.depth = depth

    def _guard(self, conjuncts: list[Conjunct], rows: RunRows) -> None:
        """Go on only if conditions hold; one that mentions an event which is not there is not applied."""
        for conjunct in conjuncts:
            absent = {
                f"{rows.row(node)} < 0"
                for literal in conjunct.literals
                for node in references(literal)
                if isinstance(node, Attribute | Moment) and rows.may_be_unbound(node)
            }
            flag = self.emitter.holds(conjunct, rows)
            self.emitter.line(f"if {' or '.join([*sorted(absent), flag])}:")
            self.emitter.depth += 1
