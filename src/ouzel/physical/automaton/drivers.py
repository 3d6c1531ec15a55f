"""How runs are driven through the events of their partitions: all at once, or one after the other.

Both kernels go through the partitions in turn.  `begins` tells where the new events of each partition begin; what
was known of a partition before are its runs, rows from_runs[p] to until_runs[p] of old_ri and old_rf.

A kernel never makes an array longer: an array that a loop may replace is one that a compiler must look after at
every turn, which made these loops seven times slower.  Where room is short, a kernel notes in `cursor` where it is
and returns; it is called again with more room, and goes on.
"""

from __future__ import annotations

from enum import IntEnum

from ouzel.physical.automaton.registers import FIRST, NODE, START
from ouzel.physical.automaton.source import Writer
from ouzel.physical.automaton.store import UNION
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


_SHORT = (
    f"{Status.NODES:d} if nodes + room > len(event) else {Status.FOUND:d} if matches + room > len(found) "
    f"else {Status.RUNS:d} if runs + room > len(ri) else {Status.DONE:d}"
)

CURSOR = (
    "p",
    "i",
    "loaded",
    "runs",
    "nodes",
    "matches",
    "live",
    "stamp",
    "made",
    "merged",
    "shed",
    "peak",
    "lost",
)
"""What a kernel must know to go on, in the order of the array `cursor`."""

_ARGUMENTS = """board, cursor, base, masks, keys, begins, moments, clocks, limit, merge,
    most_runs, sheds, most_nodes, most_found, from_runs, until_runs, old_ri, old_rf, ri, rf, keep, slots, stamps,
    to_runs, new_ri, new_rf, found, event, component, before, lesser, stretch"""


def breadth_first(writer: Writer) -> str:
    """All runs at every event (SASE+ 5.2.1), equal ones merged if asked to (5.2.2).

    A merged run goes on as long as the one that started last.  Its node is a union: `before` leads to the paths
    that started last, `event` to the others, of which `lesser` is the latest start, to tell when they expire.
    """
    moves, starts = writer.moves(5), writer.starts(3)
    return f"""
@jit
def kernel(
    {_ARGUMENTS}, {writer.registers.operands.parameters}
):
{_load()}
    {REACH}
    while p < len(begins) - 1:
        if loaded == 0:
            runs = until_runs[p] - from_runs[p]
            if runs > len(ri):
                runs = 0
                {_return(Status.RUNS, 4)}
            copy_rows(old_ri, from_runs[p], ri, 0, runs)
            copy_rows(old_rf, from_runs[p], rf, 0, runs)
            i = begins[p]
            loaded = 1
        while i < begins[p + 1]:
            board[1] = i - begins[0]
            {SEEN}
                return {int(Status.STOPPED)}
            g = i + 1
            while g < begins[p + 1] and moments[g] == moments[i]:
                g += 1
            room = (runs + 1) * (g - i) * {writer.most_moves} + runs
            if nodes + 2 * room > len(event):
                {_return(Status.NODES, 4)}
            if matches + room > len(found):
                {_return(Status.FOUND, 4)}
            if runs + room > len(ri):
                {_return(Status.RUNS, 4)}
            old = runs
            changed = False
            oldest = {oldest("clocks[i]")}
            for r in range(old):
                if {writer.is_expired("r", "oldest")}:
                    keep[r] = False
                else:
{moves}
{starts}
            alive = 0
            if merge and changed and runs > 1:
                stamp += 1
                for r in range(runs):
                    if r < old and not keep[r]:
                        continue
                    h = hash_run(ri, rf, r) & (len(slots) - 1)
                    while stamps[h] == stamp and not same_run(ri, rf, r, slots[h]):
                        h = (h + 1) & (len(slots) - 1)
                    if stamps[h] == stamp:
                        o = slots[h]
                        component[nodes] = {UNION}
                        if ri[o, {START}] >= ri[r, {START}]:
                            before[nodes] = ri[o, {NODE}]
                            event[nodes] = ri[r, {NODE}]
                            lesser[nodes] = ri[r, {FIRST}]
                        else:
                            before[nodes] = ri[r, {NODE}]
                            event[nodes] = ri[o, {NODE}]
                            lesser[nodes] = ri[o, {FIRST}]
                            ri[o, {START}] = ri[r, {START}]
                            ri[o, {FIRST}] = ri[r, {FIRST}]
                        ri[o, {NODE}] = nodes
                        nodes += 1
                        merged += 1
                        continue
                    stamps[h] = stamp
                    slots[h] = alive
                    if alive != r:
{writer.copy(6, "r", "alive")}
                    alive += 1
            else:
                for r in range(runs):
                    if r >= old or keep[r]:
                        if alive != r:
{writer.copy(7, "r", "alive")}
                        alive += 1
            runs = alive
            peak = max(peak, live + runs)
            i = g
            if live + runs > most_runs:
                if not sheds:
                    {_return(Status.TOO_MANY_RUNS, 5)}
                # the runs that began first stay
                shed += min(live + runs - most_runs, runs)
                runs = max(most_runs - live, 0)
            if nodes > most_nodes:
                if not sheds:
                    {_return(Status.TOO_MANY_NODES, 5)}
                # nodes are for good: without runs there will be no more of them than of events
                shed += runs
                runs = 0
            if matches > most_found:
                if not sheds:
                    {_return(Status.TOO_MANY_MATCHES, 5)}
                lost += matches - most_found
                matches = most_found
        if live + runs > len(new_ri):
            {_return(Status.NEW_RUNS, 3)}
        copy_rows(ri, 0, new_ri, live, runs)
        copy_rows(rf, 0, new_rf, live, runs)
        live += runs
        to_runs[p + 1] = live
        p += 1
        loaded = 0
    {_return(Status.DONE, 1)}
"""


def depth_first(writer: Writer) -> str:
    """One run at a time, forks postponed (SASE+ 5.2.3): for comparison, and over a whole stream only.

    Row 0 is the singleton run; those postponed lie above it as a stack, each with the event at which it goes on,
    in `slots`.  Where room is short, all that came of one start is undone and done again.
    """
    moves, starts = writer.moves(5), writer.starts(4)
    return f"""
@jit
def kernel(
    {_ARGUMENTS}, {writer.registers.operands.parameters}
):
{_load()}
    {REACH}
    while p < len(begins) - 1:
        if loaded == 0:
            i = begins[p]
            loaded = 1
        while i < begins[p + 1]:
            board[1] = i - begins[0]
            start = i
            nodes_before = nodes
            matches_before = matches
            g = i + 1
            while g < begins[p + 1] and moments[g] == moments[i]:
                g += 1
            next_start = g
            changed = False
            runs = 1
            postponed = 1
            room = (g - i) * {writer.most_moves} + 1
            status = {_SHORT}
            if status == {int(Status.DONE)}:
{starts}
            while runs > 1 and status == {int(Status.DONE)}:
                {SEEN}
                    return {int(Status.STOPPED)}
                while postponed < runs:
                    slots[postponed] = g
                    postponed += 1
                peak = max(peak, runs)
                runs -= 1
                postponed = runs
{writer.copy(4, "runs", "0")}
                i = slots[runs]
                r = 0
                keep[0] = True
                while keep[0] and i < begins[p + 1] and not {writer.is_expired("0", oldest("clocks[i]"))}:
                    g = i + 1
                    while g < begins[p + 1] and moments[g] == moments[i]:
                        g += 1
                    merged += g - i
                    room = 2 * (g - i) * {writer.most_moves} + 1
                    status = {_SHORT}
                    if status != {int(Status.DONE)}:
                        break
{moves}
                    while postponed < runs:
                        slots[postponed] = g
                        postponed += 1
                    i = g
                g = i
            if status == {int(Status.DONE)} and peak > most_runs:
                status = {int(Status.TOO_MANY_RUNS)}
            if status == {int(Status.DONE)} and nodes > most_nodes:
                status = {int(Status.TOO_MANY_NODES)}
            if status == {int(Status.DONE)} and matches > most_found:
                if sheds:
                    lost += matches - most_found
                    matches = most_found
                else:
                    status = {int(Status.TOO_MANY_MATCHES)}
            if status != {int(Status.DONE)}:
                i = start
                nodes = nodes_before
                matches = matches_before
                runs = 0
                {_save(4)}
                return status
            i = next_start
        p += 1
        loaded = 0
    {_return(Status.DONE, 1)}
"""


def _load() -> str:
    return "\n".join(f"    {name} = cursor[{place}]" for place, name in enumerate(CURSOR))


def _save(depth: int) -> str:
    return ("\n" + "    " * depth).join(f"cursor[{place}] = {name}" for place, name in enumerate(CURSOR))


def _return(status: Status, depth: int) -> str:
    return f"{_save(depth)}\n{'    ' * depth}return {int(status)}"
