"""Lists of runs by moment, in arrays that grow at their ends: what is kept of events, of moments and of runs.

When time has passed, moments before it are forgotten but for the last of each partition, whose runs may go on
(AFA C.1); all that is left is numbered anew.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING
from ouzel.physical.automaton.by_event_source import EVENTS, MOMENTS, RUNS
from ouzel.physical.automaton.registers import START
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import Integers
from ouzel.physical.memory.growing import Growing, marked
from ouzel.physical.memory.partitions import Partitions
from ouzel.state.parts import in_parts, part

_FLAGS = ("dead", "accepted")
# So many moments and runs may be old before it is worth to forget them.
SPARE = 8_192


class EventLists(ABC):
    """The events of partitions, the moments that they are in, and the runs that end there.

    Events have numbers from 0 on, in the order in which they came; so have moments and runs.
    """

    def __init__(
        self, query: BoundQuery, widths: tuple[int, int], texts: Texts, limit: int, *, keeps_last: bool
    ) -> None:
        """Begin with no events, for runs of some widths and a window; `texts` are the numbers of texts so far.

        The last moment of a partition that time has passed is kept where others are to be compared with it.
        """
        self.partitions = Partitions(query, once=False)
        self.texts, self.limit, self._keeps_last = texts, limit, keeps_last
        self.events = {name: Growing(np.int64) for name in EVENTS}
        self.moments = {name: Growing(np.int64) for name in (*MOMENTS, "part")}
        self.runs = {name: Growing(np.bool_ if name in _FLAGS else np.int64) for name in (*RUNS, "id")}
        self.tails = Growing(np.int64)
        self.ri, self.rf = np.empty((64, widths[0]), np.int64), np.zeros((64, widths[1]))
        self.columns: list[Growing] = []
        """What the kernel reads of events."""
        self._remembered = self._known_texts = 0

    def __len__(self) -> int:
        """The number of events."""
        return len(self.events["clocks"])

    @property
    def open_runs(self) -> int:
        """How many runs there are."""
        return int(len(self.runs["dead"]) - np.count_nonzero(self.runs["dead"].values))

    def have_room(self, rows: int) -> None:
        """Make room for so many runs, and as many again."""
        if rows > len(self.ri):
            self.ri, self.rf = taller(self.ri, 2 * rows), taller(self.rf, 2 * rows)
        for name in RUNS:
            column = self.runs[name]
            if len(column.data) < len(self.ri):
                column.data = longer(column.data, len(self.ri))
            # a kernel looks at how long they are
            column.data = column.data[: len(self.ri)]

    # ---- what is not needed any more ---------------------------------------------------------------------

    @property
    def is_large(self) -> bool:
        """Whether there is so much more than was left when it was tidied up last that it is worth it again."""
        return len(self.moments["times"]) + len(self.runs["dead"]) > 2 * self._remembered + SPARE

    def forget(self, since: int | Integers) -> Integers:
        """Forget what no event from a time on can change; the new number of every event, -1 for those gone.

        The time may be another one for every partition.
        """
        moments, runs = self.moments, self.runs
        times, parts = moments["times"].values, moments["part"].values
        linked = moments["before"].values != -2
        bounds = since if isinstance(since, np.ndarray) else np.full(self.partitions.count, since)
        time = bounds[parts]
        kept = linked & (times >= time)
        # the last moment of each partition before that time, whose runs may go on
        after = moments["after"].values
        cover = linked & (times < time) & ((after < 0) | (times[np.maximum(after, 0)] >= time))
        ends = runs["ended_at"].values
        is_run = ~runs["dead"].values & (kept | cover)[ends]
        if self.limit:
            oldest = np.maximum(time, BEGINNING + self.limit) - self.limit
            is_run &= (self.ri[: len(is_run), START] > oldest[ends]) | ~cover[ends]
        # where none may go on, nothing is left of the partition
        if not self._keeps_last:
            cover &= marked(len(kept), ends[is_run]) | (moments["passing"].values > 0)
        kept |= cover
        moment_numbers = _numbers(kept)
        run_numbers = _numbers(is_run)
        self._relink(run_numbers)
        is_event = self.events["moment_of"].values >= 0
        is_event &= self.events["clocks"].values >= bounds[self.events["parts"].values]
        is_event &= kept[np.maximum(self.events["moment_of"].values, 0)]
        event_numbers = _numbers(is_event)
        chosen = np.flatnonzero(kept)
        parts = parts[chosen]
        # mostly little is left: only that is numbered anew
        for column in moments.values():
            column.pick(chosen)
        for name in ("before", "after"):
            _renumber(moments[name], moment_numbers)
        for name in ("run_first", "made_first"):
            _renumber(moments[name], run_numbers)
        _renumber(moments["event_first"], event_numbers)
        _renumber(self.tails, moment_numbers)
        self._pick_runs(np.flatnonzero(is_run), run_numbers, moment_numbers, event_numbers)
        places = np.flatnonzero(is_event)
        for column in (*self.events.values(), *self.columns):
            column.pick(places)
        _renumber(self.events["moment_of"], moment_numbers)
        _renumber(self.events["event_next"], event_numbers)
        self._forget_partitions(parts)
        if len(self.texts) > 2 * self._known_texts + SPARE:
            self._forget_texts()
            self._known_texts = len(self.texts)
        self._remembered = len(moments["times"]) + len(runs["dead"])
        return event_numbers

    @abstractmethod
    def _forget_texts(self) -> None:
        """Forget texts that nothing has any more."""

    def _relink(self, numbers: Integers) -> None:
        """Take runs that go out of the lists of their moments."""
        following, first = self.runs["run_next"].values, self.moments["run_first"].values
        goes = numbers < 0
        if not goes.any():
            return
        # the next that stays, of every run: pointers jump over those that go until none does
        target = following.copy()
        # that of -1, none, is looked up behind the last
        goes = np.append(goes, False)
        places = np.flatnonzero(goes[target])
        while len(places):
            target[places] = target[target[places]]
            places = places[goes[target[places]]]
        following[:] = target
        places = np.flatnonzero(goes[first])
        first[places] = target[first[places]]

    def _pick_runs(self, places: Integers, numbers: Integers, moments: Integers, events: Integers) -> None:
        runs = self.runs
        for column in runs.values():
            column.pick(places)
        for name in ("run_next", "made_next", "parent"):
            _renumber(runs[name], numbers)
        _renumber(runs["ended_at"], moments)
        _renumber(runs["event_of"], events)
        self.ri[: len(places)], self.rf[: len(places)] = self.ri[places], self.rf[places]
        self.have_room(len(self.ri))

    def _forget_partitions(self, parts: Integers) -> None:
        """Forget partitions without moments, where there are many."""
        if not self.partitions.tests or self.partitions.count <= 2 * len(parts) + SPARE:
            return
        kept = each_once(parts, self.events["parts"].values)
        numbers = self.partitions.keep(kept)
        for column in (self.moments["part"], self.events["parts"]):
            column.values[:] = numbers[column.values]
        self.tails.pick(kept[kept < len(self.tails)])

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it, as arrays."""
        count = len(self.runs["dead"])
        states = {
            "events": {name: one.values.copy() for name, one in self.events.items()},
            "moments": {name: one.values.copy() for name, one in self.moments.items()},
            "runs": {name: one.values.copy() for name, one in self.runs.items()},
            "columns": {str(place): one.values.copy() for place, one in enumerate(self.columns)},
            "partitions": self.partitions.state(),
            "own": {"texts": list(self.texts), "tails": self.tails.values.copy()},
            "rows": {"ri": self.ri[:count].copy(), "rf": self.rf[:count].copy()},
        }
        return in_parts(states)

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        for room, columns in (("events", self.events), ("moments", self.moments), ("runs", self.runs)):
            for name, values in part(room, state).items():
                columns[name] = Growing(values.dtype, values)
        read = part("columns", state)
        self.columns = [Growing(read[str(k)].dtype, read[str(k)]) for k in range(len(read))]
        self.partitions.resume(part("partitions", state))
        self.texts = Texts({text: number for number, text in enumerate(state["own.texts"])})
        self.tails = Growing(np.int64, state["own.tails"])
        self.ri, self.rf = taller(state["rows.ri"], 64), taller(state["rows.rf"], 64)
        self.have_room(len(self.ri))
        self._remembered = len(self.moments["times"]) + len(self.runs["dead"])


def _numbers(kept: Any) -> Integers:
    """New numbers of what is kept, -1 for the rest."""
    numbers = np.cumsum(kept) - 1
    numbers[~kept] = -1
    found: Integers = numbers
    return found


def _renumber(column: Growing, numbers: Integers) -> None:
    """Replace numbers by new ones; what is negative is none, and stays."""
    values = column.values
    if len(numbers):
        values[:] = np.where(values >= 0, numbers[np.maximum(values, 0)], values)


def longer(array: Any, length: int) -> Any:
    """The array with room for so many values at least."""
    if len(array) >= length:
        return array
    result = np.empty(length, array.dtype)
    result[: len(array)] = array
    return result


def taller(array: Any, rows: int) -> Any:
    """The array with room for so many rows at least."""
    if len(array) >= rows:
        return array
    result = np.zeros((rows, array.shape[1]), array.dtype)
    result[: len(array)] = array
    return result
