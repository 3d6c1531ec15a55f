"""How runs are driven through the events of their partitions: all at once, or one after the other.

Both kernels go through the partitions in turn.  `begins` tells where the new events of each partition begin; what
was known of a partition before are its runs, rows from_runs[p] to until_runs[p] of old_ri and old_rf.

A kernel never makes an array longer: an array that a loop may replace is one that a compiler must look after at
every turn, which made these loops seven times slower.  Where room is short, a kernel leaves its loops with a
status, notes in `cursor` where it is and returns; it is called again with more room, and goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

from ouzel.physical.automaton.parameters import CURSOR, SIGNATURE
from ouzel.physical.automaton.registers import FIRST, NODE, START, Slots
from ouzel.physical.automaton.source import RunWriter
from ouzel.physical.automaton.store import UNION
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import REACH, oldest
from ouzel.physical.stoppable import SEEN


class Status(IntEnum):
    """Why a kernel returned: it is done, needs room, has reached a limit, or was told to stop."""

    DONE = 0
    NODES = 1
    FOUND = 2
    RUNS = 3
    NEW_RUNS = 4
    TOO_MANY_RUNS = 5
    TOO_MANY_NODES = 6
    STOPPED = 7
    TOO_MANY_MATCHES = 8


Driver = Callable[[RunWriter], None]


def kernel_source(slots: Slots, operands: Operands, driver: Driver) -> str:
    """Write a kernel that drives the runs of an automaton."""
    writer = RunWriter(operands=operands, automaton=slots.automaton, slots=slots, depth=1)
    for place, name in enumerate(CURSOR):
        writer.line(f"{name} = cursor[{place}]")
    writer.write(REACH, "first = begins[0]", f"status = {Status.DONE:d}")
    driver(writer)
    for place, name in enumerate(CURSOR):
        writer.line(f"cursor[{place}] = {name}")
    writer.line("return status")
    return f"@jit\ndef kernel({', '.join(SIGNATURE)}, {operands.parameters}):\n{writer.text}\n"


def breadth_first(writer: RunWriter) -> None:
    """All runs at every event (SASE+ 5.2.1), equal ones merged if asked to (5.2.2)."""
    line, block = writer.line, writer.block
    with _partitions(writer):
        with block("if loaded == 0:"):
            line("runs = until_runs[p] - from_runs[p]")
            with block("if runs > len(ri):"):
                line("runs = 0")
                _leave(writer, Status.RUNS)
            line("copy_rows(old_ri, from_runs[p], ri, 0, runs)")
            line("copy_rows(old_rf, from_runs[p], rf, 0, runs)")
            line("i = begins[p]")
            line("loaded = 1")
        with _events(writer):
            _stop(writer)
            _moment(writer)
            line(f"room = (runs + 1) * (g - i) * {writer.most_moves} + runs")
            nodes = [(Status.NODES, "nodes + 2 * room > len(event)")] if writer.automaton.has_paths else []
            for status, is_short in (
                *nodes,
                (Status.FOUND, "matches + room > len(found)"),
                (Status.RUNS, "runs + room > len(ri)"),
            ):
                with block(f"if {is_short}:"):
                    _leave(writer, status)
            line("old = runs")
            line("changed = False")
            line("ended = False")
            line(f"oldest = {oldest('clocks[i]')}")
            with block("for r in range(old):"):
                with block(f"if {writer.is_expired('r', 'oldest')}:"):
                    line("keep[r] = False")
                    writer.close("r")
                with block("else:"):
                    writer.moves()
                line("ended = ended or not keep[r]")
            writer.starts()
            many = " and g > i + 1" if writer.automaton.distinct else ""
            with block(f"if merge and changed and runs > 1{many}:"):
                _merge(writer)
            with block("elif ended:"):
                _close_up(writer)
            line("peak = max(peak, live + runs)")
            line("i = g")
            _limits(writer)
        with block("if live + runs > len(new_ri):"):
            _leave(writer, Status.NEW_RUNS)
        line("copy_rows(ri, 0, new_ri, live, runs)")
        line("copy_rows(rf, 0, new_rf, live, runs)")
        line("live += runs")
        line("to_runs[p + 1] = live")


def _merge(writer: RunWriter) -> None:
    """Make runs of one future one run, and close up.

    A merged run goes on as long as the one that started last.  Its node is a union: `before` leads to the paths
    that started last, `event` to the others, of which `lesser` is the latest start, to tell when they expire.
    """
    line, write, block = writer.line, writer.write, writer.block
    write("stamp += 1", "alive = 0")
    with block("for r in range(runs):"):
        write("if r < old and not keep[r]:", "    continue")
        line("h = hash_run(ri, rf, r) & (len(slots) - 1)")
        with block("while stamps[h] == stamp and not same_run(ri, rf, r, slots[h]):"):
            line("h = (h + 1) & (len(slots) - 1)")
        with block("if stamps[h] == stamp:"):
            line("o = slots[h]")
            # runs that bind nothing have no paths to join
            has_paths = writer.automaton.has_paths
            with block(f"if ri[o, {START}] < ri[r, {START}]:"):
                if has_paths:
                    _join(writer, "r", "o")
                line(f"ri[o, {START}] = ri[r, {START}]")
                line(f"ri[o, {FIRST}] = ri[r, {FIRST}]")
            if has_paths:
                with block("else:"):
                    _join(writer, "o", "r")
            write("merged += 1", "continue")
        write("stamps[h] = stamp", "slots[h] = alive")
        with block("if alive != r:"):
            writer.copy("r", "alive")
        line("alive += 1")
    line("runs = alive")


def _join(writer: RunWriter, later: str, other: str) -> None:
    """Make the path of run o a union of two."""
    writer.write(
        f"component[nodes] = {UNION}",
        f"before[nodes] = ri[{later}, {NODE}]",
        f"event[nodes] = ri[{other}, {NODE}]",
        f"lesser[nodes] = ri[{other}, {FIRST}]",
        f"ri[o, {NODE}] = nodes",
        "nodes += 1",
    )


def _close_up(writer: RunWriter) -> None:
    """Move runs to where others have ended."""
    line, block = writer.line, writer.block
    line("alive = 0")
    with block("for r in range(runs):"), block("if r >= old or keep[r]:"):
        with block("if alive != r:"):
            writer.copy("r", "alive")
        line("alive += 1")
    line("runs = alive")


def _limits(writer: RunWriter) -> None:
    """Shed what is too much, or leave."""
    line, block = writer.line, writer.block
    with block("if live + runs > most_runs:"):
        with block("if not sheds:"):
            _leave(writer, Status.TOO_MANY_RUNS)
        # the runs that began first stay
        line("shed += min(live + runs - most_runs, runs)")
        line("runs = max(most_runs - live, 0)")
    with block("if nodes > most_nodes:"):
        with block("if not sheds:"):
            _leave(writer, Status.TOO_MANY_NODES)
        # nodes are for good: without runs there will be no more of them than of events
        line("shed += runs")
        line("runs = 0")
    with block("if matches > most_found:"):
        with block("if not sheds:"):
            _leave(writer, Status.TOO_MANY_MATCHES)
        line("lost += matches - most_found")
        line("matches = most_found")


def depth_first(writer: RunWriter) -> None:
    """One run at a time, forks postponed (SASE+ 5.2.3): for comparison, and over a whole stream only.

    Row 0 is the singleton run; those postponed lie above it as a stack, each with the event at which it goes on,
    in `slots`.  Where room is short, all that came of one start is undone and done again.
    """
    line, write, block = writer.line, writer.write, writer.block
    done = int(Status.DONE)
    with _partitions(writer):
        write("if loaded == 0:", "    i = begins[p]", "    loaded = 1")
        with _events(writer):
            write("start = i", "nodes_before = nodes", "matches_before = matches")
            _moment(writer)
            write("next_start = g", "changed = False", "runs = 1", "postponed = 1")
            line(f"room = (g - i) * {writer.most_moves} + 1")
            line(f"status = {_SHORT}")
            with block(f"if status == {done}:"):
                writer.starts()
            with block(f"while runs > 1 and status == {done}:"):
                _stop(writer)
                _postpone(writer)
                write("peak = max(peak, runs)", "runs -= 1", "postponed = runs")
                writer.copy("runs", "0")
                write("i = slots[runs]", "r = 0", "keep[0] = True")
                expired = writer.is_expired("0", oldest("clocks[i]"))
                with block(f"while keep[0] and i < until and not {expired}:"):
                    _moment(writer)
                    line("read += g - i")
                    line(f"room = 2 * (g - i) * {writer.most_moves} + 1")
                    line(f"status = {_SHORT}")
                    write(f"if status != {done}:", "    break")
                    writer.moves()
                    _postpone(writer)
                    line("i = g")
                if any(state.closes is not None for state in writer.automaton.states):
                    # its window is over, or there are no more events
                    with block(f"if keep[0] and status == {done}:"):
                        write("if matches == len(found):", f"    status = {Status.FOUND:d}", "    break")
                        writer.close("0")
                line("g = i")
            _depth_limits(writer)
            with block(f"if status != {done}:"):
                write("i = start", "nodes = nodes_before", "matches = matches_before", "runs = 0", "break")
            line("i = next_start")


_SHORT = (
    f"{Status.NODES:d} if nodes + room > len(event) else {Status.FOUND:d} if matches + room > len(found) "
    f"else {Status.RUNS:d} if runs + room > len(ri) else {Status.DONE:d}"
)


def _postpone(writer: RunWriter) -> None:
    """Note where runs that were made go on."""
    with writer.block("while postponed < runs:"):
        writer.write("slots[postponed] = g", "postponed += 1")


def _depth_limits(writer: RunWriter) -> None:
    """Return when there is too much of something; matches can be shed."""
    line, block = writer.line, writer.block
    is_done = f"status == {int(Status.DONE)}"
    for status, is_reached in (
        (Status.TOO_MANY_RUNS, "peak > most_runs"),
        (Status.TOO_MANY_NODES, "nodes > most_nodes"),
    ):
        with block(f"if {is_done} and {is_reached}:"):
            line(f"status = {int(status)}")
    with block(f"if {is_done} and matches > most_found:"):
        with block("if sheds:"):
            line("lost += matches - most_found")
            line("matches = most_found")
        with block("else:"):
            line(f"status = {int(Status.TOO_MANY_MATCHES)}")


# ---- what both do ----------------------------------------------------------------------------------------


@contextmanager
def _partitions(writer: RunWriter) -> Iterator[None]:
    """A loop over the partitions."""
    with writer.block("while p < len(begins) - 1:"):
        yield
        writer.write("p += 1", "loaded = 0")


@contextmanager
def _events(writer: RunWriter) -> Iterator[None]:
    """A loop over the events of a partition; who leaves it with a status leaves that over partitions too."""
    # a number of its own: an element of an array would be read again at every turn
    writer.line("until = begins[p + 1]")
    with writer.block("while i < until:"):
        writer.line("board[1] = i - first")
        yield
    writer.write(f"if status != {Status.DONE:d}:", "    break")


def _moment(writer: RunWriter) -> None:
    """The events i to g are simultaneous."""
    writer.line("g = i + 1")
    with writer.block("while g < until and moments[g] == moments[i]:"):
        writer.line("g += 1")


def _stop(writer: RunWriter) -> None:
    """Look whether to stop."""
    with writer.block(SEEN):
        writer.line(f"return {int(Status.STOPPED)}")


def _leave(writer: RunWriter, status: Status) -> None:
    """Leave a loop over events or partitions."""
    writer.write(f"status = {status:d}", "break")
