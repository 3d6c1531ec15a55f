"""What comes of a moment, in plans that many queries share: matches, and runs that wait from then on."""

from __future__ import annotations

from typing import Any

from ouzel.kernels import shared_rows as at
from ouzel.kernels.shared_links import make_run

(
    DONE_ALL,
    MORE_RUNS,
    MORE_SPAWNED,
    MORE_OUT,
    STOPPED,
    TOO_MANY_RUNS,
    TOO_MANY_FOUND,
    TOO_MANY_NODES,
    TOO_MANY_SPAWNED,
) = range(9)
"""Why the kernel came back."""


def is_valid(graph: Any, events: Any, query: int, first: int, last: int) -> bool:
    """Whether a query sees all events from one to another."""
    return (  # type: ignore[no-any-return]
        events.end_times[first] >= graph.lives[query, at.SINCE]
        and events.end_times[last] < graph.lives[query, at.UNTIL]
    )


def held_with(runs: Any, i: int, variable: int) -> int:
    """How many events a run holds with one more, which may be in the place of another."""
    return (runs.places[i, at.RUN_HELD] >> 1) + (runs.held[i, variable] < 0)  # type: ignore[no-any-return]


def room_for_moment(graph: Any, runs: Any, events: Any, work: Any, bounds: Any) -> int:
    """Whether there is room for all that comes of a moment, or for so much as bounds allow; else why not."""
    state, spawned = work.state, work.spawned
    out, new, held = state[at.FOUND], 0, state[at.HELD]
    for k in range(state[at.SPAWNED]):
        node, source, e = spawned[k, at.SPAWN_NODE], spawned[k, at.SPAWN_RUN], spawned[k, at.SPAWN_EVENT]
        x = spawned[k, at.SPAWN_EDGE]
        variable = graph.edges[x, at.EDGE_PLACE]
        if graph.edges[x, at.EDGE_WAITS] < 0:
            first = e if source < 0 else runs.held[source, 0]
            a = graph.nodes[node, at.NODE_ACCEPT]
            while a != -1:
                out += is_valid(graph, events, graph.accepts[a, at.ACCEPT_QUERY], first, e)
                a = graph.accepts[a, at.ACCEPT_NEXT]
            if graph.nodes[node, at.NODE_GATE] == -1:
                continue
        new += 1
        held += 1 if source < 0 else held_with(runs, source, variable)
    if out > bounds.found and not bounds.sheds:
        return TOO_MANY_FOUND
    if min(out, bounds.found) > len(work.found):
        return MORE_OUT
    room = bounds.runs - state[at.COUNT]
    if new > room and not bounds.sheds:
        return TOO_MANY_RUNS
    if held > bounds.nodes and not bounds.sheds:
        return TOO_MANY_NODES
    if min(new, room) + state[at.COUNT] > len(runs.places):
        return MORE_RUNS
    return DONE_ALL


def settle_moment(graph: Any, runs: Any, events: Any, work: Any, bounds: Any) -> None:
    """Write down the matches of a moment, and let its new runs wait; there is room."""
    state, spawned, found, width = work.state, work.spawned, work.found, runs.held.shape[1]
    for k in range(state[at.SPAWNED]):
        node, source, e = spawned[k, at.SPAWN_NODE], spawned[k, at.SPAWN_RUN], spawned[k, at.SPAWN_EVENT]
        x = spawned[k, at.SPAWN_EDGE]
        variable, is_told = graph.edges[x, at.EDGE_PLACE], graph.edges[x, at.EDGE_WAITS] >= 0
        first = e if source < 0 else runs.held[source, 0]
        a = -1 if is_told else graph.nodes[node, at.NODE_ACCEPT]
        while a != -1:
            query = graph.accepts[a, at.ACCEPT_QUERY]
            if is_valid(graph, events, query, first, e):
                out = state[at.FOUND]
                if out < bounds.found:
                    found[out, at.FOUND_QUERY] = query
                    found[out, at.FOUND_STATE] = graph.accepts[a, at.ACCEPT_STATE]
                    for j in range(width):
                        work.found_held[out, j] = -1 if source < 0 else runs.held[source, j]
                    work.found_held[out, variable] = e
                    state[at.FOUND] += 1
                else:
                    state[at.LOST] += 1
            a = graph.accepts[a, at.ACCEPT_NEXT]
        if not is_told and graph.nodes[node, at.NODE_GATE] == -1:
            continue
        held = 1 if source < 0 else held_with(runs, source, variable)
        if state[at.COUNT] >= bounds.runs or state[at.HELD] + held > bounds.nodes:
            state[at.SHED] += 1
            continue
        i = state[at.FREE]
        for j in range(width):
            runs.held[i, j] = -1 if source < 0 else runs.held[source, j]
        runs.held[i, variable] = e
        make_run(graph, runs, events, state, node, x, events.ends[e], held)
        state[at.MADE] += 1
    state[at.PEAK] = max(state[at.PEAK], state[at.COUNT])
