"""The source of an automaton: what a run does at an event, or at several simultaneous ones.

The states are the components, in a row (SASE+ 3.1).  At an event a run may take it into its open closure, begin a
next component with it, or ignore it; forks become new runs.  What a run bound is a path in the match store, shared
by all runs that forked from it.  How runs are driven through the events is in drivers.py.
"""

from __future__ import annotations

from collections.abc import Callable

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Moment, references
from ouzel.logical.pattern import Binds, Component
from ouzel.physical.automaton.registers import FIRST, FIXED, NODE, START, STATE, TAKEN, Key, Registers, RunRows
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import oldest

Driver = Callable[["Writer"], str]
_CONTIGUOUS = (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)


def automaton_source(shape: Shape, operands: Operands, driver: Driver) -> tuple[str, tuple[int, int]]:
    """Write a kernel, and the widths of its runs.

    It is written three times: to learn which registers formulas need, then which are live at which state.
    """
    known = {component.variable: component for component in shape.states}
    draft = Registers(Operands(), known, shape.optional)
    driver(Writer(shape, draft))
    live = {state: _live(shape, state, draft.reads) for state in range(len(shape.states))}
    registers = Registers(operands, known, shape.optional, live, draft.integers, draft.floats, draft.reads)
    source = driver(Writer(shape, registers))
    return source, (FIXED + len(registers.integers), max(len(registers.floats), 1))


def _live(shape: Shape, state: int, reads: dict[int, set[Key]]) -> set[Key]:
    """The registers that formulas at a state or after it read (SASE+ 5.2.2, the masks M)."""
    reached, waiting = {state}, [state]
    while waiting:
        for _skipped, target in shape.after(waiting.pop()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return {key for one in reached for key in reads.get(one, ())}


class Writer:
    """Writes what runs do at the simultaneous events i to g."""

    def __init__(self, shape: Shape, registers: Registers) -> None:
        """Begin with nothing written."""
        self.shape = shape
        self.registers = registers
        self.emitter = Emitter(operands=registers.operands)
        self.contiguous = shape.strategy in _CONTIGUOUS

    @property
    def widths(self) -> tuple[int, int]:
        """The number of integers and of floats in a run."""
        return FIXED + len(self.registers.integers), max(len(self.registers.floats), 1)

    def is_expired(self, run: str, oldest: str) -> str:
        """A test that no event from i on is in a run's window; where each event must be asked, none."""
        return "False" if self.shape.keyed else f"ri[{run}, {START}] <= {oldest}"

    def moves(self, depth: int) -> str:
        """What run r does; `keep[r]` says whether it goes on, as it was or changed."""
        line = self._begin_at(depth)
        line("gone = False")
        line("moved = False")
        line("for x in range(i, g):")
        self.emitter.depth += 1
        line("m = masks[x]")
        if self.contiguous:
            line("gone = True")
        # the mask is zero for events that no component wants
        line("if m == 0:")
        line("    continue")
        if self.shape.keyed:
            # simultaneous events of several partitions may have several positions: each has its own window
            line(f"if keys[x] != {self._key('r')} or ri[r, {START}] <= {oldest('clocks[x]')}:")
            line("    continue")
        for state in range(len(self.shape.states)):
            if not self._is_terminal(state):
                line(f"if ri[r, {STATE}] == {state}:")
                self.emitter.depth += 1
                self._moves(state)
                line("continue")
                self.emitter.depth -= 1
        self.emitter.depth -= 1
        line("keep[r] = moved or not gone")
        line("changed = changed or moved")
        return "\n".join(self.emitter.lines)

    def starts(self, depth: int) -> str:
        """Every event that can begin the first component starts a run."""
        line = self._begin_at(depth)
        line("for x in range(i, g):")
        self.emitter.depth += 1
        line("m = masks[x]")
        for skipped, target in self.shape.after(-1):
            self._start(skipped, target)
        return "\n".join(self.emitter.lines)

    def copy(self, depth: int, source: str, target: str) -> str:
        """Copy a run; written out, as a loop over so few columns costs more than the copies."""
        line = self._begin_at(depth)
        self._copy(line, source, target)
        return "\n".join(self.emitter.lines)

    def _begin_at(self, depth: int) -> Callable[[str], None]:
        self.emitter.lines = []
        self.emitter.depth = depth
        return self.emitter.line

    # ---- moves -------------------------------------------------------------------------------------------

    def _moves(self, state: int) -> None:
        """What a run at a component may do with event x; it begins a next one before it may change itself."""
        component, line = self.shape.states[state], self.emitter.line
        closure = _is_closure(component)
        targets = self.shape.after(state)
        is_next = self.shape.strategy is Strategy.SKIP_TILL_NEXT_MATCH
        open_test = "False"
        if closure:
            open_test = "True" if component.most is None else f"ri[r, {TAKEN}] < {component.most}"
        if targets:
            bits = sum(1 << self.shape.states[target].position for _skipped, target in targets)
            enough = f" and ri[r, {TAKEN}] >= {component.least}" if closure and component.least > 1 else ""
            line(f"if m & {bits}{enough}:")
            self.emitter.depth += 1
            depth = self.emitter.depth
            self._guard(self.shape.at(state, Place.PROCEED), RunRows(self.registers, "r", state, None))
            for skipped, target in targets:
                inner = self.emitter.depth
                line(f"if m & {1 << self.shape.states[target].position}:")
                self.emitter.depth += 1
                self._begin("r", state, skipped, target)
                if is_next and open_test != "True":
                    line(f"gone = {'True' if open_test == 'False' else f'gone or not {open_test}'}")
                self.emitter.depth = inner
            self.emitter.depth = depth - 1
        if closure:
            line(f"if m & {1 << component.position} and {open_test}:")
            self.emitter.depth += 1
            self._take(state, component)
            self.emitter.depth -= 1

    def _take(self, state: int, component: Component) -> None:
        line, depth = self.emitter.line, self.emitter.depth
        rows = RunRows(self.registers, "r", state, component.variable, first=False)
        self._guard(self.shape.at(state, Place.TAKE), rows)
        if self.shape.strategy is Strategy.SKIP_TILL_ANY_MATCH:
            self._fork("r")
            line("t = runs")
            line("runs += 1")
        else:
            # the run as it was cannot go on: it changes in place, unless a simultaneous event is still to come
            line("gone = True")
            line("if x == g - 1:")
            line("    t = r")
            line("    moved = True")
            line("else:")
            self.emitter.depth += 1
            self._fork("r")
            line("t = runs")
            line("runs += 1")
            self.emitter.depth -= 1
        if component.most is not None:
            line(f"ri[t, {TAKEN}] += 1")
        elif component.least > 1:
            # of an unlimited closure only whether it has enough matters
            line(f"if ri[t, {TAKEN}] < {component.least}:")
            line(f"    ri[t, {TAKEN}] += 1")
        self._bound(state, "t", f"ri[t, {NODE}]", first=False)
        self.emitter.depth = depth

    def _begin(self, run: str, state: int, skipped: list[int], target: int) -> None:
        """Begin a component with event x, having left others empty."""
        line, component = self.emitter.line, self.shape.states[target]
        rows = RunRows(self.registers, run, state, None)
        tests = [self._test(c, rows) for one in skipped for c in self.shape.at(one, Place.PROCEED)]
        rows = RunRows(self.registers, run, state, component.variable)
        own = self.shape.at(target, Place.BEGIN) + self.shape.at(target, Place.TAKE)
        tests += [self._test(c, rows) for c in own if component.variable not in c.from_second]
        self.emitter.go_on_if(tests)
        if self._is_terminal(target) and not self._accepting(target):
            # nothing is left to do for the run but to be a match: its last event needs no node
            self._found(f"ri[{run}, {NODE}]", "base + x", target)
            return
        if run != "runs":
            self._fork(run)
        line(f"ri[runs, {STATE}] = {target}")
        line(f"ri[runs, {TAKEN}] = 1")
        if run != "runs":
            for text in self.registers.initial("runs", dead_at=target):
                line(text)
        self._bound(target, "runs", f"ri[runs, {NODE}]", first=True)
        if not self._is_terminal(target):
            line("runs += 1")

    def _start(self, skipped: list[int], target: int) -> None:
        """Start a run with event x: an empty run is written first, for formulas about what was left empty."""
        line, depth = self.emitter.line, self.emitter.depth
        line(f"if m & {1 << self.shape.states[target].position}:")
        self.emitter.depth += 1
        line(f"ri[runs, {START}] = clocks[x]")
        line(f"ri[runs, {FIRST}] = base + x")
        line(f"ri[runs, {NODE}] = -1")
        for text in self.registers.initial("runs"):
            line(text)
        if self.shape.keyed:
            line(f"{self._key('runs')} = keys[x]")
        self._begin("runs", -1, skipped, target)
        line("made += 1")
        self.emitter.depth = depth

    def _key(self, run: str) -> str:
        """The partition of a run, where runs of all partitions go through the stream together."""
        for state in range(len(self.shape.states)):
            self.registers.read(state, run, "key")
        return self.registers.slot(run, "key")

    # ---- runs and nodes ----------------------------------------------------------------------------------

    def _is_terminal(self, state: int) -> bool:
        """Whether a run that has bound its event has nothing left to bind."""
        component = self.shape.states[state]
        return not self.shape.after(state) and not (_is_closure(component) and component.most != 1)

    def _accepting(self, state: int) -> list[Conjunct]:
        """The conditions of a run's being a match at a state."""
        skipped = self.shape.trailing(state)
        return [c for one in (state, *(skipped or ())) for c in self.shape.at(one, Place.PROCEED)]

    def _fork(self, run: str) -> None:
        self._copy(self.emitter.line, run, "runs")
        self.emitter.line("made += 1")

    def _copy(self, line: Callable[[str], None], source: str, target: str) -> None:
        integers, floats = self.widths
        for column in range(integers):
            line(f"ri[{target}, {column}] = ri[{source}, {column}]")
        for column in range(floats if self.registers.floats else 0):
            line(f"rf[{target}, {column}] = rf[{source}, {column}]")

    def _bound(self, state: int, run: str, before: str, *, first: bool) -> None:
        """Finish a run that bound x: its registers, its node in the match store, and whether it is a match."""
        line, component = self.emitter.line, self.shape.states[state]
        line("changed = True")
        self.registers.update(component, state, run, self.emitter, first=first)
        self._node(state, before)
        line(f"ri[{run}, {NODE}] = nodes - 1")
        if self.shape.trailing(state) is not None:
            self._accept(state, run)

    def _node(self, state: int, before: str) -> None:
        """Add a node, and to the stretch of nodes before it if it goes on with one."""
        line = self.emitter.line
        line(f"q = {before}")
        line("event[nodes] = base + x")
        line(f"component[nodes] = {state}")
        line("before[nodes] = q")
        line(f"stretch[nodes] = stretch[q] + 1 if q >= 0 and q == nodes - 1 and component[q] == {state} else 1")
        line("nodes += 1")

    def _accept(self, state: int, run: str) -> None:
        """A run is a match when its last component is complete with the event just bound."""
        line, depth, component = self.emitter.line, self.emitter.depth, self.shape.states[state]
        if component.least > 1:
            line(f"if ri[{run}, {TAKEN}] >= {component.least}:")
            self.emitter.depth += 1
        self._guard(self._accepting(state), RunRows(self.registers, run, state, None))
        self._found("nodes - 1", "-1", state)
        self.emitter.depth = depth

    def _found(self, node: str, event: str, state: int) -> None:
        """Note a match: the node its path ends with, and what it binds after that, if anything."""
        line = self.emitter.line
        line(f"found[matches, 0] = {node}")
        line(f"found[matches, 1] = {event}")
        line(f"found[matches, 2] = {state}")
        line("matches += 1")

    @property
    def most_moves(self) -> int:
        """How many runs, nodes or matches can come of one run, or of starting one, at one event."""
        states = range(len(self.shape.states))
        return max(len(self.shape.after(-1)), *(len(self.shape.after(state)) + 1 for state in states))

    def _guard(self, conjuncts: list[Conjunct], rows: RunRows) -> None:
        """Go on only if conditions hold."""
        self.emitter.go_on_if([self._test(conjunct, rows) for conjunct in conjuncts])

    def _test(self, conjunct: Conjunct, rows: RunRows) -> Callable[[], str]:
        """Writes a condition and tells its flag; one that mentions an event which is not there is not applied."""

        def test() -> str:
            absent = {
                is_absent
                for literal in conjunct.literals
                for node in references(literal)
                if isinstance(node, Attribute | Moment) and (is_absent := rows.absent(node)) is not None
            }
            return self.emitter.holds(conjunct, rows, sorted(absent))

        return test


def _is_closure(component: Component) -> bool:
    return component.binds is Binds.CLOSURE and component.is_array
