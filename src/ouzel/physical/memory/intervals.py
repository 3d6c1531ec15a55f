"""When the events that are kept start and end: as moments, which order them, and as times.

Mostly nothing lasts, and without tie-breakers moments are times: columns that are equal are one, until a batch
tells them apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ouzel.physical.compiled.operands import Array
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.growing import Growing
from ouzel.physical.memory.prepare import Prepared

COLUMNS = ("starts", "ends", "start_times", "end_times")


class Intervals:
    """Four columns, of which some may be one and the same."""

    def __init__(self) -> None:
        """Begin with no events."""
        self.starts = self.ends = self.start_times = self.end_times = Growing(np.int64)

    def __len__(self) -> int:
        """The number of events."""
        return len(self.ends)

    def columns(self) -> list[Growing]:
        """The columns that differ."""
        return list({id(one): one for one in self._all()}.values())

    def extend(self, events: Prepared) -> None:
        """Add the intervals of a batch; columns that it tells apart are one no more."""
        if len(self.columns()) == 1 and events.is_plain:
            self.ends.extend(events.ends)
            return
        parted: dict[tuple[int, int], tuple[Growing, Array]] = {}
        taken: set[int] = set()
        for name in COLUMNS:
            held, more = getattr(self, name), getattr(events, name)
            if (id(held), id(more)) not in parted:
                own = Growing(np.int64, held.values) if id(held) in taken else held
                taken.add(id(held))
                parted[id(held), id(more)] = own, more
            setattr(self, name, parted[id(held), id(more)][0])
        for own, more in parted.values():
            own.extend(more)

    def taken(self, numbers: Integers) -> tuple[Array, Array, Array, Array]:
        """The starts, ends, start times and end times of some events; what is one stays one."""
        arrays = {id(one): one.values[numbers] for one in self.columns()}
        starts, ends, start_times, end_times = (arrays[id(one)] for one in self._all())
        return starts, ends, start_times, end_times

    def _all(self) -> tuple[Growing, Growing, Growing, Growing]:
        return self.starts, self.ends, self.start_times, self.end_times

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The columns that differ, under their first names, and which of them each name means."""
        columns = self.columns()
        places = {id(one): place for place, one in enumerate(columns)}
        meant = np.array([places[id(one)] for one in self._all()], np.int64)
        return {"intervals": meant} | {f"interval{place}": one.values.copy() for place, one in enumerate(columns)}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        meant = state["intervals"].tolist()
        columns = [Growing(np.int64, state[f"interval{place}"]) for place in range(max(meant) + 1)]
        self.starts, self.ends, self.start_times, self.end_times = (columns[place] for place in meant)
