"""The automaton as an object: registers, states, and of each state its moves, its stay and whether it accepts.

Explanations print it, and kernels are written from it; neither knows what it was constructed from.  A run is at
one of the states and has a value in every register.  At a moment, which may have several events, a run

- *moves*: every event that satisfies the guard of a move sends a copy of the run along it (an ∃-edge, Cayuga 3.2),
  the moves in their order of preference;
- *stays* as it was, if its stay's guards hold for none of the moment's events (a ∀-edge).

A run is a match when a move leads it to a state that accepts it.  States and moves may form any graph.

Expressions are logical ones.  Of their references, those with the element `[i]` mean the event at hand; all others
read registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import (
    Aggregate,
    Attribute,
    Element,
    Expression,
    Moment,
    Variable,
    references,
)
from ouzel.logical.pattern import Component
from ouzel.logical.values import BOOLEAN, INTEGER, ValueType
from ouzel.logical.window import Window


@dataclass(frozen=True)
class Presence:
    """Whether a variable that need not bind anything has bound an event, or also, was left `empty` by choice."""

    variable: str
    empty: bool = False
    type: ValueType = BOOLEAN


@dataclass(frozen=True)
class Elements:
    """All events that a closure bound: where in the match store its path ends."""

    variable: str
    type: ValueType = INTEGER


@dataclass(frozen=True)
class EventNumber:
    """The event that a variable was bound to last, by its number: a result reads what it wants of it."""

    variable: str
    type: ValueType = INTEGER


Held = Variable | Presence | Elements | EventNumber
"""What a register may be of."""


@dataclass(frozen=True)
class Register:
    """A value that a run remembers, of some type; `of` is what reads it, `first` its value before any assignment.

    Beyond `most`, a count is as good as `most`: runs that differ only there have the same future.
    """

    of: Held
    first: Any = None
    most: int | None = None

    @property
    def type(self) -> ValueType:
        """The type of its values."""
        return self.of.type

    def __hash__(self) -> int:
        """The same every time: registers are in many sets."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.of, self.first, self.most))


@dataclass(frozen=True)
class Assignment:
    """A register's new value, over the event and the registers as they were.

    With `folds`, the value is added to what the register, an aggregate, has of the values before it; None counts
    one.  Before what is `first` there are none: the register begins again with its first value.
    """

    register: Register
    value: Expression | None
    folds: bool = False
    first: bool = True


@dataclass(frozen=True)
class Condition:
    """A conjunct over the event and registers; where one of `present` is not there, it is not applied.

    It must hold for every element of the closures whose elements are in `every`: for all combinations of them.
    Where it is about the event alone, `bit` is the bit of its mask, if there is one, that says whether it holds.
    """

    conjunct: Conjunct
    present: tuple[Register, ...] = ()
    every: tuple[Register, ...] = ()
    bit: int | None = None


@dataclass(frozen=True)
class Guard:
    """What has to be true of an event: `static`, a bit of its mask, and conditions on it and on registers."""

    static: int
    conditions: tuple[Condition, ...] = ()

    def extends(self, other: Guard) -> bool:
        """Whether it has all that another has, and perhaps more conditions behind."""
        return self.static == other.static and self.conditions[: len(other.conditions)] == other.conditions


@dataclass(frozen=True)
class Move:
    """An ∃-edge: its guard, where it leads, the variable that it binds the event to, and what registers become.

    `action` is what SASE+ calls it: begin or take.
    """

    action: str
    guard: Guard
    target: int
    binds: int | None
    assigns: tuple[Assignment, ...] = ()


@dataclass(frozen=True)
class Stay:
    """The ∀-edge: a run stays unless one of the moment's events satisfies one of the guards; None: never."""

    unless: tuple[Guard, ...] | None = ()


@dataclass(frozen=True)
class State:
    """Where a run may be; `accepts` are the conditions of its being a match here, None if it is none.

    A match has the path of what its run bound, and the values of the registers that the run `hands_over`.  A run
    that `closes` here is a match when its window is over, unless an event comes before; it knows its last event.
    """

    name: str
    moves: tuple[Move, ...]
    stay: Stay
    accepts: tuple[Condition, ...] | None = None
    hands_over: tuple[Register, ...] = ()
    closes: Register | None = None


@dataclass(frozen=True)
class Automaton:
    """Registers, states, the moves that start a run at any event, the window and the partition of every run.

    Moves bind events to `variables`.  Where runs of all partitions go through the stream `together`, as contiguity
    of the whole stream has it, a run meets the events of others too, which can do nothing but end it.  Where
    events are `lasting`, a run knows when its latest one ended, and moves with what starts after that only.  Where
    runs are `distinct`, only simultaneous events make two of them alike.  If it `is_open`, moves may come later:
    so every register matters everywhere, and a run goes on wherever it is.
    """

    registers: tuple[Register, ...]
    variables: tuple[Component, ...]
    starts: tuple[Move, ...]
    states: tuple[State, ...]
    window: Window | None
    partition: tuple[EquivalenceTest, ...]
    together: bool = False
    lasting: bool = False
    distinct: bool = False
    is_open: bool = False

    @cached_property
    def by_key(self) -> dict[Any, Register]:
        """The registers by what reads them."""
        return {key_of(register.of): register for register in self.registers}

    @cached_property
    def moves(self) -> tuple[Move, ...]:
        """All moves."""
        return (*self.starts, *(move for state in self.states for move in state.moves))

    def goes_on(self, state: int) -> bool:
        """Whether a run at a state may still move, or waits for the end of its window."""
        return self.is_open or bool(self.states[state].moves) or self.states[state].closes is not None

    @cached_property
    def has_paths(self) -> bool:
        """Whether runs bind events, so that what they bound is a path in the match store."""
        return any(move.binds is not None for move in self.moves)

    @cached_property
    def live(self) -> tuple[frozenset[Register], ...]:
        """For every state, the registers that matter to a run which is there (the masks M of SASE+ 5.2.2)."""
        if self.is_open:
            return (frozenset(self.registers),) * len(self.states)
        live = [self._read_at(state) for state in self.states]
        changed = True
        while changed:
            changed = False
            for number, state in enumerate(self.states):
                found = live[number].union(*(self._read_along(move, live[move.target]) for move in state.moves))
                changed = changed or found != live[number]
                live[number] = found
        return tuple(live)

    @cached_property
    def held(self) -> tuple[frozenset[Register], ...]:
        """For every state, the live registers that some way to it assigns: the others have their first values."""
        assigned: list[set[Register] | None] = [None] * len(self.states)
        waiting = [(frozenset[Register](), move) for move in self.starts]
        while waiting:
            before, move = waiting.pop()
            known = assigned[move.target]
            after = (known or set()) | before | {one.register for one in move.assigns}
            if after != known:
                assigned[move.target] = after
                waiting += [(frozenset(after), further) for further in self.states[move.target].moves]
        return tuple(live & (some or set()) for live, some in zip(self.live, assigned, strict=True))

    def _read_at(self, state: State) -> frozenset[Register]:
        """What the guards of a state read, whether it accepts, and what it hands over."""
        guards = [*(move.guard for move in state.moves), *(state.stay.unless or ())]
        conditions = [*(one for guard in guards for one in guard.conditions), *(state.accepts or ())]
        read = frozenset(register for condition in conditions for register in self.read_by(condition))
        return read.union(state.hands_over)

    def _read_along(self, move: Move, after: frozenset[Register]) -> frozenset[Register]:
        """What must be there before a move, for what matters after it."""
        assigned = [one for one in move.assigns if one.register in after]
        read = {found for one in assigned if one.value is not None for found in self.reads(one.value)}
        replaced = {one.register for one in assigned if one.first or not one.folds}
        return (after - replaced) | read

    def read_by(self, condition: Condition) -> Iterator[Register]:
        """The registers that a condition reads."""
        yield from condition.present
        yield from condition.every
        for literal in condition.conjunct.literals:
            yield from self.reads(literal)

    def reads(self, expression: Expression) -> Iterator[Register]:
        """The registers that an expression reads."""
        for node in references(expression):
            if not is_event(node) and not is_every(node):
                yield self.by_key[key_of(node)]


def is_event(node: Variable) -> bool:
    """Whether a reference means the event at hand, and no register."""
    return isinstance(node, Attribute | Moment) and node.element is Element.CURRENT


def is_every(node: Variable) -> bool:
    """Whether a reference means every element of a closure that is complete."""
    return isinstance(node, Attribute | Moment) and node.element is Element.EVERY


def key_of(node: Held) -> Any:
    """What tells registers apart: a column that is brought to another type is the same register."""
    match node:
        case Attribute(variable=variable, element=element, column=column):
            return "value", variable, element, column
        case Moment(which=which, variable=variable, element=element):
            return "moment", variable, element, which
        case Aggregate(function="first" | "last" as function, variable=variable, column=column) if column:
            return "value", variable, Element.FIRST if function == "first" else Element.LAST, column
        case Aggregate(function=function, variable=variable, column=column) if column:
            return "running", variable, function, column
        case Presence(variable=variable, empty=empty):
            return "presence", variable, empty
        case Elements(variable=variable):
            return "elements", variable
        case EventNumber(variable=variable):
            return "event", variable
    return "length", node.variable
