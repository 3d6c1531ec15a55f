"""What a kernel of an automaton is given: records that write its signature, and fill it in the same order."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from ouzel.kernels.arrays import longer, taller
from ouzel.physical.automaton.store import COLUMNS, KEPT
from ouzel.physical.event_table import Integers

CURSOR = (
    "p",
    "i",
    "loaded",
    "runs",
    "nodes",
    "matches",
    "live",
    "stamp",
    "made",
    "merged",
    "read",
    "shed",
    "peak",
    "lost",
)
"""What a kernel must know to go on, in the order of the array `cursor`."""


@dataclass
class Record:
    """Arguments of a kernel, which has a parameter of the name of each field."""

    @classmethod
    @cache
    def names(cls) -> tuple[str, ...]:
        """The parameters."""
        return tuple(one.name for one in fields(cls))

    @property
    def values(self) -> list[Any]:
        """The arguments."""
        return list(vars(self).values())


@dataclass
class Stream(Record):
    """Events, of which the first has the number `base`; those of partition p are begins[p] to begins[p + 1].

    `starts` and `moments` are when each starts and ends, `start_clocks` and `clocks` what windows measure of that.
    """

    base: int
    masks: Integers
    keys: Integers
    begins: Integers
    starts: Integers
    moments: Integers
    start_clocks: Integers
    clocks: Integers
    limit: int


@dataclass
class Rules(Record):
    """Whether equal runs are merged, and how many runs, nodes and ends of matches there may be."""

    merge: bool
    most_runs: int
    sheds: bool
    most_nodes: int
    most_found: int


@dataclass
class Opened(Record):
    """Open runs: those of partition p are the rows from_runs[p] to until_runs[p]."""

    from_runs: Integers
    until_runs: Integers
    old_ri: Any
    old_rf: Any


@dataclass
class Work(Record):
    """The arrays that a kernel works in: runs of one partition, runs that stay open, and ends of matches."""

    ri: Any
    rf: Any
    keep: Any
    slots: Any
    stamps: Any
    to_runs: Any
    new_ri: Any
    new_rf: Any
    found: Any
    found_i: Any
    found_f: Any

    @classmethod
    def begin(
        cls,
        widths: tuple[int, int],
        handed: tuple[int, int],
        partitions: int,
        events: int,
        opened: int,
        room: int = 64,
    ) -> Work:
        """Room for a few runs of some width, and for some of the events to end a match, with what is handed over.

        Where runs are open already, about as many will be: there is room for them, and for some that begin.
        """
        found = 1024 + events // 8
        stay = room + opened + (events // 8 if opened else 0)
        return cls(
            ri=np.empty((room, widths[0]), np.int64),
            rf=np.zeros((room, widths[1])),
            keep=np.empty(room, np.bool_),
            slots=np.empty(2 * room, np.int64),
            stamps=np.zeros(2 * room, np.int64),
            to_runs=np.zeros(partitions + 1, np.int64),
            new_ri=np.empty((stay, widths[0]), np.int64),
            new_rf=np.zeros((stay, widths[1])),
            found=np.empty((found, 3), np.int32),
            found_i=np.empty((found, handed[0]), np.int64),
            found_f=np.empty((found, handed[1])),
        )

    def grow_runs(self) -> None:
        """Make room for twice as many runs of a partition; slots are twice as many, to look runs up in them."""
        self.ri, self.rf, self.keep = taller(self.ri), taller(self.rf), longer(self.keep)
        self.slots, self.stamps = longer(self.slots), np.zeros(2 * len(self.stamps), np.int64)

    def grow_open(self) -> None:
        """Make room for twice as many runs that stay open."""
        self.new_ri, self.new_rf = taller(self.new_ri), taller(self.new_rf)

    def grow_found(self) -> None:
        """Make room for twice as many ends of matches."""
        self.found, self.found_i, self.found_f = taller(self.found), taller(self.found_i), taller(self.found_f)


SIGNATURE = ["board", "cursor", *Stream.names(), *Rules.names(), *Opened.names(), *Work.names(), *COLUMNS, *KEPT]
"""The parameters of a kernel, before those of its operands."""
