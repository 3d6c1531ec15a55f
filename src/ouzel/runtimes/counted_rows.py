"""Insertions and withdrawals of events that are counted, row by row: a number is free once its event is withdrawn.

It takes time, and is for batches in which numbers contradict each other, if only for some rows.
"""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from ouzel.physical.each_once import each_once
from ouzel.physical.meaning import integers
from ouzel.runtimes.by_event import ByEvent
from ouzel.runtimes.op_column import INSERT, Alike, Batch, Withdrawn
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.tail import Tail


def one_by_one(batch: Batch, tail: Tail, revision: Revision, reading: Reading, way: ByEvent) -> Withdrawn:
    """Which events are withdrawn, and which insertions have numbers that cannot be when they come."""
    assert revision.sequence is not None
    alike = Alike.at(batch.events.end_times, batch, tail, revision.identity, reading)
    tables = (alike.kept, batch.events)
    parts = np.concatenate([way.parts(one) for one in tables])
    counted = np.concatenate([integers(one.table.column(revision.sequence)) for one in tables])
    times = np.concatenate([one.end_times for one in tables]).tolist()
    numbers, kept = alike.numbers.tolist(), len(alike.places)
    lines = {part: way.line(part, int(counted[parts == part].min())) for part in each_once(parts).tolist()}
    lines.pop(-1, None)  # what is in no partition is not counted
    parts, counted = parts.tolist(), counted.tolist()
    there: dict[int, deque[int]] = defaultdict(deque)
    for place in range(kept):
        there[numbers[place]].append(place)
    taken, without, refused = [], [], []
    for place, sign in enumerate(batch.signs.tolist(), start=kept):
        same, line = there[numbers[place]], lines.get(parts[place])
        if sign == INSERT:
            if line is None or line.takes(counted[place], times[place]):
                same.append(place)
            else:
                refused.append(place - kept)
        elif same:
            taken.append(same.popleft())
            if line := lines.get(parts[taken[-1]]):
                line.loses(counted[taken[-1]])
        else:
            without.append(place)
    return alike.taken(*(np.array(one, np.int64) for one in (taken, without, refused)))
