"""Runs on their way through a kernel: the arrays it works in, made longer whenever it asks for room."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ouzel.kernels.arrays import longer, taller
from ouzel.kernels.jit import Kernel
from ouzel.physical.automaton.drivers import CURSOR, Status
from ouzel.physical.automaton.store import Store
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits


@dataclass
class Runs:
    """Open runs: those of partition p are the rows starts[p] to starts[p + 1]."""

    starts: Integers
    ri: Any
    rf: Any

    @classmethod
    def none(cls, widths: tuple[int, int]) -> Runs:
        """No runs, of some width."""
        return cls(np.zeros(1, np.int64), np.empty((0, widths[0]), np.int64), np.empty((0, widths[1]), np.float64))

    def of_partitions(self, count: int) -> Integers:
        """Where the runs of each partition start, when there are some more partitions by now."""
        return np.concatenate([self.starts, np.full(count + 1 - len(self.starts), self.starts[-1])])


@dataclass
class Driven:
    """What came of it: matches as (node, last event or -1, state), the runs still open, and what it took."""

    found: Any
    runs: Runs
    counts: dict[str, int] = field(default_factory=dict)


def drive(
    kernel: Kernel,
    runs: Runs,
    store: Store,
    begins: Integers,
    limits: Limits,
    before: tuple[Any, ...],
    after: list[Any],
) -> Driven:
    """Call the kernel until it is done; `before` and `after` are its arguments around the arrays kept here."""
    integers, floats = runs.ri.shape[1], runs.rf.shape[1]
    room = 64
    ri, rf, keep = np.empty((room, integers), np.int64), np.zeros((room, floats)), np.empty(room, np.bool_)
    slots, stamps = np.empty(2 * room, np.int64), np.zeros(2 * room, np.int64)
    new_ri, new_rf = np.empty((room, integers), np.int64), np.zeros((room, floats))
    to_runs = np.zeros(len(begins), np.int64)
    found = np.empty((1024, 3), np.int32)
    cursor = np.zeros(len(CURSOR), np.int64)
    cursor[CURSOR.index("nodes")] = store.nodes
    old = runs.of_partitions(len(begins) - 1), runs.ri, runs.rf
    while True:
        work = (ri, rf, keep, slots, stamps, to_runs, new_ri, new_rf, found)
        status = kernel(cursor, *before, *old, *work, *store.arrays, *after)
        counts = dict(zip(CURSOR, cursor.tolist(), strict=True))
        store.nodes = counts["nodes"]
        match status:
            case Status.DONE:
                live = counts["live"]
                return Driven(found[: counts["matches"]], Runs(to_runs, new_ri[:live], new_rf[:live]), counts)
            case Status.NODES:
                store.grow()
            case Status.FOUND:
                found = taller(found)
            case Status.NEW_RUNS:
                new_ri, new_rf = taller(new_ri), taller(new_rf)
            case Status.RUNS:
                ri, rf, keep = taller(ri), taller(rf), longer(keep)
                # slots twice as many as runs: the kernel looks runs up in them
                slots, stamps = longer(slots), np.zeros(2 * len(stamps), np.int64)
                cursor[CURSOR.index("stamp")] = 0
            case Status.TOO_MANY_RUNS:
                raise limits.exceeded("max_runs")
            case _:
                raise limits.exceeded("max_nodes")
