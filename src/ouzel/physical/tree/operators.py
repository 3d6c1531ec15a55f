"""Operators at work: each goes on where it stopped, with what its children made since (ZStream 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.kernels import records
from ouzel.kernels.windows import reach_of
from ouzel.logical.pattern import Component
from ouzel.logical.times import BEGINNING, END
from ouzel.physical.compiled.kernel import kernel_of, long_kernel_of
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.growing import Growing, Numbers
from ouzel.physical.memory.retained import Retained
from ouzel.physical.tree.buffers import Buffer, Links
from ouzel.physical.tree.columns import columns_of, lasts
from ouzel.physical.tree.hashing import hashed_in
from ouzel.physical.tree.nodes import Fill, How, Join, Kind, Leaf, Node, Union, linked_gaps
from ouzel.physical.tree.record_writer import FULL, GAPS, LEFT, MADE, RIGHT, SHED, SHEDS, UNLINKED
from ouzel.physical.tree.source import Written

# So many records, and buckets of them, there is room for at first.
_ROOM = 1_024
_BUCKETS = 32


class TooManyRecordsError(Exception):
    """There are more records than are allowed, or fit; of some root, more matches."""


@dataclass(frozen=True)
class Bounds:
    """The length of the window, the earliest clock that a round needs (EAT), and the most records of an operator.

    More of these are an error, or shed.
    """

    limit: int
    eat: int
    most: int
    sheds: bool


class GapEvents:
    """The events in gaps, of a group or not to be there: each with the one before it of its partition."""

    def __init__(self, component: Component) -> None:
        """Begin with none."""
        self.component = component
        self.events, self.previous, self.heads = (Growing(np.int32) for _ in range(3))

    def extend(self, numbers: Integers, retained: Retained, partitions: int) -> None:
        """Add events."""
        self.previous.fill(len(retained), -1)
        self.heads.fill(partitions, -1)
        self.events.extend(numbers)
        keys = retained.parts[numbers]
        kernel_of(records.link_events, len(numbers))(numbers, keys, self.heads.values, self.previous.values)

    def keep(self, kept: Any, numbers: Numbers) -> None:
        """Keep some events, with new numbers."""
        self.events.keep(kept[self.events.values])
        self.previous.fill(len(kept), -1)
        self.previous.keep(kept)
        for one in (self.events, self.previous):
            numbers.renumber(one.values)

    def latest(self, count: int, retained: Retained) -> Growing:
        """The latest of the first events, by partition."""
        heads = Growing(np.int32, np.full(retained.partitions.count, -1))
        events = self.events.values[:count]
        heads.values[retained.parts[events]] = events
        return heads

    def relink(self, retained: Retained) -> None:
        """Follow partitions, which have new numbers."""
        self.heads = self.latest(len(self.events), retained)


class Operator:
    """A node at work: its records, and how far it came in those of its children."""

    def __init__(
        self, node: Node, kernel: Written | None, children: list[Operator], gaps: dict[int, GapEvents]
    ) -> None:
        """Begin with no records."""
        self.node, self.kernel, self.children, self.gap_events = node, kernel, children, gaps
        is_event = isinstance(node, Leaf) and node.kind is Kind.EVENT
        self.buffer = Buffer(columns_of(node), shared=is_event)
        self.marks = np.zeros(GAPS + 64, np.int64)
        self.links = {side: Links() for side in "lrs"}
        self.gaps = [component.position for component in linked_gaps(node)]
        self.heads = {n: Growing(np.int32) for n in self.gaps}
        # of each record on the left: when the first event ends that negates it, and the last that was tried
        bars = [bar.component.position for bar in node.bars if bar.is_left] if isinstance(node, Join) else []
        self.until, self.tried = ({n: Growing(np.int64) for n in bars} for _ in range(2))
        # of a closure: its events, and all choices of them
        self.events = Growing(np.int32)
        self.store = Buffer(("first", "length", "event", "before")) if self.is_chain else None
        self._is_hashed = bool(hashed_in(node))

    @property
    def is_chain(self) -> bool:
        """Whether it has a record for every choice of events of a closure."""
        return isinstance(self.node, Leaf) and self.node.kind is Kind.CHAIN

    def __len__(self) -> int:
        """The number of records."""
        return len(self.buffer) + (len(self.store) if self.store else 0)

    # ---- events and records in ---------------------------------------------------------------------------

    def take(self, numbers: Integers, retained: Retained, limit: int) -> None:
        """Take the events of its component, if it is a leaf; none in a match lasts longer than the window."""
        assert isinstance(self.node, Leaf)
        match self.node.kind:
            case Kind.EVENT:
                if lasts(self.node.component):
                    oldest = oldest_clocks(retained.clocks[numbers], limit)
                    numbers = numbers[retained.start_clocks[numbers] > oldest]
                self.buffer.columns["first"].extend(numbers)
            case Kind.CHAIN:
                self.events.extend(numbers)
            case Kind.STOP:
                self._stops(numbers, retained)

    def _stops(self, numbers: Integers, retained: Retained) -> None:
        """A record for each moment at which events of a partition end: the last of them, and the latest start."""
        assert isinstance(self.node, Leaf)
        order = np.lexsort((numbers, retained.parts[numbers], retained.ends[numbers]))
        ordered = numbers[order]
        parts, ends = retained.parts[ordered], retained.ends[ordered]
        differ = (parts[1:] != parts[:-1]) | (ends[1:] != ends[:-1])
        apart = np.flatnonzero(np.append(differ, len(ordered) > 0))
        latest = ordered
        if lasts(self.node.component):
            keys = numbers, retained.starts[numbers], retained.parts[numbers], retained.ends[numbers]
            latest = numbers[np.lexsort(keys)]
        n = self.node.component.position
        self.buffer.columns["first"].extend(latest[apart])
        self.buffer.columns["last"].extend(ordered[apart])
        self.buffer.columns[f"x{n}"].extend(ordered[apart])

    def run(self, retained: Retained, values: Any, bounds: Bounds, chains: dict[int, Operator]) -> int:
        """Make all records that there can be of what the children have; how many were shed."""
        if self.kernel is None:
            return 0
        partitions = retained.partitions.count
        found, more = len(self.buffer), _ROOM
        while True:
            self.buffer.reserve(more)
            is_most = self.buffer.room >= bounds.most
            if self.store is not None:
                self.store.reserve(more)
                is_most |= self.store.room >= bounds.most
            self._reserve_links(partitions)
            self.marks[[MADE, FULL, SHEDS, SHED]] = found, 0, is_most and bounds.sheds, 0
            arguments = [self._argument(name, retained, bounds, chains) for name in self.kernel.parameters[1:]]
            kernel = long_kernel_of(self.kernel.source, self._size())
            found = int(kernel(*arguments, *values(self.kernel.operands)))
            self.marks[UNLINKED] = 0
            self.buffer.made(found)
            if self.store is not None:
                self.store.made(int(self.marks[RIGHT]))
            if not self.marks[FULL]:
                break
            if is_most:
                raise TooManyRecordsError
            more = 2 * max(more, found)
        self._clear()
        return int(self.marks[SHED])

    def _size(self) -> int:
        return sum(len(child.buffer) for child in self.children) + len(self.events)

    def _reserve_links(self, partitions: int) -> None:
        sides = dict(zip("lr", (len(child.buffer) for child in self.children), strict=False))
        if self.store is not None:
            sides["s"] = self.store.room
        for side, count in sides.items():
            links = self.links[side]
            links.previous.fill(count, -1)
            if not self._is_hashed:
                links.heads.fill(partitions, -1)
            elif len(links.heads) < max(2 * count, _BUCKETS):
                links.heads = Growing(np.int32, np.full(1 << max(2 * count, _BUCKETS).bit_length(), -1))
                self.relink()
        for heads in self.heads.values():
            heads.fill(partitions, -1)
        for n in self.until:
            self.until[n].fill(sides["l"], END)
            self.tried[n].fill(sides["l"], -1)

    def _argument(self, name: str, retained: Retained, bounds: Bounds, chains: dict[int, Operator]) -> Any:  # noqa: PLR0912
        match name:
            case "marks":
                return self.marks
            case "room":
                return min(self.buffer.room, bounds.most)
            case "s_room":
                assert self.store is not None
                return min(self.store.room, bounds.most)
            case "limit" | "eat":
                return getattr(bounds, name)
            case _ if name.startswith(("until", "tried")):
                return getattr(self, name[:5])[int(name[5:])].values
            case "starts" | "ends" | "start_clocks" | "clocks" | "parts":
                return getattr(retained, name)
        side, _, field = name.partition("_")
        if not field:
            n = int(side[1:])
            if side[0] == "p":
                return self.gap_events[n].previous.values
            return np.empty(self._most_elements(n, chains), np.int32)
        if side[0] == "g" and len(side) > 1:
            n = int(side[1:])
            return self.gap_events[n].events.values if field == "events" else self.heads[n].values
        if side[0] == "s" and len(side) > 1:
            store = chains[int(side[1:])].store
            assert store is not None
            return store.columns[field].data
        if field in ("heads", "previous"):
            return getattr(self.links[side], field).values
        if side == "s":
            assert self.store is not None
            return self.store.columns[field].data
        if side == "o":
            return self.buffer.columns[field].data
        if side == "l" and self.is_chain:
            return len(self.events) if field == "count" else self.events.values
        child = self.children[{"l": 0, "r": 1}.get(side, int(side[1:] or 0))]
        return len(child.buffer) if field == "count" else child.buffer.columns[field].values

    def _most_elements(self, n: int, chains: dict[int, Operator]) -> int:
        """How many elements a closure or group can have at most."""
        if n in self.gap_events:
            return len(self.gap_events[n].events)
        chain = chains[n]
        assert chain.store is not None
        # while choices are made, each event may make the longest one longer
        more = len(chain.events) if chain is self else 0
        return int(chain.store.columns["length"].values.max(initial=0)) + more + 1

    # ---- what goes ---------------------------------------------------------------------------------------

    def _clear(self) -> None:
        """Drop what will not be joined again: whatever comes is later (line 7 of Algorithm 1)."""
        node = self.node
        if isinstance(node, Join) and node.how is How.SEQUENCE:
            self.children[1].buffer.clear(int(self.marks[RIGHT]))
            self.marks[RIGHT] = 0
        elif isinstance(node, Fill):
            self.children[0].buffer.clear(int(self.marks[LEFT]))
            self.marks[LEFT] = 0
        elif isinstance(node, Union):
            for k, child in enumerate(self.children):
                child.buffer.clear(int(self.marks[GAPS + k]))
                self.marks[GAPS + k] = 0
        elif self.is_chain:
            self.events.keep(np.arange(len(self.events)) >= self.marks[LEFT])
            self.marks[LEFT] = 0

    def drop(self, alive: Any) -> Numbers | None:
        """Drop the records that no match can start with any more; of a closure, the new numbers of its choices."""
        for place, child in enumerate(self.children):
            kept = alive[child.buffer.columns["first"].values]
            if not kept.all():
                at = GAPS + place if isinstance(self.node, Union) else (LEFT, RIGHT)[place]
                self.marks[at] = np.count_nonzero(kept[: self.marks[at]])
                if place == 0:
                    for one in (*self.until.values(), *self.tried.values()):
                        one.keep(kept[: len(one)])
                child.buffer.keep(kept)
        if self.store is None:
            return None
        kept = alive[self.store.columns["first"].values]
        numbers = Numbers(kept)
        self.store.keep(kept)
        numbers.renumber(self.store.columns["before"].values)
        self.marks[RIGHT] = numbers.count
        return numbers

    def renumber(self, numbers: Numbers, chains: dict[int, Numbers], kept: Any) -> None:
        """Give events, and the choices of closures, new numbers."""
        counts = {name for name in self.buffer.columns if name.startswith("k")} | {f"x{n}" for n in chains}
        self.buffer.renumber([name for name in self.buffer.columns if name not in counts], numbers)
        for n, of_chain in chains.items():
            if f"x{n}" in self.buffer.columns:
                self.buffer.renumber([f"x{n}"], of_chain)
        for place, n in enumerate(self.gaps):
            done = self.gap_events[n].events.values[: self.marks[GAPS + place]]
            self.marks[GAPS + place] = np.count_nonzero(kept[done])
        for one in self.tried.values():
            numbers.renumber(one.values)
        if self.store is not None:
            self.store.renumber(["first", "event"], numbers)
            self.events.keep(kept[self.events.values])
            numbers.renumber(self.events.values)

    def relink(self) -> None:
        """Have records linked anew, which moved, or whose partitions did."""
        for links in self.links.values():
            links.heads.values[:] = -1
        self.marks[UNLINKED] = 1

    def relink_gaps(self, retained: Retained) -> None:
        """Follow the partitions of events in gaps."""
        for place, n in enumerate(self.gaps):
            self.heads[n] = self.gap_events[n].latest(int(self.marks[GAPS + place]), retained)


def oldest_clocks(clocks: Integers, limit: int) -> Integers:
    """The clocks up to which events are too old for what ends at some clocks."""
    if limit <= 0:
        return np.full(len(clocks), BEGINNING, np.int64)
    return np.where(clocks >= reach_of(limit), clocks - limit, BEGINNING)


def since(clock: int | None, limit: int) -> int:
    """The clock up to which events are too old for what ends at a clock (the EAT of ZStream 4.3)."""
    if clock is None or limit <= 0:
        return BEGINNING
    return max(clock - limit, BEGINNING)
