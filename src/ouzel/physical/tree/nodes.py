"""A tree plan: buffers at the leaves, operators that join what is below them (ZStream 4.1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Component
from ouzel.physical.tree.shape import Gap


class Kind(Enum):
    """What a leaf has a record for."""

    EVENT = "every event"
    CHAIN = "every choice of events that a closure can take"
    STOP = "every moment at which a group of events may end"


@dataclass(frozen=True)
class Leaf:
    """The events of a component; `conjuncts` are the conditions on a closure alone."""

    component: Component
    kind: Kind = Kind.EVENT
    conjuncts: tuple[Conjunct, ...] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()

    @property
    def components(self) -> tuple[Component, ...]:
        """What its records bind."""
        return (self.component,)


class How(Enum):
    """How the records of two children are joined."""

    SEQUENCE = "SEQ"  # the left one ends before the right one begins
    CONJUNCTION = "CON"  # in any order, on distinct events


@dataclass(frozen=True)
class Bar:
    """A negative component between two records, of which its conditions read but one: NSEQ (ZStream 4.4.2)."""

    component: Component
    conjuncts: tuple[Conjunct, ...]
    is_left: bool


@dataclass(frozen=True)
class Join:
    """Pairs of records; the `groups` of gaps between them, and `bars`; and what must hold of all that."""

    how: How
    left: Node
    right: Node
    groups: tuple[Gap, ...] = ()
    bars: tuple[Bar, ...] = ()
    conjuncts: tuple[Conjunct, ...] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """Left and right."""
        return self.left, self.right

    @property
    def gaps(self) -> tuple[Component, ...]:
        """The components whose events lie before a record on the right."""
        groups = [gap.group for gap in self.groups if gap.group and gap.before]
        return (*groups, *(bar.component for bar in self.bars))

    @property
    def components(self) -> tuple[Component, ...]:
        """What its records bind."""
        groups = [gap.group for gap in self.groups if gap.group]
        return _once((*self.left.components, *self.right.components, *groups))


@dataclass(frozen=True)
class Fill:
    """Records with a group before them, as far back as the window reaches."""

    child: Node
    group: Gap
    conjuncts: tuple[Conjunct, ...] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """The one."""
        return (self.child,)

    @property
    def components(self) -> tuple[Component, ...]:
        """What its records bind."""
        assert self.group.group is not None
        return _once((*self.child.components, self.group.group))


@dataclass(frozen=True)
class Union:
    """The records of all children, in order of their ends (ZStream 4.4.4), for which conditions hold."""

    parts: tuple[Node, ...]
    conjuncts: tuple[Conjunct, ...] = ()

    @property
    def children(self) -> tuple[Node, ...]:
        """All of them."""
        return self.parts

    @property
    def components(self) -> tuple[Component, ...]:
        """What its records bind, or leave unbound."""
        return _once(tuple(one for part in self.parts for one in part.components))


Node = Leaf | Join | Fill | Union


def _once(components: tuple[Component, ...]) -> tuple[Component, ...]:
    """Each component once."""
    return tuple({one.variable: one for one in components}.values())


def walk(node: Node) -> Iterator[Node]:
    """All nodes, children before their parents."""
    for child in node.children:
        yield from walk(child)
    yield node


def linked_gaps(node: Node) -> tuple[Component, ...]:
    """The components whose events lie before, or between, what a node joins."""
    match node:
        case Join():
            return node.gaps
        case Fill(group=gap) if gap.before and gap.group:
            return (gap.group,)
    return ()


def variables(node: Node) -> frozenset[str]:
    """What the records of a node bind."""
    return frozenset(one.variable for one in node.components)
