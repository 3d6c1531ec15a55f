"""Runs kept by event, as source: one more driver over the same moves, for events in any order (AFA 5.1).

Every moment of a partition has a list of the runs that end at it, and links to the moments before and after.  An
event that comes late takes a place between two moments: runs that passed from the one to the other are gone,
with all that came of them, and what comes of it goes on through the moments behind until nothing new comes
(Algorithm 1).  A withdrawn event takes its runs with it, and where it was alone, runs pass from the moment before
to the one behind.

An ignorable arc leads a run back to its state with its register as it was, and accepts nothing (Appendix D).  A
run that it takes on ends at one more moment, in place of a copy.  So it does at that of an event which comes late
between two of its moments, if an arc ignores it: then nothing that came of the run changes.

Runs know what they came of, so that what is to go is found without looking at others: the paper orders lists by
start, which is not enough where several events are simultaneous.  Nothing is taken out of the arrays here: they
are tidied up when time passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from ouzel.physical.automaton.moments_source import cut, insert, kill, unlink, withdraw
from ouzel.physical.automaton.registers import STATE, Slots
from ouzel.physical.automaton.source import RunWriter
from ouzel.physical.automaton.states import Move
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.stoppable import SEEN

EVENTS = ("masks", "clocks", "order_of", "parts", "moment_of", "event_next")
"""Of every event: what wants it, its time, what orders it, its partition, its moment, the next event of that."""

MOMENTS = ("times", "orders", "before", "after", "event_first", "run_first", "made_first", "passing")
"""Of every moment: its time, what orders it, its neighbours, its first event, the first run that ends there, the
first that was made there, and how many end at the one behind, too."""

RUNS = ("run_next", "made_next", "parent", "event_of", "ended_at", "dead", "accepted")
"""Of every run: the next that ends at its last moment, the next that was made at its first, the run it came of,
the event that made it, its last moment, two flags."""

CURSOR = (
    *("done", "stepping", "runs", "count", "matches", "kills", "made", "r", "stop", "x", "node", "old", "only"),
    *("prior", "kept", "kept_end", "is_between", "until"),
)
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


def by_event_source(slots: Slots, operands: Operands, *, ignores: bool = True) -> str:
    """Write the kernel that takes events that come, x, and those that go, ~x, in the order of a queue.

    If it `ignores`, runs that arcs leave as they are, are not copied.
    """
    writer = EventRunWriter(operands=operands, automaton=slots.automaton, slots=slots, ignores=ignores, depth=1)
    for place, name in enumerate(CURSOR):
        writer.line(f"{name} = cursor[{place}]")
    writer.write(REACH, "base = 0", f"status = {Status.DONE:d}")
    with writer.block("while done < len(queue) or stepping == 1:"):
        with writer.block("if stepping == 0:"):
            _stop(writer)
            writer.write("e = queue[done]", "done += 1")
            with writer.block("if e < 0:"):
                withdraw(writer)
            with writer.block("else:"):
                insert(writer)
        with writer.block("if stepping == 1:"):
            writer.step()
        # of a withdrawal it is the moment before that goes on
        kill(writer)
        writer.go_on()
    for place, name in enumerate(CURSOR):
        writer.line(f"cursor[{place}] = {name}")
    writer.line("return status")
    return f"@jit\ndef kernel({', '.join(SIGNATURE)}, {operands.parameters}):\n{writer.text}\n"


@dataclass(kw_only=True)
class EventRunWriter(RunWriter):
    """Writes what runs do that are kept by event; a run that moves is always a new one."""

    ignores: bool = True

    def step(self) -> None:
        """Let runs r to stop go on to the events of a moment, or to the only one that has just come."""
        most = max(self.most_moves, 1)
        is_short = f"runs + {most} > len(run_next) or matches + {most} > len(found)"
        self.write(f"oldest = {oldest('times[node]')}", "p = before[node]")
        with self.block("while r != stop:"):
            self.write("following = run_next[r]", "passed = False")
            with self.block("if dead[r]:"):
                unlink(self, "p")
                self.write("r = following", "continue")
            with self.block(f"while x >= 0 and not ({self.is_expired('r', 'oldest')}):"):
                self.write(f"if {is_short}:", f"    status = {Status.ROOM:d}", "    break")
                self.line("m = masks[x]")
                # where events are counted, those that follow each other have numbers that do (AFA+O, 5.3)
                with self.block("if m != 0 and (counted == 0 or order_of[x] == orders[p] + 1):"):
                    self.line(f"state = ri[r, {STATE}]")
                    for number, state in enumerate(self.automaton.states):
                        if state.moves:
                            with self.block(f"if state == {number}:"):
                                self._moves(number, state)
                self.line("x = -1 if only >= 0 else event_next[x]")
            self.write(f"if status != {Status.DONE:d}:", "    break")
            self._settle()
            self.write("r = following", "x = only if only >= 0 else event_first[node]")
        self.write(f"if status != {Status.DONE:d}:", "    break")
        with self.block("if only >= 0:"):
            self.write(f"if {is_short}:", f"    status = {Status.ROOM:d}", "    break")
            self.write("x = only", "m = masks[x]", "r = -1")
            for move in self.automaton.starts:
                self._start(move)
        self._arrived()

    def _settle(self) -> None:
        """Put run r into the list of the moment at which it ends, now that it is known whether it was taken on."""
        with self.block("if passed:"):
            unlink(self, "p")
            with self.block("if ended_at[r] == p:"):
                self.write("ended_at[r] = node", "passing[p] += 1")
            self.write("else:", "    passing[node] += 1")
        with self.block("elif ended_at[r] == p:"):
            self.line("prior = r")
        with self.block("elif event_next[only] >= 0:"):
            # it was taken on by another event of the moment
            unlink(self, "p")
        with self.block("else:"):
            self.write("passing[p] -= 1")
            cut(self, "after[node]")
            self.line("prior = r")
        with self.block("if prior != r:"):
            # what ends at this moment without being new has gone on to the next one before
            with self.block("if only >= 0 and ended_at[r] == node:"):
                self.write("kept_end = r if kept < 0 else kept_end", "run_next[r] = kept", "kept = r")
            with self.block("else:"):
                self.write("run_next[r] = run_first[ended_at[r]]", "run_first[ended_at[r]] = r")

    def _arrived(self) -> None:
        """Say what is new at this moment; behind one that came between two others, some may not hold any more."""
        self.write("at = node", "fresh = run_first[node]", "prior = -1", "k = -1")
        with self.block("if only >= 0:"):
            with self.block("if kept >= 0:"):
                self.write("run_next[kept_end] = fresh", "run_first[node] = kept", "prior = kept_end")
            self.write("k = after[node] if is_between == 1 else -1")

    def go_on(self) -> None:
        """Let what is new at a moment go on to the next one."""
        self.line("stepping = 0")
        with self.block("if fresh != old and after[at] >= 0:"):
            self.write("r = fresh", "stop = old", "node = after[at]", "old = run_first[node]")
            self.write("only = -1", "x = event_first[node]", "stepping = 1")

    def _make(self, move: Move, source: int, *, is_last: bool) -> None:  # noqa: ARG002 - no run changes in place
        if not self._is_ignorable(move, source):
            self._make_copy(move, source)
            return
        # each arc and each event are a computation: but for one of them, there are copies; where events are
        # counted, it matters which of them is the last
        self.write("if not passed and event_next[x] < 0 and counted == 0:", "    passed = True")
        with self.block("else:"):
            self._make_copy(move, source)

    def _make_copy(self, move: Move, source: int) -> None:
        self._fork(move, source)
        self._arrive(move, source, "t")

    def _is_ignorable(self, move: Move, source: int) -> bool:
        """Whether a move leaves a run as it is, and accepts nothing."""
        is_same = move.target == source and not move.assigns and move.binds is None
        return self.ignores and is_same and self.automaton.states[source].accepts is None

    def _fork(self, move: Move, source: int) -> None:
        super()._fork(move, source)
        self._link("t", "r")

    def _begin(self) -> None:
        super()._begin()
        self._link("runs", "-1")

    def _link(self, run: str, parent: str) -> None:
        """Put a run into the list of its moment."""
        self.write(f"run_next[{run}] = run_first[node]", f"run_first[node] = {run}")
        self.write(f"made_next[{run}] = made_first[node]", f"made_first[node] = {run}")
        self.write(f"event_of[{run}] = x", f"ended_at[{run}] = node", f"parent[{run}] = {parent}")
        self.write(f"dead[{run}] = False", f"accepted[{run}] = False")

    def _accept(self, move: Move, run: str) -> None:  # noqa: ARG002 - its registers are those of the run
        self.write(f"accepted[{run}] = True", f"found[matches] = {run}", "matches += 1")


def _stop(writer: RunWriter) -> None:
    """Look whether to stop."""
    with writer.block(SEEN):
        writer.line(f"return {Status.STOPPED:d}")
