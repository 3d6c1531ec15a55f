"""What is where in the rows of arrays, in plans that many queries share (the records are in physical/shared).

Rows that are linked are in lists: one has the number of the next, -1 at the end.
"""

from __future__ import annotations

(
    NODE_GATE,
    NODE_COLUMN,
    NODE_PLACE,
    NODE_OTHER,
    NODE_RUNS,
    NODE_LASTS,
    NODE_USERS,
    NODE_ACCEPT,
    NODE_FORK,
    NODE_EDGE,
    NODE_HASH,
    NODE_WIDTH,
) = range(12)
"""Of a node: first gate; the key's column, place and other column; how many runs wait, for how long they may;
users; first end of a query; fork; first edge that leads here; and, where one gate is all there is, the
hash of what it wants."""

(
    GATE_NODE,
    GATE_SIGNATURE,
    GATE_TESTS,
    GATE_DYNAMIC,
    GATE_TESTS_END,
    GATE_FORK,
    GATE_ENDS,
    GATE_NEXT,
    GATE_WIDTH,
) = range(9)
"""Of a gate: node; signature; tests on the event from, with what a run holds from, up to; fork; whether it ends
the wait; next gate of the node."""

LINK_NEXT, LINK_BEFORE, LINK_WIDTH = range(3)
"""Of a gate, in its chain: the next one, and the one before."""

PROBE_SIGNATURE, PROBE_COLUMN, PROBE_WIDTH = range(3)
"""Of a probe: the signature of gates that are the only ones of their nodes, and the column of the key, or -1."""

SIGNATURE_COUNT, SIGNATURE_COLUMNS, SIGNATURE_RANGE, SIGNATURE_WIDTH = 0, 1, 5, 6
"""Of a signature: how many columns there are, the columns, and one of which edges want a range, or -1."""

BUCKET_HASH, BUCKET_NEXT, BUCKET_GROUP, BUCKET_COLUMN, BUCKET_BEGIN, BUCKET_COUNT, BUCKET_TREE, BUCKET_SIZE = (
    range(8)
)
BUCKET_WIDTH = 8
"""Of a bucket: hash; next in its chain; group, -1 once it is no more; column; its edges from, how many; where
the tree of upper bounds begins, and for how many edges that is."""

SORTED_EDGE, SORTED_LOW, SORTED_WIDTH = range(3)
"""Of an edge in a bucket: its number and its lower bound."""

IN_BUCKET = -2
"""What an edge has in place of the next in its chain if it is in none."""

GROUP_FORK, GROUP_SIGNATURE, GROUP_NEXT, GROUP_WIDTH = range(4)
"""Of a group of edges: fork, signature, next group of the fork."""

(
    EDGE_HASH,
    EDGE_TESTS,
    EDGE_TESTS_END,
    EDGE_NODE,
    EDGE_PLACE,
    EDGE_CHOICE,
    EDGE_NEXT,
    EDGE_WAITS,
    EDGE_LASTS,
    EDGE_WIDTH,
) = range(10)
"""Of an edge: hash; tests from, up to; the node it leads to; place of the variable; a number that it has in common
with its alternatives, or -1; next in its chain; and, where that is all that a new run needs, its hash (else -1),
and for how long it waits."""

ORIGIN_GROUP, ORIGIN_NEXT, ORIGIN_WIDTH = range(3)
"""Of an edge: the group, -1 once it is removed; next edge to the node."""

TEST_ASKS, TEST_LOW, TEST_HIGH, TEST_WIDTH = range(4)
"""Of a test: kind, column, variable and other, a byte each; bounds, or where its numbers are, and its program."""

ACCEPT_QUERY, ACCEPT_NEXT, ACCEPT_STATE, ACCEPT_WIDTH = range(4)
"""Of an end of a query: the query, the next end at the node, the state."""

SINCE, UNTIL, LIFE_WIDTH = range(3)
"""Of a query: from when, and until when it is valid."""

(
    RUN_NODE,
    RUN_HASH,
    RUN_NEXT,
    RUN_BEFORE,
    RUN_LAST,
    RUN_DOOMED,
    RUN_UNTIL,
    RUN_HELD,
    RUN_WIDTH,
) = range(9)
"""Of a run: node; hash; next in the chain (or the next free place), and the one before; end of the last event; the
moment in which it is doomed; until when it may go on; twice the number of events that it holds, and one
more if it is found by what its one gate wants."""

SPAWN_NODE, SPAWN_RUN, SPAWN_EVENT, SPAWN_EDGE, SPAWN_WIDTH = range(5)
"""Of what a moment makes: where it gets to, of which run (-1: of none), by which event and edge."""

FOUND_QUERY, FOUND_STATE, FOUND_WIDTH = range(3)
"""Of a match: the query, and the state in which it ended."""

(
    FREE,
    COUNT,
    HELD,
    STAMP,
    MOMENT,
    MARK,
    SPAWNED,
    DEATHS,
    FOUND,
    MADE,
    SHED,
    PEAK,
    POSITION,
    LOST,
    WORK_WIDTH,
) = range(15)
"""Of the state of the kernel: the first free place of a run, how many runs there are, and how many
events they hold; the latest stamp, that of the
moment and of the event; how many are spawned, doomed and found; what is counted; the next event."""

# ---- layouts: what the states of queries that are written alike have in common --------------------------------

(
    STATE_WAYS,
    STATE_WAYS_END,
    STATE_WAITS,
    STATE_GATES,
    STATE_GATES_END,
    STATE_WAIT_ENDS,
    STATE_COLUMN,
    STATE_PLACE,
    STATE_OTHER,
    STATE_STRUCTURE,
    STATE_KEYS,
    STATE_KEYS_END,
    STATE_ENDS,
    STATE_WIDTH,
) = range(14)
"""Of a state: ways from, up to; whether runs wait, and how they are found; what its gates ask from, up to; whether
these end the wait; the key's column, place and other column; the number of its structure; columns of constants by
which it is told from others, from, up to; whether queries end there."""

NO_WAIT, BY_NODE, BY_GATE = range(3)
"""How runs that wait are found."""

WAY_SOURCE, WAY_PLACE, WAY_ASKS, WAY_ASKS_END, WAY_WIDTH = range(5)
"""Of a way: the state before, place of the variable, what it asks from, up to: alternatives."""

ASKS_SIGNATURE, ASKS_SIGN, ASKS_TESTS, ASKS_DYNAMIC, ASKS_END, ASKS_WIDTH = range(6)
"""Of an alternative: signature; tests by which it is found from, others from, those with what a run holds from, up
to."""

LAYOUT_ASKS, LAYOUT_CONSTANTS, LAYOUT_WIDTH, LAYOUT_PROGRAM, LAYOUT_TEST_WIDTH = range(5)
"""Of a test: kind, column, variable and other, a byte each; columns of constants from, how many; the program."""

MERGED_HASH, MERGED_NEXT, MERGED_KEY, MERGED_NODE, MERGED_WIDTH = range(5)
"""Of a state that was merged: the hash of its key, next in its chain, where the key is, the node."""

NODES, GATES, FORKS, GROUPS, EDGES, TESTS, NUMBERS, ACCEPTS, MERGED, KEYS, LONG, COUNTS_WIDTH = range(12)
"""How many there are of each; last, of edges that have made a chain long."""
