"""Runs of a shared plan, and the events that they hold, from batch to batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.kernels import shared_links as links
from ouzel.kernels import shared_moments as moments
from ouzel.kernels import shared_rows as at
from ouzel.logical.schema import Schema
from ouzel.physical.compiled.kernel import kernel_of
from ouzel.physical.contract import Counters
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.shared.columns import Columns
from ouzel.physical.shared.conditions import DEPTH
from ouzel.physical.shared.tables import Bounds, EventArrays, GraphArrays, RunArrays, Scratch, Work
from ouzel.state.parts import in_parts, part

_LEAST = 256
# Beyond so many more than were of use, runs and events are looked through for those that are.
_SLACK = 4_096


class Runs:
    """Runs that wait at nodes of a graph."""

    def __init__(self, width: int) -> None:
        """Begin with none, that hold so many events each."""
        self.width = width
        self._places = np.full((_LEAST, at.RUN_WIDTH), -1)
        self._held = np.full((_LEAST, width), -1)
        self._seen = np.full(_LEAST, -1)
        self._heads = np.full(_LEAST, -1)
        self._state = np.zeros(at.WORK_WIDTH, np.int64)
        self._spawned = np.empty((_LEAST, at.SPAWN_WIDTH), np.int64)
        self._found, self._found_held = (
            np.empty((_LEAST, at.FOUND_WIDTH), np.int64),
            np.empty((_LEAST, width), np.int64),
        )
        self._doomed = np.empty(_LEAST, np.int64)
        self._stack = np.empty(DEPTH + 1)
        whole = np.zeros(1, np.int64)
        self._scratch = Scratch(whole, whole.view(np.float64))
        self._swept = 0
        self._free_from(0)

    @property
    def arrays(self) -> RunArrays:
        """What kernels are given."""
        return RunArrays(self._places, self._held, self._seen, self._heads)

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self._state[at.COUNT])

    def begin(self, position: int) -> None:
        """Go on with the event at a position, with nothing found yet."""
        self._state[at.POSITION] = position
        self._state[at.FOUND] = 0

    @property
    def work(self) -> Work:
        """What the kernel works in."""
        out = self._spawned, self._doomed, self._found, self._found_held
        return Work(self._state, *out, self._stack, self._scratch)

    def grow(self, reason: int, bounds: Bounds) -> None:
        """Make room for what there was no room for."""
        if reason == moments.MORE_SPAWNED:
            wanted = max(int(self._state[at.SPAWNED]), 2 * len(self._spawned))
            self._spawned = np.empty((min(wanted, bounds.spawned), at.SPAWN_WIDTH), np.int64)
        elif reason == moments.MORE_OUT:
            self._found, self._found_held = (_taller(one) for one in (self._found, self._found_held))
        else:
            self._grow_to(2 * len(self._places))

    def _grow_to(self, count: int) -> None:
        """Make room for so many runs, a power of two."""
        before = len(self._places)
        self._places, self._held = (_taller(one, count) for one in (self._places, self._held))
        self._seen, self._doomed = np.full(count, -1), np.empty(count, np.int64)
        self._free_from(before)
        self._heads = np.full(count, -1)
        kernel_of(links.relink_runs, before)(self.arrays, before)

    def _free_from(self, first: int) -> None:
        """Let all places from one on be free."""
        count = len(self._places)
        self._places[first:, at.RUN_NODE] = -1
        self._places[first:, at.RUN_NEXT] = np.arange(first + 1, count + 1)
        self._places[-1, at.RUN_NEXT] = self._state[at.FREE] if first else -1
        self._state[at.FREE] = first

    def found(self) -> tuple[Any, Any]:
        """The matches of the latest batch: query and state, and the numbers of their events."""
        count = int(self._state[at.FOUND])
        return self._found[:count].copy(), self._found_held[:count].copy()

    def counted(self) -> Counters:
        """What runs did since this was asked last."""
        state = self._state
        found = Counters(
            made=int(state[at.MADE]),
            shed_runs=int(state[at.SHED]),
            shed_matches=int(state[at.LOST]),
            peak=int(state[at.PEAK]),
        )
        state[[at.MADE, at.SHED, at.LOST]] = 0
        return found

    def widen(self, width: int) -> None:
        """Let runs hold more events each."""
        if width > self.width:
            more = np.full((len(self._held), width - self.width), -1)
            self._held = np.concatenate([self._held, more], 1)
            self._found_held = np.empty((len(self._found_held), width), np.int64)
            self.width = width

    def sweep(self, graph: GraphArrays, now: int) -> None:
        """Forget those that wait in vain, if there may be many."""
        if self.count > 2 * self._swept + _SLACK:
            count = len(self._places)
            kernel_of(links.sweep_runs, count)(graph, self.arrays, self._state, count, now)
            self._swept = self.count

    @property
    def position(self) -> int:
        """The number of the event to go on with."""
        return int(self._state[at.POSITION])

    def swept(self, graph: GraphArrays, now: int) -> bool:
        """Forget those that wait in vain; whether these were so many that there is room for a while."""
        before, self._swept = self.count, -_SLACK
        self.sweep(graph, now)
        return self.count < before * 3 // 4

    def live(self) -> Integers:
        """The places of runs that are there."""
        return np.flatnonzero(self._places[:, at.RUN_NODE] >= 0)

    def used(self) -> Integers:
        """The numbers of all events that are held, in order."""
        numbers = each_once(self._held[self.live()].ravel())
        return numbers[np.searchsorted(numbers, 0) :]

    def renumber(self, used: Integers) -> None:
        """Let events that are held have the numbers of their places among those."""
        live = self.live()
        held = self._held[live]
        self._held[live] = np.where(held < 0, -1, np.searchsorted(used, held))

    def copied(self, pairs: list[tuple[int, int]], graph: GraphArrays, events: EventArrays) -> None:
        """Let copies of the runs at some nodes wait at others."""
        targets = dict(pairs)
        live = self.live()
        live = live[np.isin(self._places[live, at.RUN_NODE], list(targets))]
        nodes = np.array([targets[node] for node in self._places[live, at.RUN_NODE].tolist()], np.int64)
        held, ends = self._held[live].copy(), self._places[live, at.RUN_LAST].copy()
        if self.count + len(nodes) >= len(self._places):
            self._grow_to(1 << (self.count + len(nodes)).bit_length())
        resume = kernel_of(links.resume_runs, len(nodes))
        resume(graph, self.arrays, events, self._state, nodes, held, ends)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self, owners: tuple[Integers, Integers]) -> tuple[Integers, Integers, Integers, Integers]:
        """Of each run a query at whose state it waits, the state, what it holds, and when its last event ended."""
        live = self.live()
        live = live[owners[0][self._places[live, at.RUN_NODE]] >= 0]  # others wait at nodes that are no more
        nodes = self._places[live, at.RUN_NODE]
        return owners[0][nodes], owners[1][nodes], self._held[live], self._places[live, at.RUN_LAST]

    def resume(self, nodes: Integers, held: Any, ends: Integers, graph: GraphArrays, events: EventArrays) -> None:
        """Go on with runs at some nodes."""
        self.__init__(self.width)  # type: ignore[misc]
        if len(self._places) <= len(nodes):
            self._grow_to(1 << len(nodes).bit_length())
        resume = kernel_of(links.resume_runs, len(nodes))
        # those that held more have gone
        held = np.ascontiguousarray(held[:, : self.width])
        resume(graph, self.arrays, events, self._state, nodes, held, ends)


class Kept:
    """Events, those that runs hold before those of the latest batch, as a table and as kernels see them."""

    def __init__(self) -> None:
        """Begin with none."""
        self._events: list[EventTable] = []
        self._arrays: EventArrays | None = None
        self._least = 0

    @property
    def is_known(self) -> bool:
        """Whether there were events."""
        return self._arrays is not None

    @property
    def arrays(self) -> EventArrays:
        """What kernels are given."""
        assert self._arrays is not None
        return self._arrays

    def add(self, events: EventTable, codes: Any, missing: Integers) -> None:
        """Add a batch."""
        times = events.starts, events.ends, events.start_times, events.end_times
        new = EventArrays(codes, missing, *(np.ascontiguousarray(one) for one in times))
        if self._arrays is not None and len(self._arrays.ends):
            old = self._arrays
            if old.codes.shape[1] < codes.shape[1]:
                more = np.zeros((len(old.ends), codes.shape[1] - old.codes.shape[1]), np.int64)
                old = old._replace(codes=np.concatenate([old.codes, more], 1))
            new = EventArrays(*(np.concatenate(pair) for pair in zip(old, new, strict=True)))
            self._events.append(events)
        else:
            self._events = [events]
        self._arrays = new

    def taken(self, numbers: Integers) -> EventTable:
        """Some of the events, given in order."""
        found: EventTable | None = None
        first = 0
        for events in self._events:
            low, high = np.searchsorted(numbers, [first, first + len(events)])
            if low < high or (found is None and events is self._events[-1]):
                own = events.taken(numbers[low:high] - first)
                found = own if found is None else found.followed_by(own)
            first += len(events)
        assert found is not None
        return found

    def keep(self, runs: Runs) -> None:
        """Keep those that runs hold; not at once, if that would be done again and again for few."""
        assert self._arrays is not None
        if len(self._arrays.ends) > 2 * self._least + _SLACK or len(self._events) > 64:
            self._only(runs)

    def _only(self, runs: Runs) -> None:
        used = runs.used()
        runs.renumber(used)
        self._events = [self.taken(used)]
        self._arrays = EventArrays(*(np.ascontiguousarray(one[used]) for one in self.arrays))
        self._least = len(used)

    def state(self) -> dict[str, Any]:
        """All of the events."""
        if not self._events:
            return {}
        whole = self._events[0]
        for one in self._events[1:]:
            whole = whole.followed_by(one)
        return in_parts({"events": whole.state()})

    def resume(self, state: dict[str, Any], schema: Schema, columns: Columns) -> None:
        """Go on with those."""
        self.__init__()  # type: ignore[misc]
        if kept := part("events", state):
            events = EventTable.of_state(kept, schema)
            self.add(events, *columns.of(events))


def _taller(rows: Any, count: int = 0) -> Any:
    """The same rows, with room for so many, or for twice as many."""
    grown = np.full((count or 2 * len(rows), rows.shape[1]), -1)
    grown[: len(rows)] = rows
    return grown
