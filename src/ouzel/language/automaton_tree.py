"""Stage 1, register automata as written: states, arcs between any two of them, a register (AFA 2.2).

Nothing here knows of schemas; the next stage (logical) says what fences and transfers read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ouzel.errors import Span
from ouzel.language import tree
from ouzel.language.algebra_tree import Formula

First = bool | int | float | str | None
Life = tuple[int | None, int | None]
"""From when on, and until when, in ticks of the time column; None for always."""

ALWAYS: tuple[Life, ...] = ((None, None),)


@dataclass(frozen=True)
class Field:
    """A field of the register: its name, and its first value, or the name of its type, if that value is null."""

    name: str
    first: First
    type: str | None = None


@dataclass(frozen=True)
class Arc:
    """An arc: its fence, `when`, and what it sets; one that is `silent` consumes no event.

    An arc at the `end_of_window` is taken when time reaches the end of the window.  One that says that it is
    `final` makes its target a final state, from its first life on.  It serves events in its `lives` (AFA 2.3).
    """

    id: str
    source: str
    target: str
    when: Formula | None = None
    sets: tuple[tuple[str, Formula], ...] = ()
    silent: bool = False
    end_of_window: bool = False
    final: bool = False
    lives: tuple[Life, ...] = ALWAYS


@dataclass(frozen=True)
class Window:
    """A length of time, as `text`; `within` is the same as a clause of `source`."""

    text: str
    within: tree.Within = field(compare=False, repr=False)
    source: str = field(compare=False, repr=False)


@dataclass(frozen=True)
class Automaton:
    """A register automaton; `events` are the types that it reads, none for all.

    Of `states` some may be named, which are then the first; arcs name the others.
    """

    start: str
    final: tuple[str, ...]
    register: tuple[Field, ...] = ()
    window: Window | None = None
    partition: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    arcs: tuple[Arc, ...] = ()
    states: tuple[str, ...] = ()


@dataclass(frozen=True)
class Query:
    """One query of a program; `source` shows the automaton as a text."""

    name: tree.Name | None
    automaton: Automaton
    into: tree.Name | None
    source: str = field(default="", compare=False, repr=False)
    span: Span | None = None
