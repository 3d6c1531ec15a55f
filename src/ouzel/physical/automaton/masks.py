"""Bits of masks for conditions on single events of an algebra expression, which are known before a run meets them.

Edges that ask the same of the same streams share a bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count

from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Element, Expression, Moment
from ouzel.logical.pattern import MASK_BITS, Binds, Component
from ouzel.physical.automaton.edges import Edge
from ouzel.physical.automaton.formula_words import formula_words
from ouzel.physical.automaton.substitution import replaced

Conditions = tuple[Expression, ...]


@dataclass
class Masks:
    """Components that stand for bits, each of a stream and what is asked of its events.

    Where there are too many, only streams have bits: `by_stream`.
    """

    by_stream: bool
    components: dict[tuple[frozenset[str], Conditions], Component] = field(default_factory=dict)
    of_variables: dict[str, int] = field(default_factory=dict)

    def bit(self, edge: Edge, known: Conditions) -> int:
        """The bit of events that satisfy conditions, and may be bound by an edge."""
        types = frozenset(one.name for one in edge.base.types)
        key = types, () if self.by_stream else tuple(_of_event(one, "") for one in known)
        if key not in self.components:
            taken = [one.variable for one in self.components.values()]
            name = next(one for k in count() if (one := edge.variable + "'" * k) not in taken)
            self.components[key] = Component(name, edge.base.types, len(taken), Binds.ONE)
        return self.components[key].bit

    def wanted(self, edge: Edge, bit: int) -> None:
        """Note that events of a bit may be bound by an edge."""
        self.of_variables[edge.variable] = self.of_variables.get(edge.variable, 0) | 1 << bit

    @property
    def are_too_many(self) -> bool:
        """Whether there are more than there are bits."""
        return len(self.components) > MASK_BITS

    def conjuncts(self) -> tuple[Conjunct, ...]:
        """The conditions of all components."""
        return tuple(
            conjunct_of(_of_event(condition, component.variable), component)
            for (_types, conditions), component in self.components.items()
            for condition in conditions
        )


def conjunct_of(condition: Expression, component: Component) -> Conjunct:
    """A condition as one of a component."""
    return Conjunct((condition,), Place.BEGIN, component, formula_words(condition), is_single=True)


def _of_event(condition: Expression, variable: str) -> Expression:
    """A condition on the event at hand, as one on that of a variable."""

    def leaf(node: Expression) -> Expression:
        if isinstance(node, Attribute | Moment):
            return replace(node, variable=variable, element=Element.SINGLE)
        return node

    return replaced(condition, leaf)
