"""What a scan is written from: which queries it can run, and how it deals with their equivalence tests."""

from __future__ import annotations

from dataclasses import dataclass

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Binds, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import UnsuitableError

# So many loops nest in Python: one for events, one for each component before the last, one for what refutes.
MOST_LOOPS = 20

Levels = frozenset[int]
"""Some positive components, by their places."""

EQUIVALENCES = ("combined", "dynamic", "multi", "selection")


@dataclass(frozen=True)
class Negative:
    """A negative component in the gap before the positive component `gap`; its conditions on more than itself."""

    component: Component
    gap: int
    conjuncts: tuple[Conjunct, ...]


@dataclass(frozen=True)
class Shape:
    """Positive components in order, their conditions, negative components, and keys for equivalence tests.

    Every event has `keys` numbers that stand for its values of the tests' attributes.  The first `stacks` of them
    have active instance stacks, one for each number; those from `unchecked` on are compared event by event, as
    soon as there is one (`early`) or when a sequence is complete.  Events may be `lasting`: what ends later than
    another need not follow it then.
    """

    positives: tuple[Component, ...]
    conjuncts: tuple[Conjunct, ...]
    negatives: tuple[Negative, ...]
    keys: int = 0
    stacks: int = 0
    unchecked: int = 0
    early: bool = False
    lasting: bool = False

    @property
    def length(self) -> int:
        """The number of positive components."""
        return len(self.positives)

    @property
    def depth(self) -> int:
        """The number of stacks of one key: the last component needs none."""
        return self.length - 1

    @property
    def inner(self) -> tuple[Negative, ...]:
        """The negative components but for those at the end, which are postponed."""
        return tuple(one for one in self.negatives if one.gap < self.length)

    @property
    def compared(self) -> range:
        """The keys that are compared event by event."""
        return range(self.unchecked, self.keys)

    def fields(self, level: int) -> list[str]:
        """The names of the arrays that the nodes of a level are made of; of the last, the ends of sequences."""
        before = [f"previous{level}_{key}" for key in range(self.stacks) if level < self.depth]
        behind = [f"behind{number}" for number, one in enumerate(self.inner) if one.gap == level]
        return [f"event{level}", *before, *([f"rip{level}"] if level else []), *behind]

    def levels(self, conjunct: Conjunct) -> Levels:
        """The components that a conjunct needs."""
        return frozenset(p for p, one in enumerate(self.positives) if one.variable in conjunct.variables)

    def negative_levels(self, negative: Negative) -> Levels:
        """The components that make a negative one decidable: its neighbours, and what its conditions are on."""
        beside = {negative.gap - 1, negative.gap} & set(range(self.length))
        return frozenset(beside).union(*map(self.levels, negative.conjuncts))

    def decided(self, levels: Levels) -> int:
        """The component whose binding decides what needs some: the last is bound first, then from the first on."""
        return max(levels - {self.length - 1}, default=self.length - 1)


def check_suitable(query: BoundQuery) -> None:
    """Say in an UnsuitableError why a scan cannot run a query, if so."""
    if query.strategy is not Strategy.SKIP_TILL_ANY_MATCH:
        raise UnsuitableError(f"a scan finds all sequences, and the strategy is {query.strategy.value}")
    pattern = query.pattern
    items = pattern.items if isinstance(pattern, Sequence) else (pattern,)
    for item in items:
        if not isinstance(item, Step) or item.component.binds not in (Binds.ONE, Binds.NONE):
            raise UnsuitableError("a scan takes single events in sequence")
    if len(items) > 60:
        raise UnsuitableError("a scan takes at most 60 components")
    negatives = sum(one.negative for one in query.components)
    if len(items) - negatives + (negatives > 0) > MOST_LOOPS:
        raise UnsuitableError(f"a scan has a loop for each component, and {MOST_LOOPS} can nest in each other")
    for test in query.equivalences:
        if lacking := test.types_by_column.get(None):
            raise UnsuitableError(f"events of type {lacking[0]} have no '{test.attribute}'")


def shape_of(query: BoundQuery, equivalence: str) -> Shape:
    """The shape of a query that a scan can run."""
    steps, relations = query.components, query.relations
    positives = tuple(one for one in steps if not one.negative)
    negatives = tuple(
        Negative(
            one,
            sum(not before.negative for before in steps[:place]),
            tuple(c for c in relations if c.component is one),
        )
        for place, one in enumerate(steps)
        if one.negative
    )
    positive = tuple(c for c in relations if c.place is not Place.NEGATIVE)
    lasting = query.reads_lasting
    return Shape(positives, positive, negatives, *_keys(query, equivalence), lasting)


def _keys(query: BoundQuery, equivalence: str) -> tuple[int, int, int, bool]:
    """How many keys there are, how many have stacks, from which on they are compared, and whether early."""
    tests = len(query.equivalences)
    counts = query.window is not None and query.window.counts_events
    # a window that counts events counts those of the whole partition, which has to be known then
    if equivalence == "combined" or counts or (tests < 2 and equivalence != "selection"):
        return min(tests, 1), min(tests, 1), 1, False
    stacks = {"dynamic": 1, "multi": tests, "selection": 0}[equivalence]
    return tests, stacks, min(stacks, 1), equivalence == "dynamic"
