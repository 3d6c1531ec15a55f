"""Moments, as source: an event takes its place among them or leaves it, and runs go that do not hold any more.

A run ends at a moment, or at several in a row if an ignorable arc took it on (AFA Appendix D).  It is in the list
of the last of them, and among what was made at the first.  `passing` counts the runs that end at a moment and at
the one behind it, too: so it is known when all of them are found.

At every moment there is one event by which runs are taken on: the oldest, which is the last of its list.
"""

from __future__ import annotations

from ouzel.physical.compiled.emit import Emitter


def insert(writer: Emitter) -> None:
    """Take an event: into its moment, or into a new one between two others (Algorithm 1, lines 2 to 7)."""
    write, block = writer.write, writer.block
    write("k = -1", "p = tails[parts[e]]", "is_between = 0", "stepping = 1")
    with block("if done > 1 and p >= 0 and orders[p] > order_of[e]:"):
        # events of a batch are in order: a late one is behind the one before it, and mostly not far
        write("y = queue[done - 2]")
        with block("if y >= 0 and parts[y] == parts[e] and order_of[y] <= order_of[e]:"):
            write("p = moment_of[y]", "k = after[p]")
            write("while k >= 0 and orders[k] <= order_of[e]:", "    p = k", "    k = after[p]")
    with block("while p >= 0 and orders[p] > order_of[e]:"):
        write("k = p", "p = before[p]")
    with block("if p >= 0 and orders[p] == order_of[e]:"):
        write("node = p", "p = before[node]", "k = node")
        write("event_next[e] = event_first[node]", "event_first[node] = e")
    with block("else:"):
        write("node = count", "count += 1", "times[node] = clocks[e]", "orders[node] = order_of[e]")
        write("before[node] = p", "after[node] = k", "event_first[node] = e", "event_next[e] = -1")
        write("run_first[node] = -1", "made_first[node] = -1", "passing[node] = 0")
        write("if p >= 0:", "    after[p] = node")
        with block("if k >= 0:"):
            write("before[k] = node", "is_between = 1", "until = orders[node]")
        write("else:", "    tails[parts[e]] = node")
    with block("if p >= 0 and k >= 0:"):
        _gather(writer)
    write("moment_of[e] = node", "old = run_first[node]", "r = run_first[p] if p >= 0 else -1", "stop = -1")
    write("prior = -1", "kept = -1", "only = e", "x = e")


def withdraw(writer: Emitter) -> None:
    """Take an event out, and its moment if it was alone there (Appendix C)."""
    write, block = writer.write, writer.block
    write("e = -e - 1", "node = moment_of[e]", "moment_of[e] = -2", "p = before[node]")
    with block("if event_first[node] == e:"):
        write("event_first[node] = event_next[e]")
    with block("else:"):
        write("y = event_first[node]")
        write("while event_next[y] != e:", "    y = event_next[y]")
        write("event_next[y] = event_next[e]")
    write("k = node", "until = orders[node] - 1")
    _kill_made(writer, "event_of[r] == e")
    write("k = after[node]", "fresh = -1", "old = -1", "prior = -1", "at = p", "stepping = 2")
    with block("if event_first[node] < 0:"):
        write("before[node] = -2")
        write("if p >= 0:", "    after[p] = k")
        write("if k >= 0:", "    before[k] = p", "else:", "    tails[parts[e]] = p")
        with block("if p >= 0:"):
            _hand_back(writer)
    with block("elif p >= 0 and event_next[e] < 0:"):
        # what it took on ends before; what other events of the moment leave as it is are runs already
        write("k = node")
        _gather(writer)
        write("k = after[node]", "r = run_first[p]")
        with block("while r >= 0 and ended_at[r] != p:"):
            cut(writer, "p")
            write("r = run_next[r]")


def _hand_back(writer: Emitter) -> None:
    """Let runs that ended at a moment which is gone end at p, before it; others that ended there go on now."""
    write, block = writer.write, writer.block
    write("fresh = run_first[p]", "r = run_first[node]")
    with block("while r >= 0:"):
        write("following = run_next[r]")
        with block("if not dead[r]:"):
            # it has gone on from there before
            write("prior = r if prior < 0 else prior", "ended_at[r] = p", "passing[p] -= 1")
            write("run_next[r] = run_first[p]", "run_first[p] = r")
        write("r = following")


def _gather(writer: Emitter) -> None:
    """Put runs that end at moment p, and at k or later, too, into the list of p, before those that end there."""
    write, block = writer.write, writer.block
    write("y = k", "left = passing[p]")
    with block("while left > 0:"):
        write("prior = -1", "r = run_first[y]")
        with block("while r >= 0:"):
            write("following = run_next[r]")
            write("is_long = event_of[r] < 0 or order_of[event_of[r]] <= orders[p]")
            with block("if is_long or dead[r]:"):
                unlink(writer, "y")
                with block("if not dead[r]:"):
                    write("run_next[r] = run_first[p]", "run_first[p] = r", "left -= 1")
            write("else:", "    prior = r")
            write("r = following")
        write("y = after[y]")


def unlink(writer: Emitter, moment: str) -> None:
    """Take run r out of the list of a moment, in which `following` is behind it and `prior` before."""
    writer.write("if prior < 0:", f"    run_first[{moment}] = following")
    writer.write("else:", "    run_next[prior] = following")


def cut(writer: Emitter, since: str) -> None:
    """Let run r end at moment p, where it ended later; those that passed from a moment on are one less."""
    writer.write("until = max(until, orders[ended_at[r]])", f"y = {since}")
    writer.write("while y != ended_at[r]:", "    passing[y] -= 1", "    y = after[y]")
    writer.write("ended_at[r] = p")


def kill(writer: Emitter) -> None:
    """From moment k on, take out what came of runs that are gone, or do not end at the moment before any more.

    What is gone may have made others up to the moment behind its last, and so on: that is the `until`.
    """
    with writer.block("while k >= 0 and (before[k] < 0 or orders[before[k]] <= until):"):
        writer.line("y = before[k] if before[k] >= 0 else k")
        is_gone = "parent[r] >= 0 and (dead[parent[r]] or orders[ended_at[parent[r]]] < orders[y])"
        _kill_made(writer, is_gone)
        writer.line("k = after[k]")


def _kill_made(writer: Emitter, is_gone: str) -> None:
    """Take runs out that were made at moment k; from the lists of those that end they are taken when next seen."""
    write, block = writer.write, writer.block
    write("last = -1", "r = made_first[k]")
    with block("while r >= 0:"):
        write("following = made_next[r]")
        with block(f"if {is_gone}:"):
            write("dead[r] = True", "until = max(until, orders[ended_at[r]])")
            write("if last < 0:", "    made_first[k] = following", "else:", "    made_next[last] = following")
            write("if accepted[r]:", "    killed[kills] = r", "    kills += 1")
            write("m = k")
            write("while m != ended_at[r]:", "    passing[m] -= 1", "    m = after[m]")
        write("else:", "    last = r")
        write("r = following")
