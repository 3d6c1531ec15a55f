"""The best order of joins: dynamic programming over all bushy trees (ZStream 5.2.3, Algorithm 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Component
from ouzel.physical.statistics import Statistics
from ouzel.physical.tree import cost
from ouzel.physical.tree.cost import Estimate
from ouzel.physical.tree.hashing import is_equality
from ouzel.physical.tree.nodes import How
from ouzel.physical.tree.shape import Either, Gap, Heap, Row, Single, Solid, Variant

# Of so many solids in a heap all subsets are tried; of more, only those that stand side by side.
MOST_SUBSETS = 8
# No condition is taken to hold more rarely.
LEAST = 1e-9


@dataclass(frozen=True)
class Order:
    """How a solid is joined together: its own parts, and for rows and heaps which of them first."""

    estimate: Estimate
    solid: Solid
    left: Order | None = None
    right: Order | None = None
    parts: tuple[Order, ...] = ()


class Search:
    """Finds the best order for a variant of a pattern.

    Sets of variables are masks of bits.  What is known of the conditions in a set is found once: for those that a
    join decides, what is known of the two sides is taken from what is known of both.
    """

    def __init__(self, variant: Variant, conjuncts: Sequence[Conjunct], statistics: Statistics) -> None:
        """Say what is known."""
        self.variant, self.statistics = variant, statistics
        names = sorted({name for one in conjuncts for name in one.variables} | _variables(variant))
        self._bits = {name: 1 << place for place, name in enumerate(names)}
        self.conjuncts = [(self._mask(one.variables), one) for one in conjuncts]
        self._shares = [(mask, _Decided.of(one, statistics)) for mask, one in self.conjuncts]
        groups = [gap for gap in variant.gaps if gap.group and gap.after and gap.before]
        self._groups = [(self._mask(gap.after), self._mask(gap.before), self._between(gap)) for gap in groups]
        self._known: dict[int, _Decided] = {}

    def best(self, solid: Solid) -> Order:
        """The cheapest order of a solid."""
        match solid:
            case Single(component):
                return Order(self._leaf(component), solid)
            case Either(items):
                parts = tuple(self.best(item) for item in items)
                return Order(cost.union([one.estimate for one in parts]), solid, parts=parts)
            case Row(items):
                return self._row([self.best(item) for item in items])
            case Heap(items):
                parts_ = [self.best(item) for item in items]
                return (
                    self._heap(parts_) if len(items) <= MOST_SUBSETS else self._row(parts_, Heap, How.CONJUNCTION)
                )

    def _leaf(self, component: Component) -> Estimate:
        own = self._mask([component.variable])
        return cost.leaf(self.statistics, component, [one for mask, one in self.conjuncts if mask == own])

    def estimate(self, order: Order) -> Estimate:
        """What an order costs that was found with other statistics, or fixed."""
        if order.parts:
            return cost.union([self.estimate(one) for one in order.parts])
        if order.left is None or order.right is None:
            assert isinstance(order.solid, Single)
            return self._leaf(order.solid.component)
        how = How.SEQUENCE if isinstance(order.solid, Row) else How.CONJUNCTION
        sides = [(self.estimate(one), self._mask(one.solid.variables)) for one in (order.left, order.right)]
        return self._joined(how, *sides)

    def _row(self, items: list[Order], kind: type[Row] | type[Heap] = Row, how: How = How.SEQUENCE) -> Order:
        """Algorithm 5: ever longer stretches, each split where it is cheapest."""
        best = {(place, place + 1): self._side(item) for place, item in enumerate(items)}
        for size in range(2, len(items) + 1):
            for begin in range(len(items) - size + 1):
                end = begin + size
                splits = ((best[begin, at], best[at, end]) for at in range(begin + 1, end))
                best[begin, end] = self._cheapest(kind, how, splits)
        return best[0, len(items)].order

    def _heap(self, items: list[Order]) -> Order:
        """The same for what may be joined in any order: ever larger sets."""
        best = {1 << place: self._side(item) for place, item in enumerate(items)}
        for whole in range(1, 1 << len(items)):
            if whole not in best:
                best[whole] = self._cheapest(
                    Heap, How.CONJUNCTION, ((best[a], best[whole ^ a]) for a in _halves(whole))
                )
        return best[(1 << len(items)) - 1].order

    def _cheapest(self, kind: type[Row] | type[Heap], how: How, splits: Iterator[tuple[_Side, _Side]]) -> _Side:
        found: tuple[Estimate, _Side, _Side] | None = None
        for left, right in splits:
            estimate = self._joined(how, left[:2], right[:2])
            if found is None or estimate.cost + estimate.card < found[0].cost + found[0].card:
                found = estimate, left, right
        assert found is not None
        estimate, left, right = found
        solid = kind((*items_of(left.order, kind), *items_of(right.order, kind)))
        return _Side(estimate, left.mask | right.mask, Order(estimate, solid, left.order, right.order))

    def _side(self, order: Order) -> _Side:
        return _Side(order.estimate, self._mask(order.solid.variables), order)

    def _joined(self, how: How, left: tuple[Estimate, int], right: tuple[Estimate, int]) -> Estimate:
        decided = self._within(left[1] | right[1]).without(self._within(left[1]), self._within(right[1]))
        between = 1.0
        for after, before, count in self._groups:
            if after & left[1] == after and before & right[1] == before:
                between *= count
        return cost.joined(
            self.statistics.partitions, how, left[0], right[0], decided.number, decided.all, decided.equal, between
        )

    def _within(self, mask: int) -> _Decided:
        """What is known of the conditions on some variables alone."""
        known = self._known.get(mask)
        if known is None:
            own = [one for needed, one in self._shares if needed & mask == needed]
            known = _Decided(len(own), sum(one.logarithm for one in own), sum(one.logarithm_equal for one in own))
            self._known[mask] = known
        return known

    def _mask(self, variables: Iterable[str]) -> int:
        return sum(self._bits[name] for name in variables)

    def _between(self, gap: Gap) -> float:
        """How many events of a group lie between its neighbours: N of Table 2."""
        assert gap.group is not None
        each = self.statistics.card(gap.group.variable) / self.statistics.partitions * cost.BEFORE * cost.BEFORE
        return max(1.0, each * (gap.group.least if gap.group.successive else 1))


class _Side(NamedTuple):
    """One side of a join: what it costs, its variables, and its order."""

    estimate: Estimate
    mask: int
    order: Order


class _Decided(NamedTuple):
    """Conditions: how many, and for which share of pairs they hold; of those that are looked up, also apart."""

    number: int
    logarithm: float
    logarithm_equal: float

    @classmethod
    def of(cls, conjunct: Conjunct, statistics: Statistics) -> _Decided:
        """What is known of one condition."""
        share = log(max(statistics.selectivity([conjunct]), LEAST))
        return cls(1, share, share if is_equality(conjunct) else 0.0)

    def without(self, one: _Decided, other: _Decided) -> _Decided:
        """What is left without those of two sides."""
        return _Decided(
            self.number - one.number - other.number,
            self.logarithm - one.logarithm - other.logarithm,
            self.logarithm_equal - one.logarithm_equal - other.logarithm_equal,
        )

    @property
    def all(self) -> float:
        """The share of pairs for which all hold."""
        return exp(self.logarithm)

    @property
    def equal(self) -> float:
        """The share of pairs for which those that are looked up hold."""
        return exp(self.logarithm_equal)


def _variables(variant: Variant) -> set[str]:
    of_gaps = {name for gap in variant.gaps for name in (*gap.after, *gap.before)}
    return of_gaps | ({*variant.root.variables} if variant.root else set())


def items_of(order: Order, kind: type[Row] | type[Heap]) -> tuple[Solid, ...]:
    """What a row or heap is made of, with what an order has joined of it already."""
    is_inner = order.left is not None and isinstance(order.solid, kind)
    return order.solid.items if is_inner and isinstance(order.solid, Row | Heap) else (order.solid,)


def _halves(whole: int) -> Iterator[int]:
    """The ways to divide a set in two, each once."""
    part = (whole - 1) & whole
    while part:
        if part > whole ^ part:
            yield part
        part = (part - 1) & whole


Chooser = Callable[[tuple[Solid, ...]], int]


def fixed(solid: Solid, split: Chooser) -> Order:
    """An order that splits all rows and heaps in the same way, whatever it costs."""
    nothing = Estimate(0.0, 0.0)
    match solid:
        case Single():
            return Order(nothing, solid)
        case Either(items):
            return Order(nothing, solid, parts=tuple(fixed(item, split) for item in items))
        case Row(items) | Heap(items):
            return _split(type(solid), items, split)


def _split(kind: type[Row] | type[Heap], items: tuple[Solid, ...], split: Chooser) -> Order:
    if len(items) == 1:
        return fixed(items[0], split)
    at = split(items)
    left, right = _split(kind, items[:at], split), _split(kind, items[at:], split)
    return Order(Estimate(0.0, 0.0), kind(items), left, right)
