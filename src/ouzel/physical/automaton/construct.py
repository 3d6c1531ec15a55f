"""SASE+'s construction (3.2): from a bound pattern to the automaton.

Steps 1 and 2, which component follows which and where each conjunct is decided, come from shape.py and logical.
A run is at the component that it bound last.  Begin and take are moves, ignore is the stay (step 3); a run
proceeds only along with the move behind it, whose guard has the conditions of both (step 6).  The window is the
automaton's, so that every edge is bounded by it (steps 4 and 5).
"""

from __future__ import annotations

from dataclasses import replace

from ouzel.errors import Span
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import (
    Aggregate,
    Apply,
    Attribute,
    Constant,
    Element,
    Expression,
    Length,
    Moment,
    Variable,
    references,
)
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.query import BoundQuery
from ouzel.logical.values import BOOLEAN, INTEGER
from ouzel.physical.automaton.shape import Shape
from ouzel.physical.automaton.states import (
    Assignment,
    Automaton,
    Condition,
    Elements,
    Guard,
    Move,
    Presence,
    Register,
    State,
    Stay,
    is_event,
    is_every,
    key_of,
)
from ouzel.physical.automaton.ways import Stand

_CONTIGUOUS = (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)


def construct(query: BoundQuery, shape: Shape) -> Automaton:
    """The automaton of a query."""
    return _Construction(shape).automaton(query)


class _Construction:
    """Builds states, and notes the registers that their guards read."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.registers: dict[object, Register] = {}

    def automaton(self, query: BoundQuery) -> Automaton:
        shape = self.shape
        starts = tuple(self._begin(-1, skipped, target) for skipped, target in shape.after(-1))
        states = [self._state(number, stand) for number, stand in enumerate(shape.states)]
        # only now are all registers known that moves have to keep
        return Automaton(
            registers=tuple(self.registers.values()),
            variables=tuple(one.component for one in shape.states),
            starts=tuple(self._assigning(-1, move) for move in starts),
            states=tuple(
                replace(one, moves=tuple(self._assigning(number, move) for move in one.moves))
                for number, one in enumerate(states)
            ),
            window=query.window,
            partition=query.equivalences,
            together=shape.keyed,
            lasting=query.reads_lasting,
        )

    # ---- states ------------------------------------------------------------------------------------------

    def _state(self, number: int, stand: Stand) -> State:
        component = stand.component
        after = self.shape.after(number) if stand.goes_on else []
        begins = [self._begin(number, skipped, target) for skipped, target in after]
        take = self._take(number, component) if takes_more(component) else None
        stay = Stay(self._unless(component, begins, take))
        moves = [*begins, take] if take else begins
        return State(stand.name, tuple(moves), stay, self._accepts(number))

    def _begin(self, source: int, skipped: tuple[Component, ...], target: int) -> Move:
        """Begin a component with its first event, having left others empty."""
        component = self.shape.states[target].component
        left = frozenset(one.variable for one in skipped)
        conditions = self._complete(source) if source >= 0 else []
        for one in skipped:
            conditions += self._conditions(one, Place.PROCEED, left)
        own = self.shape.at(component, Place.BEGIN) + self.shape.at(component, Place.TAKE)
        own = [conjunct for conjunct in own if component.variable not in conjunct.from_second]
        conditions += [self._condition(conjunct, component.variable, first=True, left=left) for conjunct in own]
        return Move("begin", Guard(component.bit, tuple(conditions)), target, target)

    def _take(self, number: int, component: Component) -> Move:
        """Take a further event into a closure."""
        conditions = [] if component.most is None else [self._taken(component, "<", component.most)]
        own = self.shape.at(component, Place.TAKE)
        conditions += [self._condition(conjunct, component.variable) for conjunct in own]
        return Move("take", Guard(component.bit, tuple(conditions)), number, number)

    def _unless(self, component: Component, begins: list[Move], take: Move | None) -> tuple[Guard, ...] | None:
        """What cannot be ignored (step 3); as long as a closure has room, only what it takes counts."""
        if self.shape.strategy in _CONTIGUOUS:
            return None
        if self.shape.strategy is Strategy.SKIP_TILL_ANY_MATCH:
            return ()
        if take is None:
            return tuple(move.guard for move in begins)
        if component.most is None:
            return (take.guard,)
        full = self._taken(component, ">=", component.most)
        begun = (replace(one.guard, conditions=(*one.guard.conditions, full)) for one in begins)
        return (take.guard, *begun)

    def _accepts(self, number: int) -> tuple[Condition, ...] | None:
        """The conditions of a run's being a match with the event just bound."""
        trailing = self.shape.trailing(number)
        if trailing is None:
            return None
        left = frozenset(one.variable for one in trailing)
        rest = [condition for one in trailing for condition in self._conditions(one, Place.PROCEED, left)]
        return (*self._complete(number), *rest)

    # ---- conditions --------------------------------------------------------------------------------------

    def _complete(self, number: int) -> list[Condition]:
        """That a component has enough events, and what is decided then."""
        component = self.shape.states[number].component
        enough = [self._taken(component, ">=", component.least)] if component.least > 1 else []
        return [*enough, *self._conditions(component, Place.PROCEED)]

    def _taken(self, component: Component, sign: str, count: int) -> Condition:
        """How many events a closure has."""
        span = Span(0, 0)
        length = Length(component.variable, INTEGER, span)
        literal = Apply(BUILT_IN[sign], (length, Constant(count, INTEGER, span)), BOOLEAN, span)
        # of an unlimited closure only whether it has enough matters
        self._note(length, most=count if component.most is None else None)
        text = f"{'fewer than' if sign == '<' else 'at least'} {count} taken"
        return Condition(Conjunct((literal,), Place.PROCEED, component, text))

    def _conditions(
        self, component: Component, place: Place, left: frozenset[str] = frozenset()
    ) -> list[Condition]:
        return [self._condition(conjunct, left=left) for conjunct in self.shape.at(component, place)]

    def _condition(
        self, conjunct: Conjunct, binding: str = "", *, first: bool = False, left: frozenset[str] = frozenset()
    ) -> Condition:
        """A conjunct over the event that a variable is binding, its first or a further one, and over registers.

        Variables that are being `left` empty are chosen, though their registers do not say so yet.
        """
        literals = tuple(_bound(literal, binding, first=first) for literal in conjunct.literals)
        present: dict[Register, None] = {}
        every: dict[Register, None] = {}
        for literal in literals:
            for node in references(literal):
                if is_every(node):
                    every[self._note(Elements(node.variable))] = None
                elif not is_event(node):
                    self._note(node)
                    if (presence := self._presence(node, left)) is not None:
                        present[self._note(presence)] = None
        return Condition(replace(conjunct, literals=literals), tuple(present), tuple(every))

    def _presence(self, node: Variable, left: frozenset[str]) -> Presence | None:
        """What must be there if a reference is to have a meaning; an aggregate of no events has one."""
        if isinstance(node, Attribute | Moment):
            return Presence(node.variable) if node.variable in self.shape.optional else None
        if node.variable not in self.shape.alternatives or node.variable in left:
            return None
        return Presence(node.variable, empty=node.variable in self.shape.empties)

    def _note(self, node: Variable | Presence | Elements, most: int | None = None) -> Register:
        """The register that a reference reads; a count counts as far as any of its readers needs."""
        key = key_of(node)
        known = self.registers.get(key)
        if known is None or known.most is not None:
            of = _held(node)
            first = 0 if isinstance(of, Length) else False if isinstance(of, Presence) else None
            most = max(most, known.most or 0) if known is not None and most is not None else most
            self.registers[key] = Register(of, first, most)
        return self.registers[key]

    # ---- assignments -------------------------------------------------------------------------------------

    def _assigning(self, source: int, move: Move) -> Move:
        """A move with what it assigns to the registers of the variable that it binds, and of those left empty."""
        assert move.binds is not None
        variable = self.shape.states[move.binds].component.variable
        own = [register for register in self.registers.values() if register.of.variable == variable]
        begins = move.action == "begin"
        found = [_assignment(register, first=begins) for register in own]
        after = self.shape.after(source) if begins else []
        left = {one.variable for skipped, target in after if target == move.target for one in skipped}
        chosen = (one for one in self.registers.values() if isinstance(one.of, Presence) and one.of.empty)
        found += [_assignment(one, first=True) for one in chosen if one.of.variable in left]
        return replace(move, assigns=tuple(one for one in found if one is not None))


def _assignment(register: Register, *, first: bool) -> Assignment | None:
    """How a register changes with the first event of its variable, or with a further one; None if it does not."""
    match register.of:
        case Presence():
            return Assignment(register, Constant(True, BOOLEAN, Span(0, 0))) if first else None
        case Elements():
            return Assignment(register, None)
        case Attribute() | Moment() as node:
            changes = first or node.element is Element.LAST
            return Assignment(register, replace(node, element=Element.CURRENT)) if changes else None
        case Aggregate() as node:
            return Assignment(register, _element_of(node, Element.CURRENT), folds=True, first=first)
    return Assignment(register, None, folds=True, first=first)


def _held(node: Variable | Presence | Elements) -> Variable | Presence | Elements:
    """What a register is of: all counts of events are one, and so are ways to ask for the first or last event."""
    if isinstance(node, Aggregate) and node.column is None:
        return Length(node.variable, INTEGER, node.span)
    if isinstance(node, Aggregate) and node.function in ("first", "last"):
        return _element_of(node, Element.FIRST if node.function == "first" else Element.LAST)
    return node


def _element_of(node: Aggregate, element: Element) -> Attribute:
    """What an aggregate runs over, of one event."""
    assert node.column is not None
    assert node.input_type is not None
    return Attribute(
        node.variable, element, node.name or node.column, node.column, node.input_type, frozenset(), node.span
    )


def _bound(expression: Expression, binding: str, *, first: bool) -> Expression:
    """An expression in which [i] is the event that a variable is binding, and everything else was bound before."""
    match expression:
        case Apply(arguments=arguments):
            return replace(expression, arguments=tuple(_bound(one, binding, first=first) for one in arguments))
        case Attribute() | Moment():
            own = expression.variable == binding
            return replace(expression, element=_element(expression, own=own, first=first))
    return expression


def _element(node: Attribute | Moment, *, own: bool, first: bool) -> Element:
    """Which event a reference means: the one at hand, or one that a register is of."""
    match node.element:
        case Element.SINGLE if own:
            return Element.CURRENT
        case Element.FIRST if own and first:
            return Element.CURRENT
        case Element.PREVIOUS if own:
            return Element.LAST
        case Element.CURRENT if not own:
            return Element.EVERY
    return node.element


def takes_more(component: Component) -> bool:
    """Whether a component may bind further events after its first."""
    return component.binds is Binds.CLOSURE and component.is_array and component.most != 1
