"""Cayuga's construction, half done: edges that bind events, on their way to states that are not known yet.

Edges of one end of an expression lead to the same state once it is known what follows (Cayuga 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ouzel.logical.algebra.streams import Base
from ouzel.logical.expressions import Attribute, Expression
from ouzel.physical.automaton.substitution import Environment, at_hand, is_static, replaced


@dataclass(frozen=True)
class Test:
    """Conditions of an edge: some on the event at hand alone, which are known beforehand, or one on registers too.

    `known` are all conditions on the event alone up to this one.
    """

    conditions: tuple[Expression, ...]
    known: tuple[Expression, ...] | None = None


@dataclass(frozen=True)
class Edge:
    """An ∃-edge from a state, or None if it starts a run: with an event of a stream, which it binds to a variable.

    Conditions and the values of registers are over the event at hand, and over registers as they were before.
    The first `asked` tests are those of θ and of the right operand, which end a stay, too (the filter edge).
    """

    source: int | None
    variable: str
    base: Base
    tests: tuple[Test, ...] = ()
    asked: int = 0
    known: tuple[Expression, ...] = ()
    computes: tuple[tuple[Attribute, Expression], ...] = ()

    def before(self, expression: Expression) -> Expression:
        """What is said once the event is bound, as it is said before."""
        values = {register.variable: value for register, value in self.computes}

        def leaf(node: Expression) -> Expression:
            return values.get(node.variable, node) if isinstance(node, Attribute) else node

        return replaced(at_hand(expression, self.variable), leaf)

    def where(self, conditions: Iterable[Expression]) -> Edge:
        """With more conditions, on what there is once the event is bound."""
        return self.given([self.before(one) for one in conditions])

    def given(self, conditions: Iterable[Expression]) -> Edge:
        """With more conditions; those on the event alone come first."""
        conditions = list(conditions)
        static = tuple(one for one in conditions if is_static(one) and one not in self.known)
        known, tests = (*self.known, *static), list(self.tests)
        if static:
            tests.append(Test(static, known))
        tests += [Test((one,)) for one in conditions if not is_static(one)]
        return replace(self, tests=tuple(tests), known=known)

    def all_asked(self) -> Edge:
        """The same, where whatever was asked so far ends a stay."""
        return replace(self, asked=len(self.tests))

    @property
    def stays_unless(self) -> tuple[Test, ...]:
        """What ends the stay at its source."""
        return self.tests[: self.asked]

    def reads(self) -> list[Expression]:
        """All that it reads."""
        conditions = [one for test in self.tests for one in test.conditions]
        return conditions + [value for _register, value in self.computes]


@dataclass(frozen=True)
class End:
    """Where an expression ends: the attributes of its events, the variables of its first and its last event."""

    attributes: Environment
    first: str
    last: str
    edges: tuple[Edge, ...]
    window: int | None = None
    """If it ends with the window, how long that is."""

    def where(self, conditions: list[Expression]) -> End:
        """σ: with more conditions on all edges."""
        return replace(self, edges=tuple(edge.where(conditions) for edge in self.edges))
