"""Cayuga's construction (3.3): from an algebra expression to the automaton.

E ;θ R is a state behind E, an edge with events of R that satisfy θ, and a filter edge, which is a stay unless an
event satisfies θ.  A fold is two such states, before its first iteration and after it: of the second, the rebind
edge leads back to itself.  What comes of an expression goes along forward edges to what follows, which may ask for
more.  The right operand is unary, so that one edge can recognise it: the expression is linear-plus (Definition 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from ouzel.logical.algebra.streams import (
    Base,
    Extend,
    Fold,
    Next,
    Rename,
    Select,
    Stream,
    StreamAttribute,
    Union,
    Where,
    is_unary,
)
from ouzel.logical.expressions import Attribute, Element, Expression, references
from ouzel.physical.automaton.edges import Edge, End
from ouzel.physical.automaton.substitution import (
    Environment,
    at_hand,
    base_attributes,
    concatenated,
    conjuncts,
    duration,
    mapped,
    of_events,
    once_bound,
    only,
    register_of,
    renewed,
    resolved,
    stepped,
)
from ouzel.physical.compiled.sources import is_register


@dataclass(frozen=True)
class Sketch:
    """States by name, the edges that lead to each of them, and what the events of each end are."""

    names: tuple[str, ...]
    forwards: tuple[tuple[Edge, int], ...]
    rebinds: tuple[tuple[Edge, int], ...]
    ends: dict[int, End]

    @property
    def edges(self) -> tuple[tuple[Edge, int], ...]:
        """All edges and where they lead; rebind edges come last."""
        return (*self.forwards, *self.rebinds)

    def changed(self, change: Callable[[Edge], Edge]) -> Sketch:
        """The same with other edges."""
        forwards, rebinds = (
            tuple((change(edge), target) for edge, target in some) for some in (self.forwards, self.rebinds)
        )
        return replace(self, forwards=forwards, rebinds=rebinds)


def sketch(stream: Stream) -> Sketch:
    """The states and edges of a linear-plus expression."""
    drawing = _Drawing()
    for end in drawing.ends(stream):
        state = drawing.state(end.last)
        drawing.final[state] = drawing.handing_over(end, stream.attributes)
        drawing.lead(drawing.final[state], state)
    return Sketch(tuple(drawing.names), tuple(drawing.forward), tuple(drawing.rebind), drawing.final)


@dataclass
class _Drawing:
    """Draws states and edges, from left to right."""

    names: list[str] = field(default_factory=list)
    forward: list[tuple[Edge, int]] = field(default_factory=list)
    rebind: list[tuple[Edge, int]] = field(default_factory=list)
    final: dict[int, End] = field(default_factory=dict)
    variables: int = 0
    registers: int = 0

    def ends(self, stream: Stream) -> list[End]:
        """Where an expression ends; several ends are those of unions."""
        match stream:
            case Base():
                return [self._begin(stream)]
            case Union():
                found = self.ends(stream.left) + self.ends(stream.right)
                return [replace(one, attributes=only(one.attributes, stream.attributes)) for one in found]
            case Next():
                return self._next(stream)
            case Fold():
                return self._fold(stream)
            case Where():
                condition = stream.condition
                found = self.ends(stream.of)
                return [one.where(conjuncts(_of_end(condition, one))) for one in found]
        assert isinstance(stream, Select | Rename | Extend)
        found = self.ends(stream.of)
        return [
            replace(one, attributes=renewed(stream, one.attributes, duration(one.first, one.last)))
            for one in found
        ]

    def state(self, name: str) -> int:
        """A new state, named after the variable that is bound last."""
        same = sum(1 for one in self.names if one.split("'")[0] == name)
        self.names.append(name + "'" * same)
        return len(self.names) - 1

    def lead(self, end: End, state: int) -> None:
        """Let the edges of an end lead to a state."""
        self.forward += [(edge, state) for edge in end.edges]

    def _variable(self) -> str:
        self.variables += 1
        return f"s{self.variables}"

    def _register(self, attribute: StreamAttribute) -> Attribute:
        self.registers += 1
        return register_of(f"r{self.registers}", attribute)

    # ---- operators ---------------------------------------------------------------------------------------

    def _begin(self, base: Base) -> End:
        variable = self._variable()
        return End(base_attributes(base, variable), variable, variable, (Edge(None, variable, base),))

    def _next(self, stream: Next) -> list[End]:
        assert is_unary(stream.right)
        ends, variable = self.ends(stream.left), self._variable()
        base, own, right = of_events(stream.right, variable)
        found = []
        for end in ends:
            state = self.state(end.last)
            self.lead(end, state)
            attributes = concatenated(end.attributes, right)
            after = End(attributes, end.first, variable, (Edge(state, variable, base).where(own),))
            if stream.where is not None:
                after = after.where(conjuncts(_of_end(stream.where, after)))
            found.append(replace(after, edges=tuple(edge.all_asked() for edge in after.edges)))
        return found

    def _fold(self, stream: Fold) -> list[End]:
        assert is_unary(stream.right)
        ends, variable = self.ends(stream.left), self._variable()
        return [self._folded(stream, end, variable) for end in ends]

    def _folded(self, stream: Fold, end: End, variable: str) -> End:
        """What comes of a fold behind one end: of its first iteration, and of each further one."""
        fold = _Iteration(stream, end.first, variable)
        first_state, state = self.state(end.last), self.state(variable)
        self.lead(end, first_state)
        first, values = fold.edge(first_state, end.attributes)
        registers: dict[str, Attribute] = {}
        while True:
            # an attribute that depends on the iterations before is one that a run has to compute, and to remember
            settled = mapped(values, partial(once_bound, variable=variable), Element.SINGLE)
            attributes = only(concatenated(settled, registers), stream.attributes)
            further, again = fold.edge(state, attributes)
            own = {variable, *(register.variable for register in registers.values())}
            changing = [
                name
                for name, value in again.items()
                if name not in registers
                and (_remembers(value, own) or once_bound(value, variable) != attributes[name])
            ]
            if not changing:
                break
            types = {one.name: one for one in stream.attributes}
            registers |= {name: self._register(types[name]) for name in changing}
        edges = []
        for edge, computed in ((first, values), (further, again)):
            kept = tuple((register, computed[name]) for name, register in registers.items())
            edges.append(replace(edge, computes=kept))
            self.rebind.append((edges[-1], state))
        return End(attributes, end.first, variable, tuple(edges))

    # ---- ends --------------------------------------------------------------------------------------------

    def handing_over(self, end: End, attributes: tuple[StreamAttribute, ...]) -> End:
        """An end where what has to be computed of registers is computed on the way to it."""
        found, edges = dict(end.attributes), end.edges
        for attribute in attributes:
            value = found[attribute.name]
            if not isinstance(value, Attribute) and any(map(is_register, references(value))):
                register = self._register(attribute)
                edges = tuple(
                    replace(edge, computes=(*edge.computes, (register, edge.before(value)))) for edge in edges
                )
                found[attribute.name] = register
        return replace(end, attributes=found, edges=edges)


@dataclass(frozen=True)
class _Iteration:
    """One iteration of a fold, with an event that is bound to a variable."""

    fold: Fold
    first: str
    variable: str

    def edge(self, state: int, before: Environment) -> tuple[Edge, Environment]:
        """The edge from a state at which attributes have some values before, and the values that they get."""
        fold = self.fold
        base, own, right = of_events(fold.right, self.variable)
        edge = Edge(state, self.variable, base).where(own)
        own_attributes = mapped(right, partial(at_hand, variable=self.variable), Element.CURRENT)
        attributes = concatenated(before, own_attributes)
        lasts = at_hand(duration(self.first, self.variable), self.variable)
        if fold.where is not None:
            edge = edge.given(conjuncts(resolved(fold.where, attributes, lasts, before)))
        conditions, found = stepped(fold.step, attributes, lasts, before)
        edge = edge.all_asked().given(conditions)
        return edge, only(found, fold.attributes)


def _of_end(condition: Expression, end: End) -> Expression:
    return resolved(condition, end.attributes, duration(end.first, end.last))


def _remembers(value: Expression, variables: set[str]) -> bool:
    """Whether a value depends on what some variables were before."""
    return any(node.variable in variables and not _is_at_hand(node) for node in references(value))


def _is_at_hand(node: Expression) -> bool:
    return getattr(node, "element", None) is Element.CURRENT
