"""Runs on their way through a kernel: the arrays it works in, made longer whenever it asks for room."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ouzel.kernels.jit import Kernel
from ouzel.physical.automaton.drivers import Status
from ouzel.physical.automaton.parameters import CURSOR, Opened, Rules, Stream, Work
from ouzel.physical.automaton.store import NODE_BYTES, Store
from ouzel.physical.event_table import Integers
from ouzel.physical.limits import Limits, Room
from ouzel.physical.stoppable import STEPS, stoppable

# What the end of a match takes: its node, its last event, and its state.
FOUND_BYTES = 12
# Which parts of the memory are for runs, for nodes, and for ends of matches.
RUNS, NODES, FOUND = 1 / 2, 1 / 4, 1 / 4


@dataclass(frozen=True)
class RunBounds:
    """How many open runs, nodes and ends of matches there may be: as the limits say, or as fit into memory."""

    limits: Limits
    room: Room
    runs: int
    nodes: int
    found: int

    @classmethod
    def of(cls, limits: Limits, room: Room, widths: tuple[int, int], *, written: bool = True) -> RunBounds:
        """The bounds for runs of some width; `written` if matches are to be written out, each for itself."""
        # what grows is there twice while it does, and once more as large; arrays are asked again when they grow
        run = 3 * (8 * sum(widths) + 33)
        return cls(
            limits,
            room,
            min(limits.max_runs, room.most(run, RUNS)),
            min(limits.max_nodes, room.most(3 * NODE_BYTES, NODES)),
            min(limits.max_matches if written else 2**62, room.most(3 * FOUND_BYTES, FOUND)),
        )

    def rules(self, *, merge: bool) -> Rules:
        """What the kernel is told of it."""
        return Rules(merge, self.runs, self.limits.sheds, self.nodes, self.found)

    def check(self, status: int, counts: dict[str, int], work: Work, store: Store) -> None:
        """Raise the error for a bound that was reached, or if arrays that are to grow are too large already."""
        limits, runs = self.limits, counts["live"] + counts["runs"]
        nodes = sum(one.nbytes for one in (*store.arrays, *store.kept))
        size = nodes + sum(one.nbytes for one in work.values)
        is_full = size > self.room.size
        match status:
            case Status.TOO_MANY_RUNS if self.runs == limits.max_runs:
                raise limits.exceeded("max_runs")
            case Status.TOO_MANY_NODES if self.nodes == limits.max_nodes:
                raise limits.exceeded("max_nodes")
            case Status.TOO_MANY_MATCHES if self.found == limits.max_matches:
                raise limits.exceeded("max_matches")
            case Status.TOO_MANY_NODES:
                raise self.room.exceeded(counts["nodes"], "events bound in runs")
            case Status.TOO_MANY_MATCHES:
                raise self.room.exceeded(counts["matches"], "matches")
            case Status.TOO_MANY_RUNS:
                raise self.room.exceeded(runs, "open runs")
            # room is asked for all that may come of a moment: where there is little yet, little will
            case Status.NODES if is_full and nodes > self.room.size * NODES:
                raise self.room.exceeded(counts["nodes"], "events bound in runs")
            case Status.FOUND if is_full and work.found.nbytes > self.room.size * FOUND:
                raise self.room.exceeded(counts["matches"], "matches")
            case Status.RUNS | Status.NEW_RUNS if is_full:
                # many simultaneous events need room for all that may come of them at once
                raise self.room.exceeded(runs, "open runs")


@dataclass
class Driven:
    """What came of it: matches as (node, last event or -1, state), the runs still open, and what it took.

    What each match is handed over are rows of integers and floats.
    The runs of the p-th partition are the rows edges[p] to edges[p + 1] of integers and floats.
    """

    found: Any
    handed: tuple[Any, Any]
    edges: Integers
    ri: Any
    rf: Any
    counts: dict[str, int] = field(default_factory=dict)


def drive(
    kernel: Kernel,
    opened: Opened,
    store: Store,
    stream: Stream,
    bounds: RunBounds,
    operands: list[Any],
    *,
    merge: bool,
    handed: tuple[int, int] = (0, 0),
) -> Driven:
    """Call the kernel until it is done, with more room whenever it asks for it."""
    widths = opened.old_ri.shape[1], opened.old_rf.shape[1]
    were_open = int((opened.until_runs - opened.from_runs).sum())
    work = Work.begin(widths, handed, len(stream.begins) - 1, len(stream.masks), were_open)
    rules = bounds.rules(merge=merge)
    # one run that takes most events is enough to need a node for each
    store.have_room(len(stream.masks))
    cursor = np.zeros(len(CURSOR), np.int64)
    cursor[CURSOR.index("nodes")] = store.nodes
    while True:
        records = (*stream.values, *rules.values, *opened.values, *work.values)
        call = partial(kernel, cursor, *records, *store.arrays, *store.kept, *operands)
        # where it asked for room there may be much more to do than events promised
        status = stoppable(call, size=len(work.ri) * len(stream.masks) // STEPS)
        counts = dict(zip(CURSOR, cursor.tolist(), strict=True))
        store.nodes = counts["nodes"]
        if status == Status.DONE:
            live = counts["live"]
            matches = counts["matches"]
            over = work.found_i[:matches], work.found_f[:matches]
            return Driven(work.found[:matches], over, work.to_runs, work.new_ri[:live], work.new_rf[:live], counts)
        bounds.check(status, counts, work, store)
        match status:
            case Status.NODES:
                store.grow()
            case Status.FOUND:
                work.grow_found()
            case Status.NEW_RUNS:
                work.grow_open()
            case Status.RUNS:
                work.grow_runs()
                cursor[CURSOR.index("stamp")] = 0
