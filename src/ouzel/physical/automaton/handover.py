"""Runs that go on in another automaton: those at states that both have, with what the other asks of them.

A run is a row of registers and a path of events.  The events are prepared anew by the other plan, and numbers that
stand for events, nodes, texts and partitions are translated; a register that was not kept cannot be made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ouzel.physical.automaton.driving import RunMatching
from ouzel.physical.automaton.memory import Memory
from ouzel.physical.automaton.registers import END, FIRST, FIXED, KEY, NODE, STATE, Slot, Slots, first_value
from ouzel.physical.automaton.store import Store
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.event_table import EventTable, Integers

Fitted = Callable[[EventTable], EventTable]
"""Gives events that one plan has kept the columns that another reads."""


@dataclass(frozen=True)
class Kept:
    """Which runs go on: those at some states, each at one of the other automaton, whose time is not over.

    `longest` says by state how long a run may last that waits there.  Where `waits` says so, matches that are not
    final go on to wait, too.
    """

    states: Mapping[int, int]
    longest: Mapping[int, int] = field(default_factory=dict)
    waits: bool = False

    def chosen(self, ri: Any, memory: Memory, now: int) -> tuple[Any, Any]:
        """Of each run whether it goes on, and of each event whether a match that starts with it may end."""
        retained = memory.retained
        alive = retained.alive(now)
        chosen = np.isin(ri[:, STATE], list(self.states)) & alive[ri[:, FIRST]]
        for state, ticks in self.longest.items():
            # an event that ends now is the first that it could go on with
            is_over = now - retained.intervals.start_times.values[ri[:, FIRST]] + 1 > ticks
            chosen &= ~((ri[:, STATE] == state) & is_over)
        return chosen, alive


def hand_over(old: RunMatching, new: RunMatching, kept: Kept, now: int, fitted: Fitted) -> None:
    """Let runs go on in a matching that knows the columns of events, and has had none; at a time."""
    _check(old.driven.slots, new.driven.slots, kept.states)
    if not len(old.memory.retained):
        return
    Handover(old, new, kept, now).hand(fitted)


class Handover:
    """What was kept, and which of it is handed over."""

    def __init__(self, old: RunMatching, new: RunMatching, kept: Kept, now: int) -> None:
        """Choose runs, and the events that they or others need."""
        self.old, self.new, self.states = old.driven.slots, new.driven.slots, kept.states
        self.memory, self.target, self.matching = old.memory, new.memory, new
        memory = self.memory
        state = memory.runs.state()
        chosen, alive = kept.chosen(state["ri"], memory, now)
        self.ri, self.rf = state["ri"][chosen], state["rf"][chosen]
        self.store = Store.of([one[: memory.store.nodes] for one in memory.store.arrays], _kept(memory))
        self.nodes, used = self.store.reached(self.ri[:, NODE], alive)
        self.waits = kept.waits and len(memory.pending) > 0
        used = used | alive
        if self.waits:
            used[memory.pending.rows()] = True
        # no others are bound
        used &= memory.retained.is_mentioned & (memory.retained.parts >= 0)
        self.numbers: Integers = np.flatnonzero(used)

    def hand(self, fitted: Fitted) -> None:
        """Let the other have all of it."""
        events = self._prepared(fitted)
        there = events[self.ri[:, FIRST]] >= 0
        for column in self.old.event_columns:
            bound = self.ri[:, column]
            there &= (bound < 0) | (events[bound] >= 0)
        self.ri, self.rf = self.ri[there], self.rf[there]
        texts = np.array([self.target.texts.number(text) for text in self.memory.texts] or [0], np.int64)
        self._keep_store(events, texts)
        self._keep_runs(events, texts)
        if self.waits:
            state = self.memory.pending.state()
            for name in [name for name in state if name.startswith("rows")]:
                state[name] = np.where(state[name] < 0, -1, events[state[name]])
            self.target.pending.resume(state)

    def _prepared(self, fitted: Fitted) -> Integers:
        """Let the other have the events; by their numbers before, those that they have now, or -1."""
        retained, target = self.memory.retained, self.target
        table, _rows = retained.events(self.numbers)
        numbers = np.full(len(retained) + 1, -1, np.int64)
        order = np.argsort(table.ends, kind="stable")
        events = fitted(table.taken(order))
        prepared = self.matching.prepare(events)
        if not len(prepared):
            return numbers
        before = self.numbers[order][prepared.rows]
        if retained.counts:
            seen = np.zeros(target.partitions.count, np.int64)
            parts = prepared.parts
            seen[parts[parts >= 0]] = self.memory.partitions.seen[retained.parts[before]][parts >= 0]
            target.partitions.count_on(seen)
            prepared = replace(prepared, clocks=retained.clocks[before])
        target.add(events, prepared)
        target.settle(0)
        numbers[before] = np.arange(len(prepared))
        return numbers

    def _keep_store(self, events: Integers, texts: Integers) -> None:
        """Let the other have the paths of runs."""
        self.store.keep(self.nodes, events[:-1])
        store, kept = self.store, []
        for real in (False, True):
            columns = np.zeros((len(store.event), len(self.new.kept[real])), store.kept[real].dtype)
            for place, slot in enumerate(self.new.kept[real]):
                if slot in self.old.kept[real]:
                    columns[:, place] = store.kept[real][:, self.old.kept[real].index(slot)]
            kept.append(columns)
        _own, _sets, of_texts = self.new.text_columns
        for column in of_texts:
            kept[0][: store.nodes, column] = texts[kept[0][: store.nodes, column]]
        store.kept = kept[0], kept[1]
        self.target.store = store

    def _keep_runs(self, events: Integers, texts: Integers) -> None:
        """Let the other have the runs, each in its partition."""
        ri, rf = self._rows()
        own, _sets, _kept_texts = self.new.text_columns
        for column in own:
            ri[:, column] = texts[ri[:, column]]
        nodes = np.append(self.nodes, -1)
        for column in (NODE, *self.new.element_columns):
            ri[:, column] = nodes[ri[:, column]]
        for column in (FIRST, *self.new.event_columns):
            ri[:, column] = np.where(ri[:, column] < 0, -1, events[ri[:, column]])
        parts = self.target.retained.parts[ri[:, FIRST]].astype(np.int64)
        if KEY in self.new.integers:
            ri[:, self.new.column(KEY)] = self.target.partitions.serials(parts)
        if self.new.automaton.together:
            parts = np.zeros(len(ri), np.int64)
        order = np.argsort(parts, kind="stable")
        self.target.runs.resume({"counts": np.bincount(parts), "ri": ri[order], "rf": rf[order]})

    def _rows(self) -> tuple[Any, Any]:
        """The rows of runs as the other has them, with registers where it has them."""
        widths = self.new.widths
        ri, rf = np.zeros((len(self.ri), widths[0]), np.int64), np.zeros((len(self.ri), widths[1]))
        ri[:, :FIXED] = self.ri[:, :FIXED]
        for some, rows in zip(self.new.columns, (ri[:, FIXED:], rf), strict=True):
            for place, column in enumerate(some):
                rows[:, place] = first_value(column[0])
        for before, after in self.states.items():
            own = np.flatnonzero(self.ri[:, STATE] == before)
            ri[own, STATE] = after
            for slot in _needed(self.new, after):
                if slot == KEY:
                    continue
                is_real = slot in self.new.floats
                source, target = (self.rf, rf) if is_real else (self.ri, ri)
                target[own, self.new.column(slot)] = source[own, self.old.column(slot)]
        return ri, rf


def _check(old: Slots, new: Slots, states: Mapping[int, int]) -> None:
    """Refuse what asks for something that runs have not kept."""
    for before, after in states.items():
        for slot in _needed(new, after):
            held = new.automaton.held[after] & new.owners.get(slot, set())
            is_there = slot in (old.floats if slot in new.floats else old.integers) and old.is_live(slot, before)
            if slot[0] == "set" or not is_there or not held <= old.owners.get(slot, set()):
                raise UnsuitableError("runs have not kept what it reads of the events that they have bound")
    kept_of = {new.automaton.states[after].name for after in states.values()}
    for real in (False, True):
        for slot in new.kept[real]:
            if slot[1] in kept_of and slot not in old.kept[real]:
                raise UnsuitableError(f"runs have not kept what it reads of the events of '{slot[1]}'")


def _needed(slots: Slots, state: int) -> list[Slot]:
    """The slots in which a run at a state has more than first values."""
    held = slots.automaton.held[state]
    every = (*slots.integers, *slots.floats)
    found = [slot for slot in every if not slots.owners.get(slot, set()).isdisjoint(held)]
    return found + [slot for slot in (KEY, END) if slot in slots.integers]


def _kept(memory: Memory) -> tuple[Any, Any]:
    integers, floats = (one[: memory.store.nodes] for one in memory.store.kept)
    return integers, floats
