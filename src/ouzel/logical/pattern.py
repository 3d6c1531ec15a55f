"""Stage 2, patterns with their meaning: components in order, and how they are combined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from ouzel.errors import Span
from ouzel.logical.schema import EventType

# So many components have a bit of their own in a mask of 64 bits with a sign.
MASK_BITS = 62


class Binds(Enum):
    """What a component binds."""

    ONE = "one event"
    CLOSURE = "a closure"  # SASE+: every run takes its own choice of events
    GROUP = "a grouping closure"  # ZStream: all events between the neighbours
    NONE = "no event"  # a negative component


@dataclass(frozen=True)
class Component:
    """One place of the pattern; `position` is its place in the text.

    A closure takes `least` to `most` events (None: no bound); `optional` is `T? a`, whose variable is one event
    or null.  A group with a count (`B^n`) is `successive`.
    """

    variable: str
    types: tuple[EventType, ...]
    position: int
    binds: Binds
    least: int = 1
    most: int | None = 1
    optional: bool = False
    successive: bool = False
    span: Span = field(default=Span(0, 0), compare=False)

    @property
    def bit(self) -> int:
        """The bit of masks that says that the component may want an event; beyond MASK_BITS, some share one."""
        return self.position % MASK_BITS

    @property
    def negative(self) -> bool:
        """Whether the component says what must not happen."""
        return self.binds is Binds.NONE

    @property
    def is_array(self) -> bool:
        """Whether the variable stands for a list of events."""
        return self.binds is Binds.GROUP or (self.binds is Binds.CLOSURE and not self.optional)

    @cached_property
    def type_names(self) -> frozenset[str]:
        """The types of event that the component binds."""
        return frozenset(event_type.name for event_type in self.types)


@dataclass(frozen=True, slots=True)
class Step:
    """A component as a pattern."""

    component: Component


@dataclass(frozen=True, slots=True)
class Sequence:
    """Each item ends before the next begins."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Conjunction:
    """All items, in any order; negative ones say what must not happen around the match."""

    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """One of the items."""

    items: tuple[Pattern, ...]


Pattern = Step | Sequence | Conjunction | Disjunction
Operator = type[Sequence] | type[Conjunction] | type[Disjunction]


def flattened(operator: Operator, items: Iterable[Pattern]) -> tuple[Pattern, ...]:
    """The operands of an operator, those of operands of the same kind among them: all three are associative."""
    return tuple(one for item in items for one in (item.items if isinstance(item, operator) else (item,)))


def components(pattern: Pattern) -> Iterator[Component]:
    """The components of a pattern, from left to right."""
    if isinstance(pattern, Step):
        yield pattern.component
    else:
        for item in pattern.items:
            yield from components(item)


def has_conjunction_or_group(pattern: Pattern) -> bool:
    """Whether the pattern uses what only skip_till_any_match gives a meaning: & or a grouping closure."""
    if isinstance(pattern, Step):
        return pattern.component.binds is Binds.GROUP
    return isinstance(pattern, Conjunction) or any(has_conjunction_or_group(item) for item in pattern.items)


def has_conjunction(pattern: Pattern) -> bool:
    """Whether components need not bind in the order in which they stand: under `&`."""
    return not isinstance(pattern, Step) and (
        isinstance(pattern, Conjunction) or any(map(has_conjunction, pattern.items))
    )


def binds_in_order(pattern: Pattern) -> bool:
    """Whether what components bind is always in the order in which they stand in the text."""
    positions = [component.position for component in components(pattern)]
    return not has_conjunction(pattern) and positions == sorted(positions)


def may_be_empty(pattern: Pattern) -> bool:
    """Whether the pattern can be passed without an event."""
    match pattern:
        case Step(component):
            return component.least == 0
        case Disjunction(items):
            return any(may_be_empty(item) for item in items)
    return all(may_be_empty(item) for item in pattern.items)


def edge_negatives(pattern: Pattern, *, at_end: bool) -> list[Component]:
    """The negative components that may come to stand at the start or end, with no event before or after them."""
    match pattern:
        case Step(component):
            return [component] if component.negative else []
        case Sequence(items):
            found: list[Component] = []
            for item in reversed(items) if at_end else items:
                found += edge_negatives(item, at_end=at_end)
                if not may_be_empty(item):
                    break
            return found
    return [one for item in pattern.items for one in edge_negatives(item, at_end=at_end)]


def negatives_around(pattern: Pattern) -> list[Component]:
    """The negative operands of `&`, which look around the whole match."""
    if isinstance(pattern, Step):
        return []
    own = pattern.items if isinstance(pattern, Conjunction) else ()
    found = [item.component for item in own if isinstance(item, Step) and item.component.negative]
    return found + [one for item in pattern.items for one in negatives_around(item)]
