"""Algebra expressions with their meaning: every attribute resolved, every predicate typed (Cayuga 2).

An expression is a tree of operators over base streams.  What conditions and values read of an event are
`Attribute`s whose variable is "" and whose column is the attribute's own name: those of the event at hand, which
behind `Next` and in `Fold` is the composite one, or, with the element `[i-1]` (`x.last`), those of the event
before this iteration.
`Duration` is how long the event at hand lasts.  In the right operand, the event at hand is that event alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from ouzel.logical.expressions import Expression
from ouzel.logical.schema import Column, EventType
from ouzel.logical.values import ValueType

INTERVAL = ("start", "end")
"""The columns of a result behind its attributes."""


@dataclass(frozen=True)
class StreamAttribute:
    """An attribute of the events of a stream, and its types in expressions and in Arrow."""

    name: str
    type: ValueType
    arrow: pa.DataType


@dataclass(frozen=True)
class Base:
    """The events of some types; `columns` say where their attributes are kept, in the order of `attributes`."""

    types: tuple[EventType, ...]
    attributes: tuple[StreamAttribute, ...]
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Where:
    """σ: the events of which a condition is true."""

    of: Stream
    condition: Expression
    attributes: tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Select:
    """π: some attributes, in the order of `attributes`."""

    of: Stream
    attributes: tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Rename:
    """ρ: other names, one for each attribute of the operand, in its order; perhaps all by a prefix."""

    of: Stream
    attributes: tuple[StreamAttribute, ...]
    is_prefix: bool = False


@dataclass(frozen=True)
class Extend:
    """α: attributes whose values are computed of those of the operand: new ones, or others in place."""

    of: Stream
    values: tuple[tuple[str, Expression], ...]
    attributes: tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Union:
    """∪: the events of both; the right ones have the same attributes, perhaps in another order."""

    left: Stream
    right: Stream
    attributes: tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Next:
    """;θ: each event on the left with those on the right that start after it, satisfy θ with it, and end first."""

    left: Stream
    right: Stream
    where: Expression | None
    attributes: tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Hole:
    """What a step of `Fold` is applied to: what came of one iteration."""

    attributes: tuple[StreamAttribute, ...]


@dataclass(frozen=True)
class Fold:
    """μ: ;θ again and again, each time with what the step makes of the result; all that ever came of it.

    The step is made of σ, α and π over a `Hole`, and keeps every attribute of the left operand; others that it
    adds are dropped after each iteration.
    """

    left: Stream
    right: Stream
    where: Expression | None
    step: Stream
    attributes: tuple[StreamAttribute, ...]


Unary = Where | Select | Rename | Extend
Stream = Base | Hole | Unary | Union | Next | Fold


def operands(stream: Stream) -> tuple[Stream, ...]:
    """What an operator is applied to, from left to right; the step of `Fold` is none of it."""
    match stream:
        case Base() | Hole():
            return ()
        case Where() | Select() | Rename() | Extend():
            return (stream.of,)
    return stream.left, stream.right


def bases(stream: Stream) -> Iterator[Base]:
    """The base streams that an expression reads, from left to right."""
    if isinstance(stream, Base):
        yield stream
    for one in operands(stream):
        yield from bases(one)


def is_unary(stream: Stream) -> bool:
    """Whether an expression is made of σ, π, ρ and α over one base stream: what one edge can recognise."""
    return isinstance(stream, Base) or (isinstance(stream, Unary) and is_unary(stream.of))


def is_linear_plus(stream: Stream) -> bool:
    """Whether one automaton can run an expression (Cayuga 3.2, Definition 1)."""
    match stream:
        case Next() | Fold():
            return is_linear_plus(stream.left) and is_unary(stream.right)
    return all(map(is_linear_plus, operands(stream)))
