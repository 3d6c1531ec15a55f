"""Where the values of a kernel's columns come from: a column of the events as it is, or something made of some."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.logical.expressions import Attribute, Expression

# The times at which events start and end, and the names of their types, as columns.
START = "\0start"
TIME = "\0time"
TYPE = "\0type"
TIMES = (START, TIME)
# No column: the value of a register that a run computes as it moves.
COMPUTED = "\0computed"


@dataclass(frozen=True)
class Derived:
    """The values of an expression that reads one event, computed for whole columns before a kernel runs."""

    expression: Expression


@dataclass(frozen=True)
class Limb:
    """Half of an exact number of 128 bits, times a factor: the high or the low one of two integers."""

    column: str
    factor: int
    is_low: bool


@dataclass(frozen=True)
class Written:
    """Values that no number holds (wide decimals, lists), as texts from which they can be read again."""

    column: str


@dataclass(frozen=True)
class Among:
    """Whether the type of an event is one of some."""

    types: frozenset[str]


def is_register(node: Expression) -> bool:
    """Whether a reference reads a register that runs compute: its value is there in its own type, in no other."""
    return isinstance(node, Attribute) and node.column == COMPUTED


Source = str | Derived | Limb | Written | Among
