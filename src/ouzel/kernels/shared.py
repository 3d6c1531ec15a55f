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

from ouzel.kernels import shared_rows as at
from ouzel.kernels.shared_links import drop_run, has_values, signed, stirred
from ouzel.kernels.shared_moments import (
    DONE_ALL,
    MORE_SPAWNED,
    STOPPED,
    TOO_MANY_SPAWNED,
    room_for_moment,
    settle_moment,
)
from ouzel.kernels.shared_ranges import below, bucket_of, next_above
from ouzel.kernels.shared_tests import passes

STOP, DONE = range(2)


def take_forks(graph: Any, fork: int, events: Any, e: int, held: Any, i: int, work: Any) -> None:
    """Note where an event leads from a fork, as far as there is room; all of it is counted."""
    work.state[at.STAMP] += 1
    group = graph.forks[fork]
    while group != -1:
        s = graph.groups[group, at.GROUP_SIGNATURE]
        hash_ = signed(graph, s, group, events, e)
        x = graph.edge_heads[hash_ & (len(graph.edge_heads) - 1)] if hash_ >= 0 else -1
        while x != -1:
            if graph.edges[x, at.EDGE_HASH] == hash_:
                take_edge(graph, x, group, s, events, e, held, i, work)
            x = graph.edges[x, at.EDGE_NEXT]
        if hash_ >= 0 and graph.signatures[s, at.SIGNATURE_RANGE] >= 0 and len(graph.bucket_heads) > 0:
            take_ranges(graph, hash_, group, s, events, e, held, i, work)
        group = graph.groups[group, at.GROUP_NEXT]


def take_ranges(
    graph: Any, hash_: int, group: int, s: int, events: Any, e: int, held: Any, i: int, work: Any
) -> None:
    """Note where an event leads by edges that want a range in which it is."""
    column = graph.signatures[s, at.SIGNATURE_RANGE]
    if (events.missing[e] >> column) & 1:
        return
    code = events.codes[e, column]
    bucket = bucket_of(graph, graph.bucket_heads[hash_ & (len(graph.bucket_heads) - 1)], hash_, group)
    while bucket != -1:
        end = below(graph, bucket, code)
        place = next_above(graph, bucket, 0, code)
        while place < end:
            x = graph.bucket_edges[graph.buckets[bucket, at.BUCKET_BEGIN] + place, at.SORTED_EDGE]
            take_edge(graph, x, group, s, events, e, held, i, work)
            place = next_above(graph, bucket, place + 1, code)
        bucket = bucket_of(graph, graph.buckets[bucket, at.BUCKET_NEXT], hash_, group)


def take_edge(graph: Any, x: int, group: int, s: int, events: Any, e: int, held: Any, i: int, work: Any) -> None:
    """Note where an event leads by an edge of a group, if it passes its tests; what is at hand comes first."""
    begin, end = graph.edges[x, at.EDGE_TESTS], graph.edges[x, at.EDGE_TESTS_END]
    if not (
        passes(graph, begin, end, events, e, held, i, work)
        and graph.edge_origins[x, at.ORIGIN_GROUP] == group
        and has_values(graph, s, graph.edge_values, x, events, e)
    ):
        return
    state, spawned = work.state, work.spawned
    choice = graph.edges[x, at.EDGE_CHOICE]
    if choice >= 0:
        if graph.edge_stamps[choice] == state[at.STAMP]:
            return
        graph.edge_stamps[choice] = state[at.STAMP]
    count = state[at.SPAWNED]
    if count < len(spawned):
        spawned[count, at.SPAWN_NODE] = graph.edges[x, at.EDGE_NODE]
        spawned[count, at.SPAWN_RUN] = i
        spawned[count, at.SPAWN_EVENT] = e
        spawned[count, at.SPAWN_EDGE] = x
    state[at.SPAWNED] += 1


def join_starts(graph: Any, known: int, work: Any) -> None:
    """Look for the first edges of all automata among those that an event satisfies, which are noted from one on.

    Without an index over active nodes, the start of every automaton is one: this is for comparison (Cayuga 5.2.1).
    """
    state, spawned = work.state, work.spawned
    state[at.STAMP] += 1
    stamp = state[at.STAMP]
    for k in range(known, state[at.SPAWNED]):
        graph.edge_stamps[spawned[k, at.SPAWN_EDGE]] = stamp
    event = spawned[known, at.SPAWN_EVENT] if known < state[at.SPAWNED] else -1
    state[at.SPAWNED] = known
    for k in range(len(graph.starts)):
        x = graph.starts[k]
        if graph.edge_stamps[x] == stamp:
            count = state[at.SPAWNED]
            spawned[count, at.SPAWN_NODE] = graph.edges[x, at.EDGE_NODE]
            spawned[count, at.SPAWN_RUN] = -1
            spawned[count, at.SPAWN_EVENT] = event
            spawned[count, at.SPAWN_EDGE] = x
            state[at.SPAWNED] += 1


def meet_run(graph: Any, runs: Any, events: Any, e: int, g: int, i: int, tests: int, work: Any) -> None:
    """Let a run that waits meet an event at a gate, which asks the tests from one on, and note what comes."""
    if runs.places[i, at.RUN_LAST] >= events.starts[e]:
        return
    if events.end_times[e] > runs.places[i, at.RUN_UNTIL]:
        doom_run(runs, i, work)  # it is too old for all gates
        return
    if not passes(graph, tests, graph.gates[g, at.GATE_TESTS_END], events, e, runs.held, i, work):
        return
    if graph.gates[g, at.GATE_ENDS] != 0:
        doom_run(runs, i, work)
    # a gate may have alternatives, of which several let it through
    mark = work.state[at.MARK]
    if runs.seen[i] != mark:
        runs.seen[i] = mark
        take_forks(graph, graph.gates[g, at.GATE_FORK], events, e, runs.held, i, work)


def doom_run(runs: Any, i: int, work: Any) -> None:
    """Note that a run ends with this moment: links are in use until then."""
    state = work.state
    if runs.places[i, at.RUN_DOOMED] != state[at.MOMENT]:
        runs.places[i, at.RUN_DOOMED] = state[at.MOMENT]
        work.doomed[state[at.DEATHS]] = i
        state[at.DEATHS] += 1


def meet_by_gates(graph: Any, runs: Any, events: Any, e: int, work: Any) -> None:
    """Let an event meet the runs that are found by what their one gate wants."""
    for k in range(len(graph.probes)):
        s, column = graph.probes[k, at.PROBE_SIGNATURE], graph.probes[k, at.PROBE_COLUMN]
        hash_ = signed(graph, s, column, events, e)
        if hash_ >= 0 and column >= 0:
            is_missing = (events.missing[e] >> column) & 1
            hash_ = -1 if is_missing else stirred(hash_, events.codes[e, column])
        i = runs.heads[hash_ & (len(runs.heads) - 1)] if hash_ >= 0 else -1
        while i != -1:
            if events.end_times[e] > runs.places[i, at.RUN_UNTIL]:
                doom_run(runs, i, work)  # whichever it waits for
            elif runs.places[i, at.RUN_HASH] == hash_:
                node = runs.places[i, at.RUN_NODE]
                g = graph.nodes[node, at.NODE_GATE]
                if (
                    graph.nodes[node, at.NODE_HASH] >= 0
                    and graph.gates[g, at.GATE_SIGNATURE] == s
                    and has_values(graph, s, graph.gate_values, g, events, e)
                ):
                    meet_run(graph, runs, events, e, g, i, graph.gates[g, at.GATE_TESTS], work)
            i = runs.places[i, at.RUN_NEXT]


def meet_by_nodes(graph: Any, runs: Any, events: Any, e: int, work: Any) -> None:
    """Let an event meet the runs of nodes that have several gates, which it finds one by one."""
    for k in range(len(graph.gate_signatures)):
        s = graph.gate_signatures[k]
        hash_ = signed(graph, s, 0, events, e)
        g = graph.gate_heads[hash_ & (len(graph.gate_heads) - 1)] if hash_ >= 0 else -1
        while g != -1:
            begin, end = graph.gates[g, at.GATE_TESTS], graph.gates[g, at.GATE_DYNAMIC]
            if (
                graph.gates[g, at.GATE_SIGNATURE] == s
                and has_values(graph, s, graph.gate_values, g, events, e)
                and passes(graph, begin, end, events, e, runs.held, 0, work)
            ):
                node = graph.gates[g, at.GATE_NODE]
                column, hash_of_runs = graph.nodes[node, at.NODE_COLUMN], stirred(7, node)
                if column >= 0:
                    hash_of_runs = stirred(hash_of_runs, events.codes[e, column])
                i = runs.heads[hash_of_runs & (len(runs.heads) - 1)]
                while i != -1:
                    if runs.places[i, at.RUN_NODE] == node and runs.places[i, at.RUN_HASH] == hash_of_runs:
                        meet_run(graph, runs, events, e, g, i, end, work)
                    i = runs.places[i, at.RUN_NEXT]
            g = graph.gate_links[g, at.LINK_NEXT]


def share_events(board: Any, graph: Any, runs: Any, events: Any, work: Any, end: int, bounds: Any) -> int:
    """Let events go through all automata, the events of a moment together; why it came back.

    A moment is undone if there is no room for what comes of it: runs that it ends are only noted until all is
    known.
    """
    state = work.state
    while state[at.POSITION] < end:
        position = state[at.POSITION]
        after = position + 1
        while after < end and events.ends[after] == events.ends[position]:
            after += 1
        reason = go_through_moment(board, graph, runs, events, work, after, bounds)
        if reason != DONE_ALL:
            for k in range(state[at.DEATHS]):
                runs.places[work.doomed[k], at.RUN_DOOMED] = -1
            return reason
        settle_moment(graph, runs, events, work, bounds)
        for k in range(state[at.DEATHS]):
            drop_run(graph, runs, state, work.doomed[k])
        board[DONE] += after - position
        state[at.POSITION] = after
    return DONE_ALL


def go_through_moment(board: Any, graph: Any, runs: Any, events: Any, work: Any, after: int, bounds: Any) -> int:
    """Note all that the events of a moment do, up to the one after it; why it has to be undone, if it has."""
    state = work.state
    state[at.SPAWNED] = 0
    state[at.DEATHS] = 0
    state[at.STAMP] += 1
    state[at.MOMENT] = state[at.STAMP]
    for e in range(state[at.POSITION], after):
        if board[STOP] != 0:
            return STOPPED
        state[at.STAMP] += 1
        state[at.MARK] = state[at.STAMP]
        meet_by_gates(graph, runs, events, e, work)
        meet_by_nodes(graph, runs, events, e, work)
        known = state[at.SPAWNED]
        take_forks(graph, 0, events, e, runs.held, -1, work)
        if len(graph.starts) > 0 and state[at.SPAWNED] <= len(work.spawned):
            join_starts(graph, known, work)
    beyond = state[at.SPAWNED] - len(work.spawned)
    if beyond > 0:
        if len(work.spawned) < bounds.spawned:
            return MORE_SPAWNED
        if not bounds.sheds:
            return TOO_MANY_SPAWNED
        state[at.SHED] += beyond
        state[at.SPAWNED] -= beyond
    return room_for_moment(graph, runs, events, work, bounds)
