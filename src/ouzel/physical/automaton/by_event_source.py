"""Runs kept by event, as source: one more driver over the same moves, for events in any order (AFA 5.1).

Every moment of a partition has a list of the runs that end at it, and links to the moments before and after.  An
event that comes late takes a place between two moments: runs that passed from the one to the other are gone,
with all that came of them, and what comes of it goes on through the moments behind until nothing new comes
(Algorithm 1).  A withdrawn event takes its runs with it, and where it was alone, runs pass from the moment before
to the one behind.

Runs know what they came of, so that what is to go is found without looking at others: the paper orders lists by
start, which is not enough where several events are simultaneous.  Nothing is taken out of the arrays here: they
are tidied up when time passes.
"""

from __future__ import annotations

from enum import IntEnum

from ouzel.physical.automaton.registers import NODE, STATE, Slots
from ouzel.physical.automaton.source import RunWriter
from ouzel.physical.automaton.states import Move
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.stoppable import SEEN

EVENTS = ("masks", "clocks", "order_of", "parts", "moment_of", "event_next")
"""Of every event: what wants it, its time, what orders it, its partition, its moment, the next event of that."""

MOMENTS = ("times", "orders", "before", "after", "event_first", "run_first")
"""Of every moment: its time, what orders it, its neighbours, its first event, and the first run that ends."""

RUNS = ("run_next", "parent", "event_of", "ended_at", "dead", "accepted")
"""Of every run: the next that ends at its moment, the run it came of, its last event, its moment, two flags."""

CURSOR = ("done", "stepping", "runs", "count", "matches", "kills", "made", "r", "stop", "x", "node", "old", "only")
"""What a kernel must know to go on, in the order of the array `cursor`."""

SIGNATURE = [
    *("board", "cursor", "queue", "limit", "counted", "tails", "ri", "rf", "found", "killed"),
    *(*EVENTS, *MOMENTS, *RUNS),
]


class Status(IntEnum):
    """Why a kernel returned: it is done, needs room for runs, or was told to stop."""

    DONE = 0
    ROOM = 1
    STOPPED = 2


def by_event_source(slots: Slots, operands: Operands) -> str:
    """Write the kernel that takes events that come, x, and those that go, ~x, in the order of a queue."""
    writer = EventRunWriter(operands=operands, automaton=slots.automaton, slots=slots, depth=1)
    for place, name in enumerate(CURSOR):
        writer.line(f"{name} = cursor[{place}]")
    writer.write(REACH, "base = 0", f"status = {Status.DONE:d}")
    with writer.block("while done < len(queue) or stepping == 1:"):
        with writer.block("if stepping == 0:"):
            _stop(writer)
            writer.write("e = queue[done]", "done += 1")
            with writer.block("if e < 0:"):
                _withdraw(writer)
            with writer.block("else:"):
                _insert(writer)
        writer.step()
    for place, name in enumerate(CURSOR):
        writer.line(f"cursor[{place}] = {name}")
    writer.line("return status")
    return f"@jit\ndef kernel({', '.join(SIGNATURE)}, {operands.parameters}):\n{writer.text}\n"


class EventRunWriter(RunWriter):
    """Writes what runs do that are kept by event; a run that moves is always a new one."""

    def step(self) -> None:
        """Let runs r to stop go on to the events of a moment, or to the only one that has just come."""
        most = max(self.most_moves, 1)
        is_short = f"runs + {most} > len(run_next) or matches + {most} > len(found)"
        self.line(f"oldest = {oldest('times[node]')}")
        with self.block("while r != stop:"):
            with self.block(f"if {self.is_expired('r', 'oldest')}:"):
                self.write("r = run_next[r]", "continue")
            with self.block("while x >= 0:"):
                self.write(f"if {is_short}:", f"    status = {Status.ROOM:d}", "    break")
                self.line("m = masks[x]")
                # where events are counted, those that follow each other have numbers that do (AFA+O, 5.3)
                with self.block(f"if m != 0 and (counted == 0 or order_of[x] == ri[r, {NODE}] + 1):"):
                    self.line(f"state = ri[r, {STATE}]")
                    for number, state in enumerate(self.automaton.states):
                        if state.moves:
                            with self.block(f"if state == {number}:"):
                                self._moves(number, state)
                self.line("x = -1 if only >= 0 else event_next[x]")
            self.write(f"if status != {Status.DONE:d}:", "    break")
            self.write("r = run_next[r]", "x = only if only >= 0 else event_first[node]")
        self.write(f"if status != {Status.DONE:d}:", "    break")
        with self.block("if only >= 0:"):
            self.write(f"if {is_short}:", f"    status = {Status.ROOM:d}", "    break")
            self.write("x = only", "m = masks[x]", "r = -1")
            for move in self.automaton.starts:
                self._start(move)
        # what is new at this moment goes on to the next one
        self.write("k = after[node]", "stepping = 0")
        with self.block("if run_first[node] != old and k >= 0:"):
            self.write("r = run_first[node]", "stop = old", "node = k", "old = run_first[k]")
            self.write("only = -1", "x = event_first[k]", "stepping = 1")

    def _make(self, move: Move, source: int, *, is_last: bool) -> None:  # noqa: ARG002 - no run changes in place
        self._fork(move, source)
        self._arrive(move, source, "t")

    def _fork(self, move: Move, source: int) -> None:
        super()._fork(move, source)
        self._link("t", "r")

    def _begin(self) -> None:
        super()._begin()
        self._link("runs", "-1")

    def _link(self, run: str, parent: str) -> None:
        """Put a run into the list of its moment."""
        self.write(f"run_next[{run}] = run_first[node]", f"run_first[node] = {run}", f"parent[{run}] = {parent}")
        self.write(f"event_of[{run}] = x", f"ended_at[{run}] = node", f"ri[{run}, {NODE}] = order_of[x]")
        self.write(f"dead[{run}] = False", f"accepted[{run}] = False")

    def _accept(self, move: Move, run: str) -> None:  # noqa: ARG002 - its registers are those of the run
        self.write(f"accepted[{run}] = True", f"found[matches] = {run}", "matches += 1")


def _insert(writer: RunWriter) -> None:
    """Take an event: into its moment, or into a new one between two others (Algorithm 1, lines 2 to 7)."""
    write, block = writer.write, writer.block
    write("k = -1", "p = tails[parts[e]]")
    with block("while p >= 0 and orders[p] > order_of[e]:"):
        write("k = p", "p = before[p]")
    with block("if p >= 0 and orders[p] == order_of[e]:"):
        write("node = p", "p = before[node]", "event_next[e] = event_first[node]", "event_first[node] = e")
    with block("else:"):
        write("node = count", "count += 1", "times[node] = clocks[e]", "orders[node] = order_of[e]")
        write("before[node] = p", "after[node] = k")
        write("event_first[node] = e", "event_next[e] = -1", "run_first[node] = -1")
        write("if p >= 0:", "    after[p] = node")
        with block("if k >= 0:"):
            write("before[k] = node", "mode = 0")
            _kill(writer)
        write("else:", "    tails[parts[e]] = node")
    write("moment_of[e] = node", "old = run_first[node]", "r = run_first[p] if p >= 0 else -1", "stop = -1")
    write("only = e", "x = e", "stepping = 1")


def _withdraw(writer: RunWriter) -> None:
    """Take an event out, and its moment if it was alone there (Appendix C)."""
    write, block = writer.write, writer.block
    write("e = -e - 1", "node = moment_of[e]", "moment_of[e] = -2")
    with block("if event_first[node] == e:"):
        write("event_first[node] = event_next[e]")
    with block("else:"):
        write("y = event_first[node]")
        write("while event_next[y] != e:", "    y = event_next[y]")
        write("event_next[y] = event_next[e]")
    write("k = node", "mode = 1")
    _kill(writer)
    write("if event_first[node] >= 0:", "    continue")
    write("p = before[node]", "k = after[node]", "before[node] = -2")
    write("if p >= 0:", "    after[p] = k")
    write("if k >= 0:", "    before[k] = p", "else:", "    tails[parts[e]] = p")
    write("if p < 0 or k < 0:", "    continue")
    write("r = run_first[p]", "stop = -1", "node = k", "old = run_first[k]", "only = -1", "x = event_first[k]")
    write("stepping = 1")


def _kill(writer: RunWriter) -> None:
    """Take runs out of moment k: those that came from before it (0), or by event e (1); then what came of them."""
    write, block = writer.write, writer.block
    with block("while k >= 0:"):
        write("last = -1", "gone = False", "r = run_first[k]")
        with block("while r >= 0:"):
            write("following = run_next[r]")
            write("is_gone = parent[r] >= 0")
            write("if mode == 1:", "    is_gone = event_of[r] == e")
            write("elif mode == 2 and is_gone:", "    is_gone = dead[parent[r]]")
            with block("if is_gone:"):
                write("dead[r] = True", "gone = True")
                write("if last < 0:", "    run_first[k] = following", "else:", "    run_next[last] = following")
                write("if accepted[r]:", "    killed[kills] = r", "    kills += 1")
            write("else:", "    last = r")
            write("r = following")
        # by completeness, what is gone further on came of what is gone here
        write("mode = 2", "k = after[k] if gone else -1")


def _stop(writer: RunWriter) -> None:
    """Look whether to stop."""
    with writer.block(SEEN):
        writer.line(f"return {Status.STOPPED:d}")
