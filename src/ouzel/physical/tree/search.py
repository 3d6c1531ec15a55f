"""The best order of joins: dynamic programming over all bushy trees (ZStream 5.2.3, Algorithm 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.pattern import Component
from ouzel.physical.statistics import Statistics
from ouzel.physical.tree import cost
from ouzel.physical.tree.cost import Estimate
from ouzel.physical.tree.hashing import equality
from ouzel.physical.tree.nodes import How
from ouzel.physical.tree.shape import Either, Gap, Heap, Row, Single, Solid, Variant

# Of so many solids in a heap all subsets are tried; of more, only those that stand side by side.
MOST_SUBSETS = 8


@dataclass(frozen=True)
class Order:
    """How a solid is joined together: its own parts, and for rows and heaps which of them first."""

    estimate: Estimate
    solid: Solid
    left: Order | None = None
    right: Order | None = None
    parts: tuple[Order, ...] = ()


class Search:
    """Finds the best order for a variant of a pattern."""

    def __init__(self, variant: Variant, conjuncts: Sequence[Conjunct], statistics: Statistics) -> None:
        """Say what is known."""
        self.variant, self.statistics = variant, statistics
        self.conjuncts = [(frozenset(one.variables), one) for one in conjuncts]
        self.groups = [gap for gap in variant.gaps if gap.group and gap.after and gap.before]

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
        own = frozenset({component.variable})
        return cost.leaf(self.statistics, component, [one for names, one in self.conjuncts if names == own])

    def estimate(self, order: Order) -> Estimate:
        """What an order costs that was found with other statistics, or fixed."""
        if order.parts:
            return cost.union([self.estimate(one) for one in order.parts])
        if order.left is None or order.right is None:
            assert isinstance(order.solid, Single)
            return self._leaf(order.solid.component)
        how = How.SEQUENCE if isinstance(order.solid, Row) else How.CONJUNCTION
        left, right = (
            replace(order.left, estimate=self.estimate(order.left)),
            replace(order.right, estimate=self.estimate(order.right)),
        )
        return self._joined(how, left, right)

    def _row(self, items: list[Order], kind: type[Row] | type[Heap] = Row, how: How = How.SEQUENCE) -> Order:
        """Algorithm 5: ever longer stretches, each split where it is cheapest."""
        best = {(place, place + 1): item for place, item in enumerate(items)}
        for size in range(2, len(items) + 1):
            for begin in range(len(items) - size + 1):
                end = begin + size
                splits = ((best[begin, at], best[at, end]) for at in range(begin + 1, end))
                best[begin, end] = self._cheapest(kind, how, splits)
        return best[0, len(items)]

    def _heap(self, items: list[Order]) -> Order:
        """The same for what may be joined in any order: ever larger sets."""
        best = {1 << place: item for place, item in enumerate(items)}
        for whole in range(1, 1 << len(items)):
            if whole not in best:
                best[whole] = self._cheapest(
                    Heap, How.CONJUNCTION, ((best[a], best[whole ^ a]) for a in _halves(whole))
                )
        return best[(1 << len(items)) - 1]

    def _cheapest(self, kind: type[Row] | type[Heap], how: How, splits: Iterator[tuple[Order, Order]]) -> Order:
        found: Order | None = None
        for left, right in splits:
            estimate = self._joined(how, left, right)
            if found is None or estimate.cost + estimate.card < found.estimate.cost + found.estimate.card:
                found = Order(estimate, kind((*items_of(left, kind), *items_of(right, kind))), left, right)
        assert found is not None
        return found

    def _joined(self, how: How, left: Order, right: Order) -> Estimate:
        own = set(left.solid.variables), set(right.solid.variables)
        known = own[0] | own[1]
        decided = [
            one for names, one in self.conjuncts if names <= known and not names <= own[0] and not names <= own[1]
        ]
        between = 1.0
        for gap in self.groups:
            if {*gap.after} <= own[0] and {*gap.before} <= own[1]:
                between *= self._between(gap)
        looked_up = [one for one in decided if equality(one, frozenset(own[0]), frozenset(own[1]))]
        return cost.joined(self.statistics, how, left.estimate, right.estimate, decided, looked_up, between)

    def _between(self, gap: Gap) -> float:
        """How many events of a group lie between its neighbours: N of Table 2."""
        assert gap.group is not None
        each = self.statistics.card(gap.group.variable) / self.statistics.partitions * cost.BEFORE * cost.BEFORE
        return max(1.0, each * (gap.group.least if gap.group.successive else 1))


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
