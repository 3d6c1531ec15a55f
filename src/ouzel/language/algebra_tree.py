"""Stage 1, expressions of the algebra as written: operators over streams of events (Cayuga 2).

Nothing here knows of schemas; the next stage (logical) says which attributes streams have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from ouzel.errors import Span
from ouzel.language import tree

MAX_DEPTH, MAX_SIZE = 120, 10_000
"""How deep an expression may nest, and how many operators it may have."""


@dataclass(frozen=True)
class Formula:
    """A predicate or a value: its text, and what it says."""

    text: str
    expression: tree.Expression = field(compare=False, repr=False)


@dataclass(frozen=True)
class Events:
    """The events of a type; of all types, if none is named."""

    type: str | None


@dataclass(frozen=True)
class Hole:
    """What the step of a fold is applied to."""


@dataclass(frozen=True)
class Where:
    """σ."""

    of: Stream
    condition: Formula


@dataclass(frozen=True)
class Select:
    """π."""

    of: Stream
    names: tuple[str, ...]


@dataclass(frozen=True)
class Rename:
    """ρ: new names and old ones."""

    of: Stream
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Prefixed:
    """ρ of all attributes: `x` becomes `prefix.x` (2.1: attributes by the name of their stream)."""

    of: Stream
    prefix: str


@dataclass(frozen=True)
class Extend:
    """α: names and values."""

    of: Stream
    values: tuple[tuple[str, Formula], ...]


@dataclass(frozen=True)
class Union:
    """∪."""

    left: Stream
    right: Stream


@dataclass(frozen=True)
class Next:
    """;θ."""

    left: Stream
    right: Stream
    where: Formula | None


@dataclass(frozen=True)
class Fold:
    """μ; without a step, what comes of an iteration goes on as it is."""

    left: Stream
    right: Stream
    where: Formula | None
    step: Stream | None


Unary = Where | Select | Rename | Prefixed | Extend
Binary = Union | Next | Fold
Stream = Events | Hole | Unary | Binary


@dataclass(frozen=True)
class Query:
    """One query of a program; `source` is the expression in the paper's notation."""

    name: tree.Name | None
    stream: Stream
    into: tree.Name | None
    source: str = field(default="", compare=False, repr=False)
    span: Span | None = None


def operands(stream: Stream) -> tuple[Stream, ...]:
    """What an operator is applied to, from left to right; the step of a fold is none of it."""
    if isinstance(stream, Unary):
        return (stream.of,)
    return (stream.left, stream.right) if isinstance(stream, Binary) else ()


def is_unary(stream: Stream) -> bool:
    """Whether an expression is made of σ, π, ρ and α over the events of a type."""
    return isinstance(stream, Events) or (isinstance(stream, Unary) and is_unary(stream.of))


def types(stream: Stream) -> Iterator[str | None]:
    """The types of events that an expression reads, from left to right; None for all events."""
    if isinstance(stream, Events):
        yield stream.type
    for one in operands(stream):
        yield from types(one)


def extent(stream: Stream) -> tuple[int, int]:
    """How deep an expression nests, and how many operators it has, written out."""
    inner = [getattr(stream, one.name) for one in fields(stream)]
    known = [extent(one) for one in inner if isinstance(one, Stream)]
    return 1 + max((depth for depth, _size in known), default=0), 1 + sum(size for _depth, size in known)
