"""Corrections of a register automaton: its runs are kept by event, and only those that pass a change do change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.logical.times import BEGINNING, END
from ouzel.optimizer.plan import Plan
from ouzel.physical.automaton.by_event import RunsByEvent
from ouzel.physical.automaton.counted import Line, are_well_counted
from ouzel.physical.automaton.row_plan import RowPlan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.physical.memory.growing import Growing
from ouzel.runtimes.promises import Promise, Promises
from ouzel.runtimes.reported import changes
from ouzel.runtimes.results import register_table
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.tail import Tail
from ouzel.state.parts import in_parts, part

SERIAL = "\0serial"
"""The column of the tail that has the number of each event, by which its runs are found."""
SPARSE = 1_000
"""So many numbers without an event are let be."""


def keeps_by_event(plans: Sequence[Plan], ties: Sequence[str], *, by_arrival: bool) -> bool:
    """Whether runs of the one query can be kept by event: moments are times, and nothing needs Python."""
    if len(plans) != 1 or ties or by_arrival or not isinstance(plan := plans[0].physical, RowPlan):
        return False
    automaton = plan.written.automaton
    if plan.epochs is None or automaton is None or automaton.types is not None or automaton.waits:
        return False
    _source, operands = plan.by_event
    return not operands.calls


def check_counted(suits: bool, limits: Limits) -> None:
    """Refuse to count events where runs are not kept by event."""
    if limits.sheds:
        raise OuzelError("sequence: required limits that end in an error; got on_limit='shed'")
    if not suits:
        raise OuzelError(
            "sequence: required a register automaton, oz.automaton(…), that reads all events, without "
            "order=, arcs at the end of the window, and cycles of arcs that consume nothing"
        )


class ByEvent:
    """A register automaton that is corrected event by event."""

    words = "late and withdrawn events: runs are kept by event, and those that pass one are made anew"
    rewinds = False

    def __init__(
        self, plan: Plan, limits: Limits, none: EventTable, promises: Promises, revision: Revision
    ) -> None:
        """Begin with no events."""
        assert isinstance(plan.physical, RowPlan)
        self._promises, self._is_plain, sequence = promises, revision.is_plain, revision.sequence
        self.name, self._none, self._limits = plan.query.name, none, limits
        self.runs = RunsByEvent(plan.physical, limits, sequence)
        self._nothing: pa.Table | None = None
        self._new = none
        """The events of the latest batch, until they come."""
        self.now = self._passed = BEGINNING
        self._next_id = self._next_serial = self._first_serial = 0
        self._numbers = Growing(np.int64)
        """The number of every event by its serial, from the first on; -1 while it is held."""

    def numbered(self, events: EventTable) -> EventTable:
        """Events as they are kept, with serials."""
        serials = np.arange(self._next_serial, self._next_serial + len(events))
        self._next_serial += len(events)
        self._numbers.fill(self._next_serial - self._first_serial, -1)
        self._new = replace(events, table=events.table.append_column(SERIAL, pa.array(serials)))
        return self._new

    def begin(self) -> None:
        """Learn what columns look like."""
        self.runs.know(self._none)

    # ---- events ------------------------------------------------------------------------------------------

    def go(self, tail: Tail, changed: EventTable, until: int | None) -> dict[str, pa.Table]:
        """Let late events come and withdrawn ones go, then those before a time; what changes."""
        known = self._of(changed)
        events = self._coming(tail, changed, known, until)
        self.now = self.now if until is None else max(until, self.now)
        return {self.name: self._changed(known[known >= 0], events)}

    def _coming(self, tail: Tail, changed: EventTable, known: Integers, until: int | None) -> EventTable:
        """The late ones of events that changed, and all before a time that have not come yet."""
        new, self._new = self._new, self._none
        if len(new) and (until is None or new.end_times[-1] < until):
            waiting = len(new) - int(new.end_times.searchsorted(self.now))
            # where no other is held, these are all, in one piece
            if tail.count(self.now, END if until is None else until) == waiting:
                return new
        late = changed.taken(np.flatnonzero(known < 0)) if (known >= 0).any() else changed
        events = tail.between(self.now, until)
        return late.followed_by(events) if len(late) else events

    def are_well_counted(self, events: EventTable) -> bool:
        """Whether events have numbers that can be, beside those that are there."""
        assert self.runs.sequence is not None
        return are_well_counted(self.runs, events, self.runs.sequence)

    def line(self, part: int, number: int) -> Line:
        """What is counted in a partition, from a number on."""
        return Line.since(self.runs, part, number)

    def parts(self, events: EventTable) -> Integers:
        """The partitions of events, by number; -1 for those that are in none."""
        return self.runs.partitions.number(events, np.arange(len(events)))

    def again(self, tail: Tail, since: int, until: int) -> dict[str, pa.Table]:
        """Judge events anew from a time on, as arcs have changed; what changes."""
        events = tail.between(since, self.now)
        known = self._of(events)
        told = self._changed(known[known >= 0], events)
        return {self.name: pa.concat_tables([told, self.go(tail, tail.none, until)[self.name]])}

    def _of(self, events: EventTable) -> Integers:
        """The numbers of events, -1 for those that are new."""
        if not len(events):
            return np.zeros(0, np.int64)
        serials = events.table.column(SERIAL).to_numpy()
        numbers: Integers = self._numbers.values[serials - self._first_serial]
        return numbers

    def _changed(self, gone: Integers, events: EventTable) -> pa.Table:
        """Let some events go, by number and in order, and others come; the rows to withdraw and to insert."""
        # the last goes first: runs before it would go on to those behind it, which then go, too
        queue = ~gone[::-1]
        if len(events):
            rows, numbers = self.runs.add(events)
            serials = events.table.column(SERIAL).to_numpy()[rows]
            self._numbers.values[serials - self._first_serial] = numbers
            queue = np.concatenate([queue, numbers])
        new, old = self.runs.go(queue)
        if len(old) and len(new):
            # a row that comes again is not told
            same = self.runs.same(old, new)
            kept = np.flatnonzero(same >= 0)
            self.runs.name(new[kept], self.runs.ids(old[same[kept]]))
            old, new = np.delete(old, same[kept]), np.delete(new, kept)
        ids = np.arange(self._next_id, self._next_id + len(new))
        self._next_id += len(new)
        self.runs.name(new, ids)
        told = changes(self._rows(new), ids, 1)
        return pa.concat_tables([changes(self._rows(old), self.runs.ids(old), -1), told]) if len(old) else told

    def _rows(self, runs: Integers) -> pa.Table:
        """What is told of runs."""
        if len(runs) or self._nothing is None:
            found = register_table(self.runs.plan.written, *self.runs.rows(runs))
            self._nothing = found.slice(0, 0)
            return found
        return self._nothing

    def forget(self, tail: Tail, punctuation: int) -> None:
        """Forget what no correction can reach any more."""
        tail.forget(punctuation)
        self._passed = punctuation
        if self.runs.is_large:
            self.tidy(tail)

    def tidy(self, tail: Tail) -> None:
        """Let go of what is forgotten, which otherwise is done for much of it at once."""
        self._forget_promised(tail) if self._promised else self._tidy(self._passed)
        if self._next_serial - self._first_serial > SPARSE + 2 * tail.size:
            known = np.append(self._numbers.values, -1)
            serials = tail.number_anew(SERIAL) - self._first_serial
            # of those that went there may be no number any more
            self._numbers = Growing(np.int64, known[np.where(serials < 0, -1, serials)])
            self._first_serial, self._next_serial = 0, len(serials)
            return
        first = min((int(one.min()) for one in tail.columns(SERIAL) if len(one)), default=self._next_serial)
        self._numbers.drop(first - self._first_serial)
        self._first_serial = first

    @property
    def _promised(self) -> list[Promise]:
        """The promises that are about partitions as a whole."""
        columns = [name for name, _test in self.runs.partitions.tests]
        return [promise for promise in self._promises if promise.is_of(columns)]

    def suits(self, plan: Plan) -> bool:
        """Whether runs of another plan can be kept by event."""
        return keeps_by_event([plan], (), by_arrival=False)

    def settled(self, now: int) -> int:
        """Before this time nothing is matched any more."""
        return now

    def changes_from(self, now: int, latest: int) -> int:
        """From this time on arcs may change: what was told for good, or forgotten as it was promised, stays."""
        # before it there may be partitions of which nothing is known any more, as none was to change
        promised = max((promise.time for promise in self._promised), default=BEGINNING)
        settled = END if self._is_plain else promised
        return max(now, min(settled, latest + (latest > BEGINNING)))

    def _forget_promised(self, tail: Tail) -> None:
        """Forget of every partition what is before the time from which on it may change (AFA C.1, F.2)."""
        places, events = tail.every()
        known = self._of(events)
        matched = np.flatnonzero(known >= 0)
        places, events = places[matched], events.taken(matched)
        parts = self.runs.events["parts"].values[known[matched]]
        since = np.full(self.runs.partitions.count, self._passed, np.int64)
        for promise in self._promised:
            # events that are held are still to be matched, and nothing is asked of those that are not promised
            until = min(promise.time, self.now)
            asked = events.slice(0, int(events.end_times.searchsorted(until)))
            np.maximum.at(since, parts[: len(asked)][promise.holds(asked)], until)
        tail.remove(places[events.end_times < since[parts]])
        self._tidy(since)

    def _tidy(self, time: int | Integers) -> None:
        """Number events anew, without those that went or are before a time."""
        numbers, known = self.runs.forget(time), self._numbers.values
        known[:] = np.where(known >= 0, numbers[np.maximum(known, 0)] if len(numbers) else -1, known)
        self.runs.know(self._none)

    # ---- what is known -----------------------------------------------------------------------------------

    @property
    def open_runs(self) -> int:
        """How many runs there are."""
        return self.runs.open_runs

    def counters(self, counted: Counters) -> Counters:
        """What was done."""
        counted = replace(counted)
        counted.add(self.runs.counters)
        return counted

    def state(self, tail: Tail) -> dict[str, Any]:
        """The runs, and what is known of events."""
        self.tidy(tail)
        own = {
            "now": self.now,
            "passed": self._passed,
            "id": self._next_id,
            "next": self._next_serial,
            "first": self._first_serial,
        }
        return {**own, "numbers": self._numbers.values.copy(), **in_parts({"runs": self.runs.state()})}

    def resume(self, state: dict[str, Any], tail: Tail) -> None:  # noqa: ARG002 - it knows all that it needs
        """Go on from there."""
        self.now, self._passed, self._next_id = state["now"], state["passed"], state["id"]
        self._next_serial, self._first_serial = state["next"], state["first"]
        self._numbers = Growing(np.int64, state["numbers"])
        self.runs.resume(part("runs", state))
        self.begin()

    # ---- arcs --------------------------------------------------------------------------------------------

    def become(self, plan: Plan, tail: Tail) -> None:
        """Go on with a plan of other arcs: the same runs, of which events are read anew."""
        assert isinstance(plan.physical, RowPlan)
        self._tidy(self._passed)
        made = RunsByEvent(plan.physical, self._limits, self.runs.sequence)
        made.know(self._none)
        made.take_over(self.runs, self._by_number(tail))
        self.runs = made

    def _by_number(self, tail: Tail) -> EventTable:
        """The events that are in runs, by their numbers."""
        events = tail.between(BEGINNING, self.now)
        known = self._of(events)
        places = np.flatnonzero(known >= 0)
        return events.taken(places[np.argsort(known[places])])
