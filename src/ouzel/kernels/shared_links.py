"""Chains by which events find what waits for them, in plans that many queries share: edges, gates and runs.

A *signature* is some columns of events; what wants certain values of them is in one chain with all of their hash.
"""

from __future__ import annotations

from typing import Any

from ouzel.kernels import shared_rows as at

_MASK = 0x7FFFFFFFFFFFFFFF
_FACTOR = 0x1B873593CC9E2D51


def stirred(hash_: int, value: int) -> int:
    """A hash of a hash and a value: the same low bits whether integers wrap around or not."""
    product = ((hash_ ^ value) * _FACTOR) & _MASK
    return product ^ (product >> 31)


def signed(graph: Any, s: int, first: int, events: Any, e: int) -> int:
    """The hash of an event's values of a signature, beginning with a number; -1 if one is missing."""
    hash_ = stirred(s + 1, first)
    for k in range(graph.signatures[s, at.SIGNATURE_COUNT]):
        column = graph.signatures[s, at.SIGNATURE_COLUMNS + k]
        if (events.missing[e] >> column) & 1:
            return -1
        hash_ = stirred(hash_, events.codes[e, column])
    return hash_


def has_values(graph: Any, s: int, values: Any, where: int, events: Any, e: int) -> bool:
    """Whether an event has the values of an entry of a signature."""
    for k in range(graph.signatures[s, at.SIGNATURE_COUNT]):
        if events.codes[e, graph.signatures[s, at.SIGNATURE_COLUMNS + k]] != values[where, k]:
            return False
    return True


def signed_values(graph: Any, s: int, first: int, values: Any, where: int) -> int:
    """The hash of the values of an entry, as that of an event which has them."""
    hash_ = stirred(s + 1, first)
    for k in range(graph.signatures[s, at.SIGNATURE_COUNT]):
        hash_ = stirred(hash_, values[where, k])
    return hash_


# ---- links -----------------------------------------------------------------------------------------------


def link_edge(graph: Any, x: int) -> None:
    """Let an edge be found: those of its group that have the same values are in one chain."""
    group = graph.edge_origins[x, at.ORIGIN_GROUP]
    hash_ = signed_values(graph, graph.groups[group, at.GROUP_SIGNATURE], group, graph.edge_values, x)
    slot = hash_ & (len(graph.edge_heads) - 1)
    graph.edges[x, at.EDGE_HASH] = hash_
    graph.edges[x, at.EDGE_NEXT] = graph.edge_heads[slot]
    graph.edge_heads[slot] = x


def relink_edges(graph: Any, count: int) -> None:
    """Let all edges be found anew, as there is more room for them."""
    for x in range(count):
        is_there = graph.edge_origins[x, at.ORIGIN_GROUP] >= 0
        if is_there and graph.edges[x, at.EDGE_NEXT] != at.IN_BUCKET:
            link_edge(graph, x)


def relink_merged(graph: Any, count: int) -> None:
    """Let all states that were merged be found anew, as there is more room for them."""
    for entry in range(count):
        slot = graph.merged[entry, at.MERGED_HASH] & (len(graph.merged_heads) - 1)
        graph.merged[entry, at.MERGED_NEXT] = graph.merged_heads[slot]
        graph.merged_heads[slot] = entry


def remove_accept(graph: Any, node: int, query: int) -> None:
    """Let a node be no end of a query."""
    before, a = -1, graph.nodes[node, at.NODE_ACCEPT]
    while a != -1:
        after = graph.accepts[a, at.ACCEPT_NEXT]
        if graph.accepts[a, at.ACCEPT_QUERY] == query:
            if before == -1:
                graph.nodes[node, at.NODE_ACCEPT] = after
            else:
                graph.accepts[before, at.ACCEPT_NEXT] = after
        else:
            before = a
        a = after


def remove_node(graph: Any, node: int) -> None:
    """Let the edges that lead to a node be found no more."""
    x = graph.nodes[node, at.NODE_EDGE]
    while x != -1:
        unlink_edge(graph, x)
        graph.edge_origins[x, at.ORIGIN_GROUP] = -1
        x = graph.edge_origins[x, at.ORIGIN_NEXT]


def unlink_edge(graph: Any, x: int) -> None:
    """Let an edge be found no more."""
    if graph.edges[x, at.EDGE_NEXT] == at.IN_BUCKET:
        return
    slot = graph.edges[x, at.EDGE_HASH] & (len(graph.edge_heads) - 1)
    before, other = -1, graph.edge_heads[slot]
    while other != x:
        before, other = other, graph.edges[other, at.EDGE_NEXT]
    if before == -1:
        graph.edge_heads[slot] = graph.edges[x, at.EDGE_NEXT]
    else:
        graph.edges[before, at.EDGE_NEXT] = graph.edges[x, at.EDGE_NEXT]


def chain(rows: Any, heads: Any, slot: int, i: int, after: int, before: int) -> None:
    """Put a row first into a chain; the columns `after` and `before` have the next one and the one before."""
    following = heads[slot]
    rows[i, after] = following
    rows[i, before] = -1
    if following != -1:
        rows[following, before] = i
    heads[slot] = i


def unchain(rows: Any, heads: Any, slot: int, i: int, after: int, before: int) -> None:
    """Take a row out of its chain."""
    following, previous = rows[i, after], rows[i, before]
    if previous != -1:
        rows[previous, after] = following
    else:
        heads[slot] = following
    if following != -1:
        rows[following, before] = previous


def gate_slot(graph: Any, g: int) -> int:
    """Where the chain of a gate begins."""
    hash_ = signed_values(graph, graph.gates[g, at.GATE_SIGNATURE], 0, graph.gate_values, g)
    return hash_ & (len(graph.gate_heads) - 1)


def link_gate(graph: Any, g: int) -> None:
    """Let a gate be found, as runs wait at its node."""
    chain(graph.gate_links, graph.gate_heads, gate_slot(graph, g), g, at.LINK_NEXT, at.LINK_BEFORE)


def unlink_gate(graph: Any, g: int) -> None:
    """Let a gate be found no more."""
    unchain(graph.gate_links, graph.gate_heads, gate_slot(graph, g), g, at.LINK_NEXT, at.LINK_BEFORE)


def note_node(graph: Any, node: int, change: int) -> None:
    """Note that a run came to a node or left it: the gates of nodes with runs are linked."""
    before = graph.nodes[node, at.NODE_RUNS]
    graph.nodes[node, at.NODE_RUNS] = before + change
    if before != 0 and before + change != 0:
        return
    g = graph.nodes[node, at.NODE_GATE]
    while g != -1:
        if before == 0:
            link_gate(graph, g)
        else:
            unlink_gate(graph, g)
        g = graph.gates[g, at.GATE_NEXT]


def waiting_hash(graph: Any, node: int, events: Any, held: Any, i: int) -> int:
    """The hash by which a run that waits at a node is found: by what its one gate wants, or by the node.

    Where a gate wants a value that the run holds, that is part of it.
    """
    hash_: int = graph.nodes[node, at.NODE_HASH]
    if hash_ < 0:
        hash_ = stirred(7, node)
    if graph.nodes[node, at.NODE_COLUMN] >= 0:
        return stirred(
            hash_, events.codes[held[i, graph.nodes[node, at.NODE_PLACE]], graph.nodes[node, at.NODE_OTHER]]
        )
    return hash_


def after_start(start: int, lasts: int) -> int:
    """The last of so many times from one on; that of no number is far."""
    if lasts < 0 or (start > 0 and lasts > _MASK - start):
        return _MASK
    return start + lasts - 1


def make_run(graph: Any, runs: Any, events: Any, state: Any, node: int, x: int, last: int, held: int) -> None:
    """Let the run at the first free place, that holds so many events, wait at a node since the end of its last.

    If the edge that led there (-1: none) knows all that is needed of the node, that is not looked at.
    """
    i = state[at.FREE]
    state[at.FREE] = runs.places[i, at.RUN_NEXT]
    if x >= 0 and graph.edges[x, at.EDGE_WAITS] >= 0:
        hash_, lasts, is_by_gate = graph.edges[x, at.EDGE_WAITS], graph.edges[x, at.EDGE_LASTS], 1
    else:
        hash_, lasts = waiting_hash(graph, node, events, runs.held, i), graph.nodes[node, at.NODE_LASTS]
        is_by_gate = 1 if graph.nodes[node, at.NODE_HASH] >= 0 else 0
    runs.places[i, at.RUN_NODE] = node
    runs.places[i, at.RUN_HASH] = hash_
    runs.places[i, at.RUN_LAST] = last
    runs.places[i, at.RUN_DOOMED] = -1
    runs.places[i, at.RUN_UNTIL] = after_start(events.start_times[runs.held[i, 0]], lasts)
    runs.places[i, at.RUN_HELD] = 2 * held + is_by_gate
    link_run(graph, runs, i)
    state[at.COUNT] += 1
    state[at.HELD] += held


def link_run(graph: Any, runs: Any, i: int) -> None:
    """Let a run wait at its node."""
    slot = runs.places[i, at.RUN_HASH] & (len(runs.heads) - 1)
    chain(runs.places, runs.heads, slot, i, at.RUN_NEXT, at.RUN_BEFORE)
    if runs.places[i, at.RUN_HELD] & 1 == 0:
        note_node(graph, runs.places[i, at.RUN_NODE], 1)


def drop_run(graph: Any, runs: Any, state: Any, i: int) -> None:
    """Forget a run."""
    slot = runs.places[i, at.RUN_HASH] & (len(runs.heads) - 1)
    unchain(runs.places, runs.heads, slot, i, at.RUN_NEXT, at.RUN_BEFORE)
    if runs.places[i, at.RUN_HELD] & 1 == 0:
        note_node(graph, runs.places[i, at.RUN_NODE], -1)
    runs.places[i, at.RUN_NODE] = -1
    runs.places[i, at.RUN_NEXT] = state[at.FREE]
    state[at.FREE] = i
    state[at.COUNT] -= 1
    state[at.HELD] -= runs.places[i, at.RUN_HELD] >> 1


def relink_runs(runs: Any, count: int) -> None:
    """Let all runs be found anew, as there is more room for them; what their nodes know of them stays."""
    for slot in range(len(runs.heads)):
        runs.heads[slot] = -1
    for i in range(count):
        if runs.places[i, at.RUN_NODE] >= 0:
            slot = runs.places[i, at.RUN_HASH] & (len(runs.heads) - 1)
            chain(runs.places, runs.heads, slot, i, at.RUN_NEXT, at.RUN_BEFORE)


def resume_runs(graph: Any, runs: Any, events: Any, state: Any, nodes: Any, held: Any, ends: Any) -> None:
    """Let runs wait at nodes, that hold some events, of which the last ended then."""
    for k in range(len(nodes)):
        count = 0
        for j in range(held.shape[1]):
            runs.held[state[at.FREE], j] = held[k, j]
            count += held[k, j] >= 0
        make_run(graph, runs, events, state, nodes[k], -1, ends[k], count)


def relink_gates(graph: Any, count: int) -> None:
    """Let all gates of nodes with runs be found anew, as there is more room for them."""
    for slot in range(len(graph.gate_heads)):
        graph.gate_heads[slot] = -1
    for g in range(count):
        node = graph.gates[g, at.GATE_NODE]
        if node >= 0 and graph.nodes[node, at.NODE_RUNS] > 0 and graph.nodes[node, at.NODE_HASH] < 0:
            link_gate(graph, g)


def sweep_runs(graph: Any, runs: Any, state: Any, count: int, now: int) -> None:
    """Forget runs that wait in vain: at nodes that are no more, or for longer than their gates allow."""
    for i in range(count):
        node = runs.places[i, at.RUN_NODE]
        if node < 0:
            continue
        if graph.nodes[node, at.NODE_USERS] == 0 or now > runs.places[i, at.RUN_UNTIL]:
            drop_run(graph, runs, state, i)
