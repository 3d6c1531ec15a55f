"""Queries that come, in plans that many share: their states are looked up, and those that are new are written.

A layout says what the states of queries that are written alike have in common; constants are a row for each.
"""

from __future__ import annotations

from typing import Any

from ouzel.kernels import shared_rows as at
from ouzel.kernels.shared_links import link_edge, signed_values, stirred
from ouzel.kernels.shared_ranges import count_loose
from ouzel.kernels.shared_tests import COMPUTED, LASTS

START, ITSELF = -1, -2
"""Where an edge may come from, beside a state before: where runs start, and the state that it leads to."""
LOOSE = 32
"""So many edges that want a range may be in one chain."""
_MASK = 0x7FFFFFFFFFFFFFFF


def insert_queries(
    graph: Any, layout: Any, counts: Any, constants: Any, order: Any, path: Any, first: int, keys: Any
) -> None:
    """Insert queries, numbered from one on, in an order, and note the nodes of their states; there is room.

    State by state, so that what events look through together is together.
    """
    for state in range(len(layout.states)):
        for k in range(len(order)):
            insert_state(graph, layout, counts, constants, path, order[k], state, keys)
            if layout.states[state, at.STATE_ENDS] != 0:
                a, node = counts[at.ACCEPTS], path[order[k], state]
                counts[at.ACCEPTS] += 1
                graph.accepts[a, at.ACCEPT_QUERY] = first + order[k]
                graph.accepts[a, at.ACCEPT_STATE] = state
                graph.accepts[a, at.ACCEPT_NEXT] = graph.nodes[node, at.NODE_ACCEPT]
                graph.nodes[node, at.NODE_ACCEPT] = a


def insert_state(
    graph: Any, layout: Any, counts: Any, constants: Any, path: Any, row: int, state: int, keys: Any
) -> None:
    """Note the node of a query's state: one that is there, or a new one."""
    node, entry = -1, -1
    if len(graph.merged_heads) > 0:
        entry = state_entry(graph, layout, counts, constants, path, row, state, keys)
        node = graph.merged[entry, at.MERGED_NODE]
    if node < 0 or graph.nodes[node, at.NODE_USERS] == 0:
        node = new_node(graph, layout, counts, constants, path, row, state)
        if entry >= 0:
            graph.merged[entry, at.MERGED_NODE] = node
    graph.nodes[node, at.NODE_USERS] += 1
    path[row, state] = node


def state_entry(
    graph: Any, layout: Any, counts: Any, constants: Any, path: Any, row: int, state: int, keys: Any
) -> int:
    """The entry of a state among those that were merged, by all that it asks, and the states before; a new one."""
    width = 0
    keys[width] = layout.states[state, at.STATE_STRUCTURE]
    width += 1
    for way in range(layout.states[state, at.STATE_WAYS], layout.states[state, at.STATE_WAYS_END]):
        source = layout.ways[way, at.WAY_SOURCE]
        keys[width] = source if source < 0 else path[row, source]
        width += 1
    for k in range(layout.states[state, at.STATE_KEYS], layout.states[state, at.STATE_KEYS_END]):
        keys[width] = constants[row, layout.keys[k]]
        width += 1
    hash_ = 0
    for k in range(width):
        hash_ = stirred(hash_, keys[k])
    slot = hash_ & (len(graph.merged_heads) - 1)
    entry = graph.merged_heads[slot]
    while entry != -1:
        if graph.merged[entry, at.MERGED_HASH] == hash_ and has_key(graph, entry, keys, width):
            return entry  # type: ignore[no-any-return]
        entry = graph.merged[entry, at.MERGED_NEXT]
    entry = counts[at.MERGED]
    counts[at.MERGED] += 1
    graph.merged[entry, at.MERGED_HASH] = hash_
    graph.merged[entry, at.MERGED_NEXT] = graph.merged_heads[slot]
    graph.merged[entry, at.MERGED_KEY] = counts[at.KEYS]
    graph.merged[entry, at.MERGED_NODE] = -1
    graph.merged_heads[slot] = entry
    for k in range(width):
        graph.keys[counts[at.KEYS] + k] = keys[k]
    counts[at.KEYS] += width
    return entry  # type: ignore[no-any-return]


def has_key(graph: Any, entry: int, keys: Any, width: int) -> bool:
    """Whether an entry has a key; those of one structure, which comes first, are of one width."""
    begin = graph.merged[entry, at.MERGED_KEY]
    for k in range(width):  # noqa: SIM110 - Numba makes no loop of all()
        if graph.keys[begin + k] != keys[k]:
            return False
    return True


def new_node(graph: Any, layout: Any, counts: Any, constants: Any, path: Any, row: int, state: int) -> int:
    """A node for a state of a query, with its gates and the edges that lead to it."""
    node = counts[at.NODES]
    counts[at.NODES] += 1
    for k in range(at.NODE_WIDTH):
        graph.nodes[node, k] = -1
    graph.nodes[node, at.NODE_RUNS] = 0
    graph.nodes[node, at.NODE_USERS] = 0
    graph.nodes[node, at.NODE_COLUMN] = layout.states[state, at.STATE_COLUMN]
    graph.nodes[node, at.NODE_PLACE] = layout.states[state, at.STATE_PLACE]
    graph.nodes[node, at.NODE_OTHER] = layout.states[state, at.STATE_OTHER]
    if layout.states[state, at.STATE_WAITS] != 0:
        fork = counts[at.FORKS]
        counts[at.FORKS] += 1
        graph.forks[fork] = -1
        graph.nodes[node, at.NODE_FORK] = fork
        for asks in range(layout.states[state, at.STATE_GATES], layout.states[state, at.STATE_GATES_END]):
            new_gate(graph, layout, counts, constants, row, state, asks, node)
    for way in range(layout.states[state, at.STATE_WAYS], layout.states[state, at.STATE_WAYS_END]):
        source = layout.ways[way, at.WAY_SOURCE]
        fork = 0
        if source != START:
            fork = graph.nodes[node if source == ITSELF else path[row, source], at.NODE_FORK]
        new_edges(graph, layout, counts, constants, row, way, fork, node)
    return node  # type: ignore[no-any-return]


def new_gate(
    graph: Any, layout: Any, counts: Any, constants: Any, row: int, state: int, asks: int, node: int
) -> None:
    """A gate of a node: one of the alternatives at which its runs wait."""
    g = counts[at.GATES]
    counts[at.GATES] += 1
    graph.gates[g, at.GATE_NODE] = node
    graph.gates[g, at.GATE_SIGNATURE] = layout.asks[asks, at.ASKS_SIGNATURE]
    graph.gates[g, at.GATE_FORK] = graph.nodes[node, at.NODE_FORK]
    graph.gates[g, at.GATE_ENDS] = layout.states[state, at.STATE_WAIT_ENDS]
    sign, tests = layout.asks[asks, at.ASKS_SIGN], layout.asks[asks, at.ASKS_TESTS]
    dynamic, end = layout.asks[asks, at.ASKS_DYNAMIC], layout.asks[asks, at.ASKS_END]
    graph.gates[g, at.GATE_TESTS] = counts[at.TESTS]
    write_sign(graph, layout, counts, constants, row, sign, tests, graph.gate_values, g)
    write_tests(graph, layout, counts, constants, row, tests, dynamic)
    graph.gates[g, at.GATE_DYNAMIC] = counts[at.TESTS]
    write_tests(graph, layout, counts, constants, row, dynamic, end)
    graph.gates[g, at.GATE_TESTS_END] = counts[at.TESTS]
    # for how long its runs may wait: for as long as one of the gates may open
    longest = -1
    for t in range(dynamic, end):
        if layout.tests[t, at.LAYOUT_ASKS] & 255 == LASTS:
            most = max(constants[row, layout.tests[t, at.LAYOUT_CONSTANTS] + 1], 0)
            if most < _MASK:
                longest = most if longest < 0 else min(longest, most)
    is_first = graph.nodes[node, at.NODE_GATE] == -1
    if longest < 0 or (graph.nodes[node, at.NODE_LASTS] < 0 and not is_first):
        graph.nodes[node, at.NODE_LASTS] = -1
    else:
        graph.nodes[node, at.NODE_LASTS] = max(longest, graph.nodes[node, at.NODE_LASTS])
    graph.gates[g, at.GATE_NEXT] = graph.nodes[node, at.NODE_GATE]
    graph.nodes[node, at.NODE_GATE] = g
    if layout.states[state, at.STATE_WAITS] == at.BY_GATE:
        column = graph.nodes[node, at.NODE_COLUMN]
        graph.nodes[node, at.NODE_HASH] = signed_values(
            graph, graph.gates[g, at.GATE_SIGNATURE], column, graph.gate_values, g
        )


def new_edges(
    graph: Any, layout: Any, counts: Any, constants: Any, row: int, way: int, fork: int, node: int
) -> None:
    """The edges from a fork to a node: one for each alternative."""
    begin, end = layout.ways[way, at.WAY_ASKS], layout.ways[way, at.WAY_ASKS_END]
    choice = counts[at.EDGES] if end > begin + 1 else -1
    # where runs of the node are found by what its gate wants, an edge knows all that a new one needs
    is_told = graph.nodes[node, at.NODE_HASH] >= 0 and graph.nodes[node, at.NODE_COLUMN] < 0
    for asks in range(begin, end):
        x = counts[at.EDGES]
        counts[at.EDGES] += 1
        graph.edges[x, at.EDGE_TESTS] = counts[at.TESTS]
        sign, tests = layout.asks[asks, at.ASKS_SIGN], layout.asks[asks, at.ASKS_TESTS]
        write_sign(graph, layout, counts, constants, row, sign, tests, graph.edge_values, x)
        write_tests(graph, layout, counts, constants, row, tests, layout.asks[asks, at.ASKS_END])
        graph.edges[x, at.EDGE_TESTS_END] = counts[at.TESTS]
        graph.edges[x, at.EDGE_NODE] = node
        graph.edges[x, at.EDGE_PLACE] = layout.ways[way, at.WAY_PLACE]
        graph.edges[x, at.EDGE_CHOICE] = choice
        graph.edges[x, at.EDGE_WAITS] = graph.nodes[node, at.NODE_HASH] if is_told else -1
        graph.edges[x, at.EDGE_LASTS] = graph.nodes[node, at.NODE_LASTS]
        graph.edge_stamps[x] = 0
        graph.edge_origins[x, at.ORIGIN_GROUP] = group_of(
            graph, counts, fork, layout.asks[asks, at.ASKS_SIGNATURE]
        )
        graph.edge_origins[x, at.ORIGIN_NEXT] = graph.nodes[node, at.NODE_EDGE]
        graph.nodes[node, at.NODE_EDGE] = x
        link_edge(graph, x)
        is_ranged = graph.signatures[layout.asks[asks, at.ASKS_SIGNATURE], at.SIGNATURE_RANGE] >= 0
        if is_ranged and count_loose(graph, x, LOOSE + 1) == LOOSE:
            graph.long[counts[at.LONG]] = x
            counts[at.LONG] += 1


def group_of(graph: Any, counts: Any, fork: int, s: int) -> int:
    """The group of edges of a fork that have a signature, made if there is none."""
    group = graph.forks[fork]
    while group != -1 and graph.groups[group, at.GROUP_SIGNATURE] != s:
        group = graph.groups[group, at.GROUP_NEXT]
    if group == -1:
        group = counts[at.GROUPS]
        counts[at.GROUPS] += 1
        graph.groups[group, at.GROUP_FORK] = fork
        graph.groups[group, at.GROUP_SIGNATURE] = s
        graph.groups[group, at.GROUP_NEXT] = graph.forks[fork]
        graph.forks[fork] = group
    return group  # type: ignore[no-any-return]


def write_sign(
    graph: Any, layout: Any, counts: Any, constants: Any, row: int, begin: int, end: int, values: Any, where: int
) -> None:
    """Write the values by which a gate or an edge is found; if there can be no such value, no event passes."""
    for t in range(begin, end):
        low = layout.tests[t, at.LAYOUT_CONSTANTS]
        values[where, t - begin] = constants[row, low]
        if constants[row, low] > constants[row, low + 1]:
            write_tests(graph, layout, counts, constants, row, t, t + 1)


def write_tests(graph: Any, layout: Any, counts: Any, constants: Any, row: int, begin: int, end: int) -> None:
    """Write tests with the constants of a query."""
    for t in range(begin, end):
        test = counts[at.TESTS]
        counts[at.TESTS] += 1
        first = layout.tests[t, at.LAYOUT_CONSTANTS]
        graph.tests[test, at.TEST_ASKS] = layout.tests[t, at.LAYOUT_ASKS]
        if layout.tests[t, at.LAYOUT_ASKS] & 255 == COMPUTED:
            graph.tests[test, at.TEST_LOW] = counts[at.NUMBERS]
            graph.tests[test, at.TEST_HIGH] = layout.tests[t, at.LAYOUT_PROGRAM]
            for k in range(layout.tests[t, at.LAYOUT_WIDTH]):
                graph.number_bits[counts[at.NUMBERS]] = constants[row, first + k]
                counts[at.NUMBERS] += 1
        elif layout.tests[t, at.LAYOUT_WIDTH] > 0:
            graph.tests[test, at.TEST_LOW] = constants[row, first]
            graph.tests[test, at.TEST_HIGH] = constants[row, first + 1]
