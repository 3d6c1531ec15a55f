"""Chains by which events find what waits for them, in plans that many queries share: edges, gates and runs.

A *signature* is some columns of events; what wants certain values of them is in one chain with all of their hash.
"""

from __future__ import annotations

from typing import Any

FREE, COUNT, STAMP, FOUND, MADE, SHED, PEAK, POSITION, LOST = range(9)
"""What is where in the state of the kernel."""
_MASK = 0x7FFFFFFFFFFFFFFF
_FACTOR = 0x1B873593CC9E2D51


def stirred(hash_: int, value: int) -> int:
    """A hash of a hash and a value: the same low bits whether integers wrap around or not."""
    product = ((hash_ ^ value) * _FACTOR) & _MASK
    return product ^ (product >> 31)


def signed(graph: Any, s: int, first: int, events: Any, e: int) -> int:
    """The hash of an event's values of a signature, beginning with a number; -1 if one is missing."""
    hash_ = stirred(s + 1, first)
    for k in range(graph.signatures[s, 0]):
        column = graph.signatures[s, k + 1]
        if (events.missing[e] >> column) & 1:
            return -1
        hash_ = stirred(hash_, events.codes[e, column])
    return hash_


def has_values(graph: Any, s: int, values: Any, at: int, events: Any, e: int) -> bool:
    """Whether an event has the values of an entry of a signature."""
    for k in range(graph.signatures[s, 0]):  # noqa: SIM110 - Numba makes no loop of all()
        if events.codes[e, graph.signatures[s, k + 1]] != values[at, k]:
            return False
    return True


def signed_values(graph: Any, s: int, first: int, values: Any, at: int) -> int:
    """The hash of the values of an entry, as that of an event which has them."""
    hash_ = stirred(s + 1, first)
    for k in range(graph.signatures[s, 0]):
        hash_ = stirred(hash_, values[at, k])
    return hash_


# ---- links -----------------------------------------------------------------------------------------------


def link_edges(graph: Any, begin: int, end: int) -> None:
    """Let edges be found: those of their group that have the same values are in one chain."""
    size = len(graph.edge_heads) - 1
    for x in range(begin, end):
        group = graph.edge_origins[x, 0]
        if group < 0:  # it is no more
            continue
        hash_ = signed_values(graph, graph.groups[group, 1], group, graph.edge_values, x)
        graph.edges[x, 0] = hash_
        graph.edges[x, 6] = graph.edge_heads[hash_ & size]
        graph.edge_heads[hash_ & size] = x


def find_groups(graph: Any, forks: Any, s: int, groups: int, out: Any) -> int:
    """The groups of edges of forks that have a signature, made where there are none; how many there are then."""
    for k in range(len(forks)):
        group = graph.forks[forks[k]]
        while group != -1 and graph.groups[group, 1] != s:
            group = graph.groups[group, 2]
        if group == -1:
            group = groups
            graph.groups[group, 0] = forks[k]
            graph.groups[group, 1] = s
            graph.groups[group, 2] = graph.forks[forks[k]]
            graph.forks[forks[k]] = group
            groups += 1
        out[k] = group
    return groups


def add_gates(graph: Any, begin: int, end: int, lasts: Any) -> None:
    """Let gates be those of their nodes; `lasts` is for how long each may open, -1 for ever."""
    for g in range(begin, end):
        node = graph.gates[g, 0]
        is_first = graph.nodes[node, 0] == -1
        longest = lasts[g - begin]
        if longest < 0 or (graph.nodes[node, 5] < 0 and not is_first):
            graph.nodes[node, 5] = -1
        else:
            graph.nodes[node, 5] = longest if is_first else max(longest, graph.nodes[node, 5])
        graph.gates[g, 7] = graph.nodes[node, 0]
        graph.nodes[node, 0] = g
        if graph.nodes[node, 4] > 0 and graph.nodes[node, 10] < 0:
            link_gate(graph, g)


def add_accepts(graph: Any, begin: int, end: int, nodes: Any) -> None:
    """Let nodes be where queries end."""
    for a in range(begin, end):
        graph.accepts[a, 1] = graph.nodes[nodes[a - begin], 7]
        graph.nodes[nodes[a - begin], 7] = a


def remove_accept(graph: Any, node: int, query: int) -> None:
    """Let a node be no end of a query."""
    before, at = -1, graph.nodes[node, 7]
    while at != -1:
        after = graph.accepts[at, 1]
        if graph.accepts[at, 0] == query:
            if before == -1:
                graph.nodes[node, 7] = after
            else:
                graph.accepts[before, 1] = after
        else:
            before = at
        at = after


def own_edges(graph: Any, begin: int, end: int) -> None:
    """Let edges be those that lead to their nodes."""
    for x in range(begin, end):
        node = graph.edges[x, 3]
        graph.edge_origins[x, 1] = graph.nodes[node, 9]
        graph.nodes[node, 9] = x
        # where runs of the node are found by what its gate wants, an edge knows all that a new one needs
        is_told = graph.nodes[node, 10] >= 0 and graph.nodes[node, 1] < 0
        graph.edges[x, 7] = graph.nodes[node, 10] if is_told else -1
        graph.edges[x, 8] = graph.nodes[node, 5]


def unlink_edge(graph: Any, x: int) -> None:
    """Let an edge be found no more."""
    size = len(graph.edge_heads) - 1
    slot = graph.edges[x, 0] & size
    at = graph.edge_heads[slot]
    if at == x:
        graph.edge_heads[slot] = graph.edges[x, 6]
        return
    while at != -1:
        after = graph.edges[at, 6]
        if after == x:
            graph.edges[at, 6] = graph.edges[x, 6]
            return
        at = after


def link_gate(graph: Any, g: int) -> None:
    """Let a gate be found, as runs wait at its node."""
    slot = signed_values(graph, graph.gates[g, 1], 0, graph.gate_values, g) & (len(graph.gate_heads) - 1)
    after = graph.gate_heads[slot]
    graph.gate_links[g, 0] = after
    graph.gate_links[g, 1] = -1
    if after != -1:
        graph.gate_links[after, 1] = g
    graph.gate_heads[slot] = g


def unlink_gate(graph: Any, g: int) -> None:
    """Let a gate be found no more."""
    after, before = graph.gate_links[g, 0], graph.gate_links[g, 1]
    if before != -1:
        graph.gate_links[before, 0] = after
    else:
        slot = signed_values(graph, graph.gates[g, 1], 0, graph.gate_values, g) & (len(graph.gate_heads) - 1)
        graph.gate_heads[slot] = after
    if after != -1:
        graph.gate_links[after, 1] = before


def note_node(graph: Any, node: int, change: int) -> None:
    """Note that a run came to a node or left it: the gates of nodes with runs are linked."""
    before = graph.nodes[node, 4]
    graph.nodes[node, 4] = before + change
    if before != 0 and before + change != 0:
        return
    g = graph.nodes[node, 0]
    while g != -1:
        if before == 0:
            link_gate(graph, g)
        else:
            unlink_gate(graph, g)
        g = graph.gates[g, 7]


def waiting_hash(graph: Any, node: int, events: Any, held: Any, i: int) -> int:
    """The hash by which a run that waits at a node is found: by what its one gate wants, or by the node.

    Where a gate wants a value that the run holds, that is part of it.
    """
    hash_: int = graph.nodes[node, 10]
    if hash_ < 0:
        hash_ = stirred(7, node)
    if graph.nodes[node, 1] >= 0:
        return stirred(hash_, events.codes[held[i, graph.nodes[node, 2]], graph.nodes[node, 3]])
    return hash_


def last_time(graph: Any, node: int, start: int) -> int:
    """The last time at which a run that started at some time may go on from a node."""
    return after_start(start, graph.nodes[node, 5])


def after_start(start: int, lasts: int) -> int:
    """The last of so many times from one on; that of no number is far."""
    if lasts < 0 or (start > 0 and lasts > _MASK - start):
        return _MASK
    return start + lasts - 1


def link_run(graph: Any, runs: Any, i: int) -> None:
    """Let a run wait at its node."""
    node = runs.places[i, 0]
    slot = runs.places[i, 1] & (len(runs.heads) - 1)
    after = runs.heads[slot]
    runs.places[i, 2] = after
    runs.places[i, 3] = -1
    if after != -1:
        runs.places[after, 3] = i
    runs.heads[slot] = i
    if runs.places[i, 7] == 0:
        note_node(graph, node, 1)


def drop_run(graph: Any, runs: Any, state: Any, i: int) -> None:
    """Forget a run."""
    node = runs.places[i, 0]
    after, before = runs.places[i, 2], runs.places[i, 3]
    if before != -1:
        runs.places[before, 2] = after
    else:
        slot = runs.places[i, 1] & (len(runs.heads) - 1)
        runs.heads[slot] = after
    if after != -1:
        runs.places[after, 3] = before
    if runs.places[i, 7] == 0:
        note_node(graph, node, -1)
    runs.places[i, 0] = -1
    runs.places[i, 2] = state[FREE]
    state[FREE] = i
    state[COUNT] -= 1


def relink_runs(runs: Any, count: int) -> None:
    """Let all runs be found anew, as there is more room for them; what their nodes know of them stays."""
    for slot in range(len(runs.heads)):
        runs.heads[slot] = -1
    for i in range(count):
        if runs.places[i, 0] < 0:
            continue
        slot = runs.places[i, 1] & (len(runs.heads) - 1)
        after = runs.heads[slot]
        runs.places[i, 2] = after
        runs.places[i, 3] = -1
        if after != -1:
            runs.places[after, 3] = i
        runs.heads[slot] = i


def relink_gates(graph: Any, count: int) -> None:
    """Let all gates of nodes with runs be found anew, as there is more room for them."""
    for slot in range(len(graph.gate_heads)):
        graph.gate_heads[slot] = -1
    for g in range(count):
        node = graph.gates[g, 0]
        if node >= 0 and graph.nodes[node, 4] > 0 and graph.nodes[node, 10] < 0:
            link_gate(graph, g)


def index_nodes(graph: Any, begin: int, end: int) -> None:
    """Let runs at nodes with one gate be found by what that wants, and not by the node."""
    for node in range(begin, end):
        g = graph.nodes[node, 0]
        graph.nodes[node, 10] = signed_values(graph, graph.gates[g, 1], graph.nodes[node, 1], graph.gate_values, g)


def sweep_runs(graph: Any, runs: Any, state: Any, count: int, now: int) -> None:
    """Forget runs that wait in vain: at nodes that are no more, or for longer than their gates allow."""
    for i in range(count):
        node = runs.places[i, 0]
        if node < 0:
            continue
        if graph.nodes[node, 6] == 0 or now > runs.places[i, 6]:
            drop_run(graph, runs, state, i)
