"""Register automata with their meaning: every fence and transfer resolved and typed (AFA, Definition 1).

Of the references in fences and transfers, those to the variable `EVENT` read the event that is consumed, or that
was consumed last; those to other variables read the field of the register that is called so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any

from ouzel.errors import Span
from ouzel.logical.algebra.streams import StreamAttribute
from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Attribute, Constant, Element, Expression
from ouzel.logical.times import BEGINNING, END

EVENT = "e"
"""The event, in fences and transfers."""

LIFETIME = ("valid_from", "valid_to")
"""The columns of a result behind the register: the intersection of the lifetimes of its events."""

ALWAYS = ((BEGINNING, END),)
"""The lives of what always lives."""

_NOWHERE = Span(0, 0)


class Consumes(Enum):
    """What an arc consumes."""

    EVENT = "an event"
    NOTHING = "nothing"  # an ε-arc
    END_OF_WINDOW = "nothing, at the end of the window"


@dataclass(frozen=True)
class Field:
    """A field of the register, and its first value."""

    attribute: StreamAttribute
    first: Any

    @property
    def name(self) -> str:
        """Its name."""
        return self.attribute.name

    @property
    def reference(self) -> Attribute:
        """What reads it."""
        return Attribute(self.name, Element.SINGLE, self.name, "", self.attribute.type, frozenset(), _NOWHERE)

    @property
    def constant(self) -> Constant:
        """Its first value."""
        return Constant(self.first, self.attribute.type, _NOWHERE)


@dataclass(frozen=True)
class Arc:
    """An arc: its fence, of which all conjuncts must hold, and what it sets.

    It serves the events of its `lives`, from a time on and before another (AFA 2.3).
    """

    id: str
    source: str
    target: str
    consumes: Consumes
    fence: tuple[Conjunct, ...] = ()
    sets: tuple[tuple[str, Expression], ...] = ()
    lives: tuple[tuple[int, int], ...] = ALWAYS

    def serves(self, time: int) -> bool:
        """Whether it lives at a time."""
        return any(since <= time < until for since, until in self.lives)


@dataclass(frozen=True)
class RegisterAutomaton:
    """States by name, of which one is the start and some are final; a register; arcs.

    Of `final` states it is said from which time on they are.  It reads the events of some `types`, and no others
    are there for it; None: all events.  Some states may be `named`, which are then the first.
    """

    start: str
    final: Mapping[str, int]
    register: tuple[Field, ...]
    arcs: tuple[Arc, ...]
    types: frozenset[str] | None = None
    named: tuple[str, ...] = ()
    final_at_end: Mapping[str, int] = field(default_factory=dict)
    """From which time on states accept windows that end: those that end at a change were over before it."""

    @property
    def attributes(self) -> tuple[StreamAttribute, ...]:
        """The fields of the register, as attributes of results."""
        return tuple(one.attribute for one in self.register)

    @cached_property
    def states(self) -> tuple[str, ...]:
        """All states, in the order in which arcs mention them."""
        ends = (name for arc in self.arcs for name in (arc.source, arc.target))
        return tuple(dict.fromkeys((*self.named, self.start, *ends)))

    def accepts(self, state: str, time: int) -> bool:
        """Whether a computation that ends at a state, with an event of a time, is accepted."""
        return self.final.get(state, END) <= time

    def accepts_at_end(self, state: str, time: int) -> bool:
        """Whether a computation whose window ends at a time, and which is at a state then, is accepted."""
        return self.final_at_end.get(state, END) <= time

    def leaving(self, state: str, consumes: Consumes) -> tuple[Arc, ...]:
        """The arcs of a kind that leave a state."""
        return tuple(arc for arc in self.arcs if arc.source == state and arc.consumes is consumes)

    @property
    def waits(self) -> bool:
        """Whether it has arcs that are taken at the end of the window."""
        return any(arc.consumes is Consumes.END_OF_WINDOW for arc in self.arcs)
