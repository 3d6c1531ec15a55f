"""Where a run keeps its registers: the vector V of SASE+ 5.2.1.

A run is a row of two arrays, `ri` for integers and `rf` for floats.  The first columns of `ri` are the same for
all automata; a register has one or more of the others, as the guards ask for it.  Registers that do not matter at
a state any more are reset when it is entered, so that runs of one future have equal rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ouzel.logical.expressions import Aggregate, Attribute, Moment
from ouzel.logical.values import Kind, ValueType
from ouzel.physical.automaton.states import (
    Automaton,
    EventNumber,
    Move,
    Register,
)
from ouzel.physical.compiled.emit import Emitter
from ouzel.physical.compiled.fill import is_written
from ouzel.physical.compiled.operands import Source, Written

# START is the clock of the latest start among the runs merged into this one, FIRST the event it started with.
STATE, START, FIRST, NODE = range(4)
FIXED = 4

Slot = tuple[Hashable, ...]
Columns = list[list[Slot]]
# What slots begin with, other than 0.
_FIRST: dict[Hashable, int] = {"null": 1, "elements": -1, "event": -1}

# The partition of a run, where runs of all go together, and the moment of its end, where events last.
KEY: Slot = ("key",)
END: Slot = ("end",)


@dataclass
class Slots:
    """The columns of a run, and which registers each is of."""

    automaton: Automaton
    integers: list[Slot] = field(default_factory=list)
    floats: list[Slot] = field(default_factory=list)
    owners: dict[Slot, set[Register]] = field(default_factory=dict)
    kept: tuple[list[Slot], list[Slot]] = field(default_factory=lambda: ([], []))
    shared: tuple[Columns, Columns] | None = None
    _live: dict[Slot, frozenset[int]] = field(default_factory=dict)
    _places: dict[Slot, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[Columns, Columns]:
        """The slots of each column of integers, behind those that all runs have, and of floats."""
        return self.shared or ([[slot] for slot in self.integers], [[slot] for slot in self.floats])

    @property
    def widths(self) -> tuple[int, int]:
        """The number of integers and of floats in a run."""
        integers, floats = self.columns
        return FIXED + len(integers), max(len(floats), 1)

    def share(self) -> None:
        """Let slots of one kind that never matter at the same state share a column."""
        self._live = {slot: self._states(slot) for slot in (*self.integers, *self.floats)}
        self.shared = integers, floats = self._shared(self.integers), self._shared(self.floats)
        self._places = {slot: f"rf[{{}}, {place}]" for place, column in enumerate(floats) for slot in column}
        self._places |= {
            slot: f"ri[{{}}, {FIXED + place}]" for place, column in enumerate(integers) for slot in column
        }

    def _states(self, slot: Slot) -> frozenset[int]:
        """The states at which a slot matters to a run."""
        return frozenset(state for state in range(len(self.automaton.states)) if self.is_live(slot, state))

    def _shared(self, slots: list[Slot]) -> Columns:
        columns: Columns = []
        taken: list[frozenset[int]] = []
        for slot in slots:
            live = self._live[slot]
            for place, column in enumerate(columns):
                if _kind(column[0]) == _kind(slot) and taken[place].isdisjoint(live):
                    column.append(slot)
                    taken[place] |= live
                    break
            else:
                columns.append([slot])
                taken.append(live)
        return columns

    def place(self, run: str, slot: Slot) -> str:
        """The place of a slot in a run."""
        if slot in self._places:
            return self._places[slot].format(run)
        integers, floats = self.columns
        if slot in self.floats:
            return f"rf[{run}, {_column_of(slot, floats)}]"
        return f"ri[{run}, {FIXED + _column_of(slot, integers)}]"

    def column(self, slot: Slot) -> int:
        """The column of a slot in the array of integers, or of floats."""
        integers, floats = self.columns
        return _column_of(slot, floats) if slot in self.floats else FIXED + _column_of(slot, integers)

    def allot(self, run: str, register: Register, *slot: Hashable, real: bool = False) -> str:
        """The same, for a slot of a register, which is allotted if that was not done before."""
        known = self.floats if real else self.integers
        if slot not in known:
            known.append(slot)
        self.owners.setdefault(slot, set()).add(register)
        return self.place(run, slot)

    def is_live(self, slot: Slot, state: int) -> bool:
        """Whether a slot matters to a run at a state."""
        if slot in self._live:
            return state in self._live[slot]
        return slot not in self.owners or not self.owners[slot].isdisjoint(self.automaton.live[state])

    def first_values(self, run: str, *, dead_at: int | None = None) -> list[str]:
        """Assignments of first values: of all slots, or only of those that do not matter at a state."""
        columns = [column for some in self.columns for column in some]
        if dead_at is not None:
            columns = [column for column in columns if not any(self.is_live(slot, dead_at) for slot in column)]
        return [f"{self.place(run, column[0])} = {first_value(column[0])}" for column in columns]

    def copied(self, source: str, target: str, move: Move | None = None) -> list[str]:
        """Copy a run, or what a move does not change of it; written out, as a loop costs more than the copies."""
        integers = [f"ri[{target}, {k}] = ri[{source}, {k}]" for k in range(FIXED)]
        chosen = [slot for known in (self.integers, self.floats) for slot in known]
        if move is not None:
            changed = {one.register for one in move.assigns if not one.folds and _is_replaced(one.register)}
            live = (slot for slot in chosen if self.is_live(slot, move.target))
            chosen = [slot for slot in live if slot not in self.owners or not self.owners[slot] <= changed]
        places = dict.fromkeys((self.place(target, slot), self.place(source, slot)) for slot in chosen)
        return integers + [f"{new} = {old}" for new, old in places]

    def number(self, variable: str) -> int:
        """The number of a variable."""
        return next(k for k, one in enumerate(self.automaton.variables) if one.variable == variable)

    # ---- what the match store keeps ----------------------------------------------------------------------

    def keep(self, *slot: Hashable, real: bool = False) -> str:
        """Where the match store keeps a value of each element of a closure; braces stand for the element."""
        known = self.kept[real]
        if slot not in known:
            known.append(slot)
        return f"kept_{'f' if real else 'i'}[{{}}, {known.index(slot)}]"

    @property
    def kept_widths(self) -> tuple[int, int]:
        """How many integers and floats the match store keeps of an event."""
        return len(self.kept[False]), len(self.kept[True])

    @property
    def element_columns(self) -> list[int]:
        """The columns of a run that lead into the match store."""
        return self._integers_where(lambda slot: slot[0] == "elements")

    @property
    def text_columns(self) -> tuple[list[int], list[int], list[int]]:
        """Where numbers of texts are: columns of a run, those with sets, and columns of the match store."""
        own, sets = self._integers_where(_is_text), self._integers_where(lambda slot: slot[0] == "set")
        return own, sets, [place for place, slot in enumerate(self.kept[False]) if _is_text(slot)]

    # ---- what runs hand over -----------------------------------------------------------------------------

    def handed(self, state: int) -> tuple[list[Slot], list[Slot]]:
        """The slots of what a run hands over at a state: integers, and floats."""
        registers = set(self.automaton.states[state].hands_over)
        found = [slot for slot, owners in self.owners.items() if not owners.isdisjoint(registers)]
        return [slot for slot in found if slot in self.integers], [slot for slot in found if slot in self.floats]

    @cached_property
    def handed_widths(self) -> tuple[int, int]:
        """The most integers and floats that a run hands over."""
        handed = [self.handed(number) for number in range(len(self.automaton.states))]
        return max(len(integers) for integers, _floats in handed), max(len(floats) for _integers, floats in handed)

    def handed_over(self, state: int, ri: Any, rf: Any) -> tuple[Any, Any]:
        """What runs at a state hand over, of their rows."""
        integers, floats = self.columns
        widths, of = self.handed_widths, self.handed(state)
        found = np.zeros((len(ri), widths[0]), ri.dtype), np.zeros((len(rf), widths[1]), rf.dtype)
        for place, slot in enumerate(of[0]):
            found[0][:, place] = ri[:, FIXED + _column_of(slot, integers)]
        for place, slot in enumerate(of[1]):
            found[1][:, place] = rf[:, _column_of(slot, floats)]
        return found

    def carried(self, before: Slots, ri: Any, rf: Any) -> tuple[Any, Any]:
        """The rows of runs in other columns: what was not there has its first value."""
        widths = self.widths
        found = np.zeros((len(ri), widths[0]), ri.dtype), np.zeros((len(rf), widths[1]), rf.dtype)
        found[0][:, :FIXED] = ri[:, :FIXED]
        for place, slot in enumerate(self.integers):
            is_known = slot in before.integers
            found[0][:, FIXED + place] = (
                ri[:, FIXED + before.integers.index(slot)] if is_known else _FIRST.get(slot[0], 0)
            )
        for place, slot in enumerate(self.floats):
            found[1][:, place] = rf[:, before.floats.index(slot)] if slot in before.floats else 0
        return found

    @property
    def event_columns(self) -> list[int]:
        """The columns of a run that hold numbers of events."""
        return self._integers_where(lambda slot: slot[0] == "event")

    def _integers_where(self, test: Callable[[Slot], bool]) -> list[int]:
        """The columns of integers of a kind."""
        integers, _floats = self.columns
        return [FIXED + place for place, column in enumerate(integers) if test(column[0])]

    def keep_event(self, variable: int, emitter: Emitter) -> None:
        """Write what the match store keeps of event x, which a variable is bound to."""
        name = self.automaton.variables[variable].variable
        for slot in [slot for known in self.kept for slot in known if slot[:2] == ("value", name)]:
            column, value_type = slot[2:]
            assert isinstance(column, Source)
            assert isinstance(value_type, ValueType)
            value = emitter.cell(column, value_type, "x", kept=True)
            emitter.line(f"{self.keep(*slot, real=slot in self.kept[True]).format('nodes')} = {value.text}")
            if ("null", *slot[1:]) in self.kept[False]:
                emitter.line(f"{self.keep('null', *slot[1:]).format('nodes')} = {value.null or 0}")


def first_value(slot: Slot) -> int:
    """What a slot begins with."""
    return _FIRST.get(slot[0], 0)


def _column_of(slot: Slot, columns: Columns) -> int:
    return next(place for place, column in enumerate(columns) if slot in column)


def _kind(slot: Slot) -> tuple[Hashable, bool]:
    """What must be the same for slots to share a column: whether it is a number, of a text, or of what else."""
    return slot[0], _is_text(slot)


def _is_replaced(register: Register) -> bool:
    """Whether nothing is left of a register's value once it gets another one."""
    return isinstance(register.of, Attribute | Moment | EventNumber)


def _is_text(slot: Slot) -> bool:
    """Whether what is in a slot is the number of a text."""
    if slot[0] not in ("value", "min", "max"):
        return False
    _what, _variable, column, value_type = slot
    assert isinstance(value_type, ValueType)
    is_folded = slot[0] != "value" and is_written(value_type)
    return value_type.kind is Kind.STRING or isinstance(column, Written) or is_folded


def folded(node: Aggregate) -> Slot:
    """What aggregates are of that share their slots."""
    return node.variable, node.column, node.input_type
