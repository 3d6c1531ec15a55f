"""From a variant of a pattern and an order of joins to a tree; each condition is where all it needs is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.constants import constant_value
from ouzel.logical.expressions import Aggregate, Apply, Constant, Expression, Extent, Length, Variable
from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.tree.negation import bars_of
from ouzel.physical.tree.nodes import Fill, How, Join, Kind, Leaf, Node, Union, variables, walk
from ouzel.physical.tree.search import Order
from ouzel.physical.tree.shape import Either, Gap, Row, Single, Solid, Variant


@dataclass(frozen=True)
class Tree:
    """The plan of one variant: where its records come from, and what is bound to nothing in all of them."""

    root: Node
    variant: Variant

    @property
    def finals(self) -> tuple[Component, ...]:
        """The components of which some event is the last of every match."""
        return tuple(_finals(self.root))


def build(query: BoundQuery, variant: Variant, order: Order | None, *, pushes: bool = True) -> Tree:
    """Build the tree of a variant; there is an order unless it is but a group.

    `pushes` says whether negation is pushed down where that can be, or stays on top.
    """
    return Tree(_Builder(query, variant, pushes=pushes).build(order), variant)


class _Builder:
    def __init__(self, query: BoundQuery, variant: Variant, *, pushes: bool) -> None:
        self.variant = variant
        self.conjuncts = [one for one in applied(query, variant) if one.variables]
        self.groups = [gap for gap in variant.gaps if gap.group]
        self.bars = bars_of(query, variant) if pushes else []

    def build(self, order: Order | None) -> Node:
        root = self._ordered(order) if order is not None else None
        for gap in [gap for gap in self.groups if not gap.before]:
            assert gap.group is not None
            stop = Leaf(gap.group, Kind.STOP)
            if root is None:
                root = self._with_conjuncts(Fill(stop, gap))
                continue
            is_behind = self._ends_with(self.variant.root, gap.after)
            how = How.SEQUENCE if is_behind else How.CONJUNCTION
            root = self._with_conjuncts(Join(how, root, stop, (gap,)))
        assert root is not None
        for gap in [gap for gap in self.groups if gap.before and not gap.after]:
            root = self._with_conjuncts(Fill(root, gap))
        return root

    def _ordered(self, order: Order) -> Node:
        match order.solid:
            case Single(component):
                return self._with_conjuncts(Leaf(component, Kind.CHAIN if component.is_array else Kind.EVENT))
            case Either():
                return self._with_conjuncts(Union(tuple(map(self._ordered, order.parts))))
        assert order.left is not None
        assert order.right is not None
        how = How.SEQUENCE if isinstance(order.solid, Row) else How.CONJUNCTION
        left, right = self._ordered(order.left), self._ordered(order.right)
        own = variables(left), variables(right)
        closed = [gap for gap in self.groups if gap.after and gap.before]
        groups = tuple(gap for gap in closed if _lies_between(gap, *own))
        bars = tuple(bar for gap, own_bars in self.bars for bar in own_bars if _lies_between(gap, *own))
        return self._with_conjuncts(Join(how, left, right, groups, bars))

    def _with_conjuncts(self, node: Node) -> Node:
        """The node with the conditions that can be decided there."""
        own = tuple(one for one in self.conjuncts if one.variables <= variables(node))
        self.conjuncts = [one for one in self.conjuncts if one not in own]
        if own and isinstance(node, Leaf) and node.kind is Kind.EVENT:
            # masks know nothing of conditions that are on closures, too, which are empty here
            return Union((node,), own)
        return replace(node, conjuncts=own) if own else node

    def _ends_with(self, solid: Solid | None, names: Sequence[str]) -> bool:
        """Whether some variables are those of what comes last."""
        last = solid.items[-1] if isinstance(solid, Row) else solid
        return last is not None and set(last.variables) == set(names)


def can_match(query: BoundQuery, variant: Variant) -> bool:
    """Whether what depends on no event of a variant holds."""
    return all(
        any(constant_value(literal) is True for literal in one.literals)
        for one in applied(query, variant)
        if not one.variables
    )


def applied(query: BoundQuery, variant: Variant) -> list[Conjunct]:
    """The conditions that have to hold of a variant: one that mentions an event that is not there has not."""
    bound = set(variant.variables)
    return [
        replace(one, literals=tuple(_of_empty(literal, variant.empty) for literal in one.literals))
        for one in query.relations
        if one.place is not Place.NEGATIVE
        and all(
            node.variable in bound or (node.variable in variant.empty and _is_of_all(node))
            for node in one.references
        )
    ]


def _is_of_all(node: Variable) -> bool:
    """Whether a reference has a value where a closure is empty: those to its elements have none."""
    return isinstance(node, Length) or (isinstance(node, Aggregate) and node.extent is Extent.ALL)


def _of_empty(expression: Expression, empty: frozenset[str]) -> Expression:
    """An expression in which aggregates of empty closures have their values."""
    match expression:
        case Aggregate(variable=variable) | Length(variable=variable) if variable in empty:
            counts = isinstance(expression, Length) or expression.function.startswith("count")
            return Constant(0 if counts else None, expression.type, expression.span)
        case Apply():
            arguments = tuple(_of_empty(one, empty) for one in expression.arguments)
            return replace(expression, arguments=arguments)
    return expression


def _lies_between(gap: Gap, left: frozenset[str], right: frozenset[str]) -> bool:
    return {*gap.after} <= left and {*gap.before} <= right


def _finals(node: Node) -> list[Component]:
    match node:
        case Leaf(component):
            return [component]
        case Join(How.SEQUENCE, _left, right):
            return _finals(right)
    return [one for child in node.children for one in _finals(child)]


def gap_components(tree: Node) -> list[Component]:
    """The components whose events lie in the gaps of a tree."""
    found: list[Component] = []
    for node in walk(tree):
        if isinstance(node, Join):
            found += [gap.group for gap in node.groups if gap.group]
            found += [bar.component for bar in node.bars]
        elif isinstance(node, Fill) and node.group.group:
            found.append(node.group.group)
    return found
