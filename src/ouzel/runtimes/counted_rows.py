"""Insertions and withdrawals of events that are counted, row by row: a number is free once its event is withdrawn.

It takes time, and is for batches in which numbers contradict each other, if only for some rows.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ouzel.physical.automaton.counted import Line
from ouzel.physical.meaning import integers
from ouzel.runtimes.by_event import ByEvent
from ouzel.runtimes.op_column import INSERT, Alike, Batch, Withdrawn, paired_one_by_one
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.tail import Tail


def counted_one_by_one(batch: Batch, tail: Tail, revision: Revision, reading: Reading, way: ByEvent) -> Withdrawn:
    """Which events are withdrawn, and which insertions have numbers that cannot be when they come."""
    assert revision.sequence is not None
    alike = Alike.at(batch.events.end_times, batch, tail, revision.identity, reading)
    tables, kept = (alike.kept, batch.events), len(alike.places)
    parts = np.concatenate([way.parts(one) for one in tables])
    counted = np.concatenate([integers(one.table.column(revision.sequence)) for one in tables])
    times = np.concatenate([one.end_times for one in tables]).tolist()
    least = np.full(int(parts.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    inside = np.flatnonzero(parts >= 0)
    np.minimum.at(least, parts[inside], counted[inside])

    @cache
    def line(part: int) -> Line:
        return way.line(part, int(least[part]))

    def comes(place: int) -> bool:
        # what is kept is in its line already, and what is in no partition in none
        if place < kept or parts[place] < 0:
            return True
        return line(int(parts[place])).takes(int(counted[place]), times[place])

    def goes(place: int) -> None:
        if parts[place] >= 0:
            line(int(parts[place])).loses(int(counted[place]))

    signs = np.concatenate([np.full(kept, INSERT), batch.signs[alike.own]])
    return alike.taken(*paired_one_by_one(alike.numbers.tolist(), signs.tolist(), comes, goes))
