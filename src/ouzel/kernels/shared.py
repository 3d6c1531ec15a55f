"""Very many automata as one (Cayuga 4): runs by the node at which they wait, found by indexes that events probe.

Everything is data: nodes, edges, what they ask of an event (`shared_tests.py`), and constants.  So one kernel
serves all queries, and none has to be compiled when a query comes.

- A *gate* is what ends the wait of runs at a node (a filter edge that is not taken), or what lets them go on.
- Gates of nodes at which runs wait are linked (the AN-index): by the values that they want of some columns an
  event finds those that may concern it.  Where a node has one gate only, it finds the runs themselves that way.
- Behind a gate there is a *fork*: its edges are found in the same way (the FR-index, of this fork alone).
- If a gate wants a column to equal what a run holds, that is part of how runs are found (the AI-index).
"""

from __future__ import annotations

from typing import Any

from ouzel.kernels.shared_links import (
    COUNT,
    FOUND,
    FREE,
    LOST,
    MADE,
    PEAK,
    POSITION,
    SHED,
    STAMP,
    after_start,
    drop_run,
    has_values,
    last_time,
    link_run,
    signed,
    stirred,
    waiting_hash,
)
from ouzel.kernels.shared_tests import passes

STOP, DONE = range(2)
DONE_ALL, MORE_RUNS, MORE_SPAWNED, MORE_OUT, STOPPED, TOO_MANY_RUNS, TOO_MANY_FOUND = range(7)
"""Why the kernel came back."""


def take_forks(
    graph: Any,
    fork: int,
    events: Any,
    e: int,
    held: Any,
    i: int,
    spawned: Any,
    count: int,
    state: Any,
    stack: Any,
    scratch: Any,
) -> int:
    """Note where an event leads from a fork; how many are noted then, or -1 if there is no room."""
    state[STAMP] += 1
    stamp = state[STAMP]
    group = graph.forks[fork]
    while group != -1:
        s = graph.groups[group, 1]
        hash_ = signed(graph, s, group, events, e)
        x = graph.edge_heads[hash_ & (len(graph.edge_heads) - 1)] if hash_ >= 0 else -1
        while x != -1:
            # first what is at hand, then what has to be fetched
            if (
                graph.edges[x, 0] == hash_
                and passes(graph, graph.edges[x, 1], graph.edges[x, 2], events, e, held, i, stack, scratch)
                and graph.edge_origins[x, 0] == group
                and has_values(graph, s, graph.edge_values, x, events, e)
            ):
                edge = graph.edges[x, 5]
                is_new = True
                if edge >= 0:  # it has alternatives
                    is_new = graph.edge_stamps[edge] != stamp
                    graph.edge_stamps[edge] = stamp
                if is_new:
                    if count == len(spawned):
                        return -1
                    spawned[count, 0] = graph.edges[x, 3]
                    spawned[count, 1] = i
                    spawned[count, 2] = e
                    spawned[count, 3] = x
                    count += 1
            x = graph.edges[x, 6]
        group = graph.groups[group, 2]
    return count


def meet_run(
    graph: Any,
    runs: Any,
    events: Any,
    e: int,
    g: int,
    i: int,
    tests: int,
    moment: int,
    mark: int,
    spawned: Any,
    count: int,
    doomed: Any,
    deaths: int,
    state: Any,
    stack: Any,
    scratch: Any,
) -> tuple[int, int]:
    """Let a run that waits meet an event at a gate, which asks the tests from one on; what is noted then."""
    if runs.places[i, 4] >= events.starts[e]:
        return count, deaths
    is_old = events.end_times[e] > runs.places[i, 6]
    is_let = not is_old and passes(graph, tests, graph.gates[g, 4], events, e, runs.held, i, stack, scratch)
    ends = graph.gates[g, 6] != 0
    # what is too old for all gates goes with what ends: links are in use right now
    if (is_old or (is_let and ends)) and runs.places[i, 5] != moment:
        runs.places[i, 5] = moment
        doomed[deaths] = i
        deaths += 1
    if is_let:
        # a gate may have alternatives, of which several let it through
        is_new = runs.seen[i] != mark
        runs.seen[i] = mark
        if is_new:
            count = take_forks(
                graph, graph.gates[g, 5], events, e, runs.held, i, spawned, count, state, stack, scratch
            )
    return count, deaths


def share_events(  # noqa: PLR0912, PLR0915 - one loop, so that nothing is passed around
    board: Any,
    graph: Any,
    runs: Any,
    events: Any,
    state: Any,
    spawned: Any,
    doomed: Any,
    found: Any,
    found_held: Any,
    stack: Any,
    scratch: Any,
    end: int,
    most_runs: int,
    most_found: int,
    sheds: bool,
) -> int:
    """Let events go through all automata, the events of a moment together; why it came back.

    A moment is undone if there is no room for what comes of it: runs that it ends are only noted until all is
    known.
    """
    held = runs.held
    position = state[POSITION]
    while position < end:
        if board[STOP] != 0:
            return STOPPED
        after = position + 1
        while after < end and events.ends[after] == events.ends[position]:
            after += 1
        count, deaths = 0, 0
        state[STAMP] += 1
        moment = state[STAMP]
        for e in range(position, after):
            state[STAMP] += 1
            mark = state[STAMP]
            # runs that are found by what their one gate wants
            for k in range(len(graph.probes)):
                s = graph.probes[k, 0]
                hash_ = signed(graph, s, graph.probes[k, 1], events, e)
                if hash_ >= 0 and graph.probes[k, 1] >= 0:
                    is_missing = (events.missing[e] >> graph.probes[k, 1]) & 1
                    hash_ = -1 if is_missing else stirred(hash_, events.codes[e, graph.probes[k, 1]])
                if hash_ < 0:
                    continue
                i = runs.heads[hash_ & (len(runs.heads) - 1)]
                while i != -1 and count >= 0:
                    after_run = runs.places[i, 2]
                    if events.end_times[e] > runs.places[i, 6]:
                        # too old for all gates: it goes with what ends, as links are in use right now
                        if runs.places[i, 5] != moment:
                            runs.places[i, 5] = moment
                            doomed[deaths] = i
                            deaths += 1
                    elif runs.places[i, 1] == hash_:
                        g = graph.nodes[runs.places[i, 0], 0]
                        if (
                            graph.nodes[runs.places[i, 0], 10] >= 0
                            and graph.gates[g, 1] == s
                            and has_values(graph, s, graph.gate_values, g, events, e)
                        ):
                            count, deaths = meet_run(
                                graph,
                                runs,
                                events,
                                e,
                                g,
                                i,
                                graph.gates[g, 2],
                                moment,
                                mark,
                                spawned,
                                count,
                                doomed,
                                deaths,
                                state,
                                stack,
                                scratch,
                            )
                    i = after_run
            # runs of nodes that have several gates, which an event finds one by one
            for k in range(len(graph.gate_signatures)):
                s = graph.gate_signatures[k]
                hash_ = signed(graph, s, 0, events, e)
                g = graph.gate_heads[hash_ & (len(graph.gate_heads) - 1)] if hash_ >= 0 else -1
                while g != -1 and count >= 0:
                    if (
                        graph.gates[g, 1] == s
                        and has_values(graph, s, graph.gate_values, g, events, e)
                        and passes(graph, graph.gates[g, 2], graph.gates[g, 3], events, e, held, 0, stack, scratch)
                    ):
                        node = graph.gates[g, 0]
                        column, hash_of_runs = graph.nodes[node, 1], stirred(7, node)
                        if column >= 0:
                            hash_of_runs = stirred(hash_of_runs, events.codes[e, column])
                        i = runs.heads[hash_of_runs & (len(runs.heads) - 1)]
                        while i != -1 and count >= 0:
                            after_run = runs.places[i, 2]
                            if runs.places[i, 0] == node and runs.places[i, 1] == hash_of_runs:
                                count, deaths = meet_run(
                                    graph,
                                    runs,
                                    events,
                                    e,
                                    g,
                                    i,
                                    graph.gates[g, 3],
                                    moment,
                                    mark,
                                    spawned,
                                    count,
                                    doomed,
                                    deaths,
                                    state,
                                    stack,
                                    scratch,
                                )
                            i = after_run
                    g = graph.gate_links[g, 0]
            if count >= 0:
                count = take_forks(graph, 0, events, e, held, -1, spawned, count, state, stack, scratch)
            if count < 0:
                forget_doomed(runs, doomed, deaths)
                return MORE_SPAWNED
        reason = settle_moment(
            graph, runs, events, state, spawned, count, found, found_held, most_runs, most_found, sheds
        )
        if reason != DONE_ALL:
            forget_doomed(runs, doomed, deaths)
            return reason
        for k in range(deaths):
            drop_run(graph, runs, state, doomed[k])
        board[DONE] += after - position
        position = after
        state[POSITION] = position
    return DONE_ALL


def forget_doomed(runs: Any, doomed: Any, count: int) -> None:
    """Undo what was noted of runs: the moment will be gone through again."""
    for k in range(count):
        runs.places[doomed[k], 5] = -1


def settle_moment(  # noqa: PLR0912, PLR0915 - as above
    graph: Any,
    runs: Any,
    events: Any,
    state: Any,
    spawned: Any,
    count: int,
    found: Any,
    found_held: Any,
    most_runs: int,
    most_found: int,
    sheds: bool,
) -> int:
    """Write down the matches of a moment, and let its new runs wait; nothing is done if there is no room."""
    out, new = state[FOUND], 0
    for k in range(count):
        node, x = spawned[k, 0], spawned[k, 3]
        if graph.edges[x, 7] >= 0:
            new += 1
            continue
        new += graph.nodes[node, 0] != -1
        first = spawned[k, 2] if spawned[k, 1] < 0 else runs.held[spawned[k, 1], 0]
        a = graph.nodes[node, 7]
        while a != -1:
            query = graph.accepts[a, 0]
            out += (
                events.end_times[first] >= graph.lives[query, 0]
                and events.end_times[spawned[k, 2]] < graph.lives[query, 1]
            )
            a = graph.accepts[a, 1]
    if out > most_found and not sheds:
        return TOO_MANY_FOUND
    if min(out, most_found) > len(found):
        return MORE_OUT
    room = most_runs - state[COUNT]
    if new > room and not sheds:
        return TOO_MANY_RUNS
    if min(new, room) + state[COUNT] > len(runs.places):
        return MORE_RUNS
    width = runs.held.shape[1]
    out = state[FOUND]
    for k in range(count):
        node, source, e, x = spawned[k, 0], spawned[k, 1], spawned[k, 2], spawned[k, 3]
        variable, is_told = graph.edges[x, 4], graph.edges[x, 7] >= 0
        first = e if source < 0 else runs.held[source, 0]
        a = -1 if is_told else graph.nodes[node, 7]
        while a != -1:
            query = graph.accepts[a, 0]
            if events.end_times[first] >= graph.lives[query, 0] and events.end_times[e] < graph.lives[query, 1]:
                if out < most_found:
                    found[out, 0] = query
                    found[out, 1] = graph.accepts[a, 2]
                    for j in range(width):
                        found_held[out, j] = -1 if source < 0 else runs.held[source, j]
                    found_held[out, variable] = e
                    out += 1
                else:
                    state[LOST] += 1
            a = graph.accepts[a, 1]
        if not is_told and graph.nodes[node, 0] == -1:
            continue
        if state[COUNT] >= most_runs:
            state[SHED] += 1
            continue
        i = state[FREE]
        state[FREE] = runs.places[i, 2]
        for j in range(width):
            runs.held[i, j] = -1 if source < 0 else runs.held[source, j]
        runs.held[i, variable] = e
        runs.places[i, 0] = node
        start = events.start_times[runs.held[i, 0]]
        runs.places[i, 4] = events.ends[e]
        runs.places[i, 5] = -1
        if is_told:
            runs.places[i, 1] = graph.edges[x, 7]
            runs.places[i, 6] = after_start(start, graph.edges[x, 8])
            runs.places[i, 7] = 1
        else:
            runs.places[i, 1] = waiting_hash(graph, node, events, runs.held, i)
            runs.places[i, 6] = last_time(graph, node, start)
            runs.places[i, 7] = graph.nodes[node, 10] >= 0
        runs.seen[i] = -1
        link_run(graph, runs, i)
        state[COUNT] += 1
        state[MADE] += 1
    state[FOUND] = out
    state[PEAK] = max(state[PEAK], state[COUNT])
    return DONE_ALL
