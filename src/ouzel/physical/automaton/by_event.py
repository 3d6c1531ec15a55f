"""Runs kept by event, at work: events come and go in any order, and with them runs that are matches (AFA 5.1)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.logical.values import Kind
from ouzel.physical.automaton.by_event_source import CURSOR, EVENTS, MOMENTS, RUNS, Status
from ouzel.physical.automaton.event_lists import EventLists, longer
from ouzel.physical.automaton.registers import FIXED, START, Slot
from ouzel.physical.automaton.row_plan import RowPlan
from ouzel.physical.automaton.rows import register_values
from ouzel.physical.compiled.fill import settled
from ouzel.physical.compiled.kernel import long_kernel_of
from ouzel.physical.compiled.operands import HEAD, Written
from ouzel.physical.compiled.texts import Texts
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.physical.meaning import arrow_values, integers
from ouzel.physical.memory.growing import Growing, marked
from ouzel.physical.memory.prepare import NONE, Preparation, Prepared
from ouzel.physical.pairing import paired
from ouzel.physical.stoppable import STEPS, stoppable


class RunsByEvent(EventLists):
    """The runs of a register automaton, by the event with which they end."""

    def __init__(self, plan: RowPlan, limits: Limits, sequence: str | None = None) -> None:
        """Begin with no events; `sequence` is the column that counts those of a partition, if one does."""
        self.sequence = sequence
        self.plan, self.limits, self.room = plan, limits.settled(), limits.memory()
        self.counters = Counters()
        self.preparation = Preparation(plan.query, plan.filters, self.room)
        self.source, self.operands = plan.by_event
        counted = sequence is not None
        super().__init__(plan.query, plan.widths, Texts(self.operands.texts), plan.limit, keeps_last=counted)
        self._arguments: list[Any] = []

    def _forget_texts(self) -> None:
        """Forget texts that neither runs nor events have, as the kernel reads them; others are numbered anew."""
        runs = self.ri[: len(self.runs["dead"])]
        held = [runs[:, column] for column in self.plan.slots.text_columns[0]]
        for place, (source, value_type) in enumerate(self.operands.columns):
            if self.columns and (value_type.kind is Kind.STRING or isinstance(source, Written)):
                held.append(self.columns[2 * place].values)
        used = marked(max(len(self.texts), 1), *held)
        # those that the automaton mentions have the first numbers, and keep them; 0 stands for null, too
        used[: max(len(self.operands.texts), 1)] = True
        self.texts, numbers = self.texts.only(used)
        for column in held:
            column[:] = numbers[column]
        self._arguments = []  # the order of texts is by their numbers

    # ---- events that come and go -------------------------------------------------------------------------

    def add(self, events: EventTable) -> tuple[Integers, Integers]:
        """Take events, which are not in any run yet: their rows, those that are in some partition, and numbers."""
        prepared = self._prepared(events)
        first = len(self)
        if self.columns or len(prepared):
            self._fill(events, prepared)
        times = prepared.end_times
        orders = times if self.sequence is None else integers(events.column(self.sequence, prepared.rows))
        arrays = {"masks": prepared.masks, "clocks": times, "order_of": orders, "parts": prepared.parts}
        for name, values in arrays.items():
            self.events[name].extend(values)
        for name in ("moment_of", "event_next"):
            self.events[name].fill(first + len(prepared), -1)
        if len(prepared):
            self.tails.fill(max(int(prepared.parts.max()) + 1, len(self.tails)), -1)
        return prepared.rows, np.arange(first, first + len(prepared))

    def _prepared(self, events: EventTable) -> Prepared:
        epochs = self.plan.epochs
        assert epochs is not None
        prepared = self.preparation.of(events, self.partitions) if len(events) else NONE
        if len(prepared):
            masks = prepared.masks & epochs.masks(prepared.end_times)
            prepared = Prepared(prepared.rows, masks, *prepared.arrays[2:])
        return prepared

    def _fill(self, events: EventTable, prepared: Prepared) -> None:
        """Keep what the kernel reads of events."""
        wanted = self.plan.wanted(prepared.masks)
        arguments = settled(self.operands.arguments(events, prepared.rows, prepared.end_times, self.texts, wanted))
        if not self.columns:
            self.columns = [Growing(one.dtype) for one in arguments[HEAD:]]
        for column, values in zip(self.columns, arguments[HEAD:], strict=True):
            column.extend(values)
        self._arguments = arguments[:HEAD]

    def go(self, queue: Integers) -> tuple[Integers, Integers]:
        """Let events come, by number, and others go, ~number: the runs that are matches now, and are no more."""
        if not len(queue):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        count = len(self.moments["times"])
        for name in MOMENTS:
            self.moments[name].reserve(len(queue))
        before = len(self.runs["dead"])
        killed = np.empty(max(before, 1), np.int64)
        found = np.empty(1024 + len(queue), np.int64)
        self.have_room(before + 1024 + len(queue))
        cursor = np.zeros(len(CURSOR), np.int64)
        cursor[CURSOR.index("runs")], cursor[CURSOR.index("count")] = before, count
        while True:
            killed = longer(killed, len(self.ri))
            arrays = [self.events[name].data for name in EVENTS]
            arrays += [self.moments[name].data for name in MOMENTS]
            arrays += [self.runs[name].data for name in RUNS]
            kernel = long_kernel_of(self.source, len(queue), 1 / len(queue))
            counted = int(self.sequence is not None)
            head = cursor, queue, self.plan.limit, counted, self.tails.data, self.ri, self.rf, found, killed
            columns = [one.data for one in self.columns]
            call = partial(kernel, *head, *arrays, *self._arguments, *columns)
            status = stoppable(call, size=len(queue) * (1 + before // 100) // STEPS)
            counts = dict(zip(CURSOR, cursor.tolist(), strict=True))
            if status == Status.DONE:
                break
            # a step needs room for a run and a match by each of some moves
            if 2 * counts["matches"] > len(found):
                found = longer(found, 2 * len(found))
            if 2 * counts["runs"] > len(self.ri):
                self._grow(counts["runs"])
        for name in MOMENTS:
            self.moments[name].count = counts["count"]
        self._note_parts(count)
        for name in RUNS:
            self.runs[name].count = counts["runs"]
        self.runs["id"].fill(counts["runs"], -1)
        self.counters.made += counts["made"]
        self._check(counts["runs"], counts["matches"])
        new, gone = found[: counts["matches"]], killed[: counts["kills"]]
        return new[~self.runs["dead"].values[new]], gone[self.runs["id"].values[gone] >= 0]

    def _note_parts(self, since: int) -> None:
        """Note the partitions of new moments."""
        first = self.moments["event_first"].values[since:]
        parts = np.zeros(len(first), np.int64)
        is_there = first >= 0
        parts[is_there] = self.events["parts"].values[first[is_there]]
        self.moments["part"].extend(parts)

    def _check(self, runs: int, matches: int) -> None:
        self.counters.peak = max(self.counters.peak, runs)
        if runs > self.limits.max_runs and self.open_runs > self.limits.max_runs:
            raise self.limits.exceeded("max_runs")
        if matches > self.limits.max_matches:
            raise self.limits.exceeded("max_matches")

    def _grow(self, runs: int) -> None:
        """Make room for twice as many runs, unless they are too many already, but for those that are gone."""
        if runs > 2 * self.limits.max_runs:
            gone = int(np.count_nonzero(self.runs["dead"].data[:runs]))
            if runs - gone > self.limits.max_runs:
                raise self.limits.exceeded("max_runs")
        if 3 * (self.ri.nbytes + self.rf.nbytes) > self.room.size:
            raise self.room.exceeded(runs, "open runs")
        self.have_room(len(self.ri) + 1)

    # ---- matches -----------------------------------------------------------------------------------------

    def rows(self, runs: Integers) -> tuple[dict[str, pa.ChunkedArray], Integers, Integers]:
        """The registers of runs that are, or were, matches, and the times of their first and last events."""
        attributes = self.plan.written.attributes
        assert attributes is not None
        columns = {}
        for one in attributes:
            register = next(r for r in self.plan.automaton.registers if getattr(r.of, "name", None) == one.name)
            values = register_values(register.of, partial(self._slot, runs), self.texts)
            columns[one.name] = pa.chunked_array([arrow_values(values, one.type, one.arrow)])
        ends = self.moments["times"].values[self.runs["ended_at"].values[runs]]
        return columns, self.ri[runs, START], ends

    def _slot(self, runs: Integers, slot: Slot) -> Any:
        """What runs keep in a slot."""
        slots = self.plan.slots
        if slot in slots.floats:
            return self.rf[runs, slots.floats.index(slot)]
        return self.ri[runs, FIXED + slots.integers.index(slot)]

    def same(self, old: Integers, new: Integers) -> Integers:
        """For each new match, the place of an old one that has an equal row, each once; -1 if none has."""
        _each, groups = np.unique(self._rows(np.concatenate([old, new])), return_inverse=True)
        there, here = paired(groups[: len(old)], groups[len(old) :])
        found = np.full(len(new), -1, np.int64)
        found[here] = there
        return found

    def _rows(self, runs: Integers) -> Any:
        """What is equal for equal rows: all that results are made of, as bytes."""
        slots = self.plan.slots
        own = [START] + [FIXED + place for place, slot in enumerate(slots.integers) if slot[0] != "event"]
        ends = self.moments["times"].values[self.runs["ended_at"].values[runs]]
        floats = self.rf[runs] + 0.0  # of zeros and of what is no number there is one
        floats[np.isnan(floats)] = np.nan
        parts = (self.ri[runs][:, own], ends[:, None], floats.view(np.int64))
        together = np.ascontiguousarray(np.concatenate(parts, axis=1))
        return together.view(np.dtype((np.void, together.itemsize * together.shape[1]))).ravel()

    def ids(self, runs: Integers) -> Integers:
        """The ids under which matches were reported."""
        found: Integers = self.runs["id"].values[runs]
        return found

    def name(self, runs: Integers, ids: Integers) -> None:
        """Give matches their ids."""
        self.runs["id"].values[runs] = ids

    def take_over(self, other: RunsByEvent, events: EventTable) -> None:
        """Go on with the runs of a plan of other arcs; `events` are those that come up in them, by number.

        Events of which nothing is known any more are judged no more.
        """
        state, texts = other.state(), Texts(self.texts)
        numbers = np.array([texts.number(text) for text in other.texts] or [0], np.int64)
        for column in self.plan.slots.text_columns[0]:
            state["rows.ri"][:, column] = numbers[state["rows.ri"][:, column]]
        state["own.texts"] = list(texts)
        self.resume({name: value for name, value in state.items() if not name.startswith("columns.")})
        self.counters.add(other.counters)
        prepared = self._prepared(events)
        order = np.argsort(prepared.rows)
        prepared = prepared.taken(order)
        assert len(prepared) == len(self), "all events that come up are there"
        self._fill(events, prepared)
        self.events["masks"].values[:] = prepared.masks

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from there, with the texts that are known there."""
        super().resume(state)
        self._arguments = []  # they have the order of other texts

    def know(self, none: EventTable) -> None:
        """Learn from no events what columns look like, so that events that are gone can be asked for."""
        if not self._arguments:
            rows = np.zeros(0, np.int64)
            arguments = self.operands.arguments(none, rows, rows, self.texts, None)
            self._arguments = arguments[:HEAD]
            if not self.columns:
                self.columns = [Growing(one.dtype) for one in arguments[HEAD:]]
