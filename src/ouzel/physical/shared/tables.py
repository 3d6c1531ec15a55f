"""Arrays of a merged graph, with room to grow: a kernel is given all of them, and queries may come and go."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

WIDTH = 4
"""So many columns of a signature there may be."""
_LEAST = 64


class Table:
    """Rows of integers, or of floats, that grow at their end."""

    def __init__(self, width: int, dtype: Any = np.int64, least: int = _LEAST) -> None:
        """Begin with none."""
        self.data: Any = np.zeros((least, width) if width else least, dtype)
        self.count = 0

    def reserve(self, more: int) -> None:
        """Make room."""
        wanted = self.count + more
        if wanted > len(self.data):
            grown = np.zeros((max(wanted, 2 * len(self.data)), *self.data.shape[1:]), self.data.dtype)
            grown[: self.count] = self.data[: self.count]
            self.data = grown

    def append(self, rows: Any) -> int:
        """Add rows; the place of the first."""
        self.reserve(len(rows))
        first = self.count
        self.data[first : first + len(rows)] = rows
        self.count += len(rows)
        return first

    def filled(self, count: int, *values: int) -> int:
        """Add rows that are all alike; the place of the first."""
        self.reserve(count)
        first = self.count
        self.data[first : first + count] = values
        self.count += count
        return first


class GraphArrays(NamedTuple):
    """What kernels know of a merged graph; what their rows are is said by kernels/shared_rows.py."""

    nodes: Any
    gates: Any
    gate_values: Any
    gate_links: Any
    gate_heads: Any
    gate_signatures: Any
    probes: Any
    forks: Any
    groups: Any
    edges: Any
    edge_origins: Any
    edge_values: Any
    edge_heads: Any
    edge_stamps: Any
    tests: Any
    signatures: Any
    programs: Any
    steps: Any
    numbers: Any
    number_bits: Any
    accepts: Any
    lives: Any
    merged: Any
    merged_heads: Any
    keys: Any
    starts: Any
    long: Any
    buckets: Any
    bucket_heads: Any
    bucket_edges: Any
    bucket_trees: Any


class LayoutArrays(NamedTuple):
    """What kernels know of the states of queries that are written alike."""

    states: Any
    ways: Any
    asks: Any
    tests: Any
    keys: Any


class RunArrays(NamedTuple):
    """What kernels know of runs: where they are, the events that they hold, and which they have seen last."""

    places: Any
    held: Any
    seen: Any
    heads: Any


class EventArrays(NamedTuple):
    """What kernels know of events, those that are kept before those of a batch."""

    codes: Any
    missing: Any
    starts: Any
    ends: Any
    start_times: Any
    end_times: Any


class Scratch(NamedTuple):
    """One number of 64 bits, as an integer and as a float."""

    bits: Any
    number: Any


class Work(NamedTuple):
    """What kernels work in: how far they are, what a moment makes and ends, what was found, a stack."""

    state: Any
    spawned: Any
    doomed: Any
    found: Any
    found_held: Any
    stack: Any
    scratch: Scratch


class Bounds(NamedTuple):
    """How many there may be: open runs, events that they hold, matches, and what one moment makes."""

    runs: int
    nodes: int
    found: int
    spawned: int
    sheds: bool
