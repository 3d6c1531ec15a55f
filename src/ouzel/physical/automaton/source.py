"""Moves, stays and acceptance as source: what a run does at an event, or at several simultaneous ones.

Run r is at a state; copies of it become new runs, behind those that there are.  What a run bound is a path in the
match store, shared by all runs that were copied from it.  How runs are driven through the events is in drivers.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from ouzel.physical.automaton.assignments import assign
from ouzel.physical.automaton.registers import END, FIRST, KEY, NODE, START, STATE, Slots
from ouzel.physical.automaton.run_rows import RunRows, computed, holds, keep_computed
from ouzel.physical.automaton.states import Automaton, Condition, Guard, Move, State, key_of
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.windows import oldest

_Branch = tuple[tuple[Condition, ...], Move]


@dataclass(kw_only=True)
class RunWriter(Emitter):
    """Writes what runs do at the simultaneous events i to g."""

    automaton: Automaton
    slots: Slots
    depth: int = 0

    @property
    def most_moves(self) -> int:
        """How many runs, nodes or matches can come of one run, or of starting one, at one event."""
        return max(len(moves) for moves in (self.automaton.starts, *(one.moves for one in self.automaton.states)))

    def is_expired(self, run: str, oldest: str) -> str:
        """A test that no event from i on is in a run's window; where each event must be asked, none."""
        never = self.automaton.together or self.automaton.window is None
        return "False" if never else f"ri[{run}, {START}] <= {oldest}"

    def copy(self, source: str, target: str, move: Move | None = None) -> None:
        """Copy a run, or what a move does not change of it."""
        self.write(*self.slots.copied(source, target, move))

    # ---- moves and stays ---------------------------------------------------------------------------------

    def moves(self) -> None:
        """What run r does; `keep[r]` says whether it goes on, as it was or changed."""
        self.write("gone = False", "moved = False", f"state = ri[r, {STATE}]")
        with self.block("for x in range(i, g):"):
            self.line("m = masks[x]")
            self._never_stay()
            # the mask is zero for events that no move wants
            self.write("if m == 0:", "    continue")
            if self.automaton.together:
                # simultaneous events of several partitions may have several positions: each has its own window
                is_other = f"keys[x] != {self._key('r')} or ri[r, {START}] <= {oldest('clocks[x]')}"
                self.write(f"if {is_other}:", "    continue")
            if self.automaton.lasting:
                # what began before the run ended does not follow it (Cayuga, Algorithm 1)
                self.write(f"if starts[x] <= {self.slots.place('r', END)}:", "    continue")
            for number, state in enumerate(self.automaton.states):
                if state.moves:
                    with self.block(f"if state == {number}:"):
                        self._moves(number, state)
                        self.line("continue")
        self.line("keep[r] = moved or not gone")

    def _never_stay(self) -> None:
        """At any event, runs are over that cannot move and never stay."""
        if self.automaton.is_open:
            self.line("gone = True")
            return
        numbered = enumerate(self.automaton.states)
        going = [(number, state) for number, state in numbered if state.moves or state.closes is not None]
        never = [number for number, state in going if state.stay.unless is None]
        if never and len(never) < len(going):
            with self.block(f"if {' or '.join(f'state == {number}' for number in never)}:"):
                self.line("gone = True")
        elif never:
            self.line("gone = True")

    def _moves(self, number: int, state: State) -> None:
        """What a run at a state does with event x."""
        unless, moves = list(state.stay.unless or ()), list(state.moves)
        for guard in state.stay.unless or ():
            inner = [move for move in moves if move.guard.extends(guard)]
            if any(move.guard != guard for move in inner):
                # an event that ends the stay, among others one that moves the run (Cayuga 3.3)
                with self._guarded(guard):
                    self.line("gone = True")
                    self._branches(
                        [(move.guard.conditions[len(guard.conditions) :], move) for move in inner], number
                    )
                unless.remove(guard)
                moves = [move for move in moves if move not in inner]
        for move in moves:
            with self._guarded(move.guard):
                own = [guard for guard in unless if guard.extends(move.guard)]
                unless = [guard for guard in unless if guard not in own]
                for guard in own:
                    with self.scope():
                        self._go_on_if(guard.conditions[len(move.guard.conditions) :], "r")
                        self.line("gone = True")
                # what cannot stay may change in place, once nothing else can come of it as it was
                is_last = move is state.moves[-1] and (move.guard in own or state.stay.unless is None)
                self._make(move, number, is_last=is_last)
        for guard in unless:
            with self._guarded(guard):
                self.line("gone = True")

    def _branches(self, branches: list[_Branch], number: int) -> None:
        """Moves of a run that cannot stay, in their order; what neighbours begin with is asked once."""
        while branches:
            conditions, move = branches[0]
            if not conditions:
                self._make(move, number, is_last=move is self.automaton.states[number].moves[-1])
                branches = branches[1:]
                continue
            group = _beginning_with(conditions[0], branches)
            shared = _shared([one for one, _move in group])
            with self.scope():
                self._go_on_if(conditions[:shared], "r")
                self._branches([(one[shared:], move) for one, move in group], number)
            branches = branches[len(group) :]

    @contextmanager
    def _guarded(self, guard: Guard) -> Iterator[None]:
        """A block for events that satisfy a guard for run r."""
        with self.block(f"if m & {1 << guard.static}:"):
            self._go_on_if(guard.conditions, "r")
            yield

    def _go_on_if(self, conditions: Iterable[Condition], run: str) -> None:
        rows = RunRows(self.slots, run)
        self.go_on_if([partial(holds, condition, self, rows) for condition in conditions])

    def _make(self, move: Move, source: int, *, is_last: bool) -> None:
        """Make a move of run r."""
        if self._is_found(move, f"ri[r, {NODE}]"):
            return
        if not self.automaton.goes_on(move.target):
            # it is a match or nothing: its row is only needed for as long as it takes to find out
            self.copy("r", "runs", move)
            self.line("made += 1")
            self._arrive(move, source, "runs")
            return
        if is_last:
            with self.block("if x == g - 1:"):
                self.write("t = r", "moved = True")
            with self.block("else:"):
                self._fork(move, source)
        else:
            self._fork(move, source)
        self._arrive(move, source, "t")

    def _fork(self, move: Move, source: int) -> None:
        self.copy("r", "runs", move)
        if move.target == source:
            # where a run changes its state, what does not matter there is reset anyway
            self.write(*self.slots.first_values("runs", dead_at=source))
        self.write("t = runs", "runs += 1", "made += 1")

    # ---- starts ------------------------------------------------------------------------------------------

    def starts(self) -> None:
        """Every event that satisfies the guard of a first move starts a run."""
        with self.block("for x in range(i, g):"):
            self.line("m = masks[x]")
            if self.automaton.lasting:
                self.write(f"if start_clocks[x] <= {oldest('clocks[x]')}:", "    continue")
            for move in self.automaton.starts:
                self._start(move)

    def _start(self, move: Move) -> None:
        """Start a run with event x: conditions may read the first values of registers, of what was left empty."""
        conditions = move.guard.conditions
        reads = any(True for condition in conditions for _one in self.automaton.read_by(condition))
        with self.block(f"if m & {1 << move.guard.static}:"):
            if reads:
                self._begin()
            self._go_on_if(conditions, "runs")
            self.line("made += 1")
            if self._is_found(move, "-1"):
                return
            if not reads:
                self._begin()
            self._arrive(move, None, "runs")
            if self.automaton.goes_on(move.target):
                self.line("runs += 1")

    def _begin(self) -> None:
        """A run that has bound nothing, behind the others."""
        clock = "start_clocks[x]" if self.automaton.lasting else "clocks[x]"
        self.write(f"ri[runs, {START}] = {clock}", f"ri[runs, {FIRST}] = base + x", f"ri[runs, {NODE}] = -1")
        self.write(*self.slots.first_values("runs"))
        if self.automaton.together:
            self.line(f"{self._key('runs')} = keys[x]")

    def _key(self, run: str) -> str:
        """The partition of a run, where runs of all partitions go through the stream together."""
        return self.slots.place(run, KEY)

    # ---- what becomes of a run ---------------------------------------------------------------------------

    def _arrive(self, move: Move, source: int | None, run: str) -> None:
        """Finish a run that moved: its state and registers, its node in the match store, whether it is a match."""
        self.line("changed = True")
        values = computed(move, RunRows(self.slots, run if source is None else "r"), self)
        goes_on = self.automaton.goes_on(move.target)
        if move.target != source:
            self.line(f"ri[{run}, {STATE}] = {move.target}")
        if source is not None and move.target != source and goes_on:
            self.write(*self.slots.first_values(run, dead_at=move.target))
        assign(self.slots, move, run, self)
        keep_computed(values, RunRows(self.slots, run), self)
        if self.automaton.lasting:
            self.line(f"{self.slots.place(run, END)} = moments[x]")
        if move.binds is not None:
            self._bind(move.binds, run)
        accepts = self.automaton.states[move.target].accepts
        if accepts is not None:
            with self.scope():
                self._go_on_if(accepts, run)
                self._accept(move, run)

    def _accept(self, move: Move, run: str) -> None:
        """Note that a run is a match."""
        # of a run that does not bind the event, nothing else would tell when it ended
        event = "base + x" if move.binds is None else "-1"
        self._hand_over(move.target, run)
        self._found(f"ri[{run}, {NODE}]", event, move)

    def close(self, run: str) -> None:
        """Note that a run whose window is over is a match, if that is what it waits for."""
        for number, state in enumerate(self.automaton.states):
            if state.closes is not None:
                with self.block(f"if ri[{run}, {STATE}] == {number}:"):
                    self._hand_over(number, run)
                    last = self.slots.place(run, key_of(state.closes.of))
                    self.write("found[matches, 0] = -1", f"found[matches, 1] = {last}")
                    self.write(f"found[matches, 2] = {number}", "matches += 1")

    def _hand_over(self, state: int, run: str) -> None:
        """Note the values that a match reads."""
        for name, slots in zip(("found_i", "found_f"), self.slots.handed(state), strict=True):
            for place, slot in enumerate(slots):
                self.line(f"{name}[matches, {place}] = {self.slots.place(run, slot)}")

    def _bind(self, variable: int, run: str) -> None:
        """Add a node, and to the stretch of nodes before it if it goes on with one."""
        self.slots.keep_event(variable, self)
        self.write(
            f"q = ri[{run}, {NODE}]",
            "event[nodes] = base + x",
            f"component[nodes] = {variable}",
            "before[nodes] = q",
            f"stretch[nodes] = stretch[q] + 1 if q >= 0 and q == nodes - 1 and component[q] == {variable} else 1",
            f"ri[{run}, {NODE}] = nodes",
            "nodes += 1",
        )

    def _is_found(self, move: Move, node: str) -> bool:
        """Whether all that is left to do for a run is to be a match, which needs neither a node nor a row."""
        target = self.automaton.states[move.target]
        if target.moves or target.accepts != () or move.binds is None:
            return False
        self._found(node, "base + x", move)
        return True

    def _found(self, node: str, event: str, move: Move) -> None:
        """Note a match: the node its path ends with, and what it binds after that, if anything.

        Of one that hands over registers, the state is noted, which says what they mean.
        """
        end = move.target if self.automaton.states[move.target].hands_over else -1
        self.write(
            f"found[matches, 0] = {node}",
            f"found[matches, 1] = {event}",
            f"found[matches, 2] = {end if move.binds is None else move.binds}",
            "matches += 1",
        )


def _beginning_with(condition: Condition, branches: list[_Branch]) -> list[_Branch]:
    """The first branches, as long as they begin with a condition."""
    return list(takewhile(lambda branch: branch[0][:1] == (condition,), branches))


def _shared(guards: list[tuple[Condition, ...]]) -> int:
    """How many conditions guards begin with that are the same in all of them."""
    columns = zip(*guards, strict=False)
    return sum(1 for _one in takewhile(lambda column: all(one == column[0] for one in column), columns))
