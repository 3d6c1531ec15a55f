"""The construction of register automata (AFA 2.2), the end of it: from ways to the one automaton.

Arcs are moves, and no run stays: a computation consumes an event of every moment.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from ouzel.logical.automata.registers import EVENT, RegisterAutomaton
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Element, Expression, Moment
from ouzel.logical.pattern import MASK_BITS, Binds, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING, END
from ouzel.physical.automaton.arcs import Asked, Way, Ways, since_time
from ouzel.physical.automaton.cayuga_states import Constructed
from ouzel.physical.automaton.closing import Closing
from ouzel.physical.automaton.edges import End
from ouzel.physical.automaton.states import (
    Assignment,
    Automaton,
    Condition,
    EventNumber,
    Guard,
    Move,
    Register,
    State,
    Stay,
)
from ouzel.physical.automaton.substitution import is_static, register_of, replaced
from ouzel.physical.compiled.forms import is_held
from ouzel.physical.contract import UnsuitableError

FIRST, LAST = "first", "last"
"""The first event of a computation, and the last."""


def construct_registers(query: BoundQuery, automaton: RegisterAutomaton) -> Constructed:
    """The automaton of a register automaton; an UnsuitableError if it cannot compute something."""
    return _constructed(query, _Assembly(query, automaton))


def construct_open(query: BoundQuery, automaton: RegisterAutomaton) -> tuple[Constructed, tuple[Way, ...]]:
    """The same where arcs may come and go: every way has a bit of its own, by which it is let through or not."""
    made = _Assembly(query, automaton, is_open=True)
    constructed = _constructed(query, made)
    if len(made.bits) > MASK_BITS:
        raise UnsuitableError(f"its arcs that come and go make more than {MASK_BITS} ways")
    return constructed, tuple(made.open_ways)


def _constructed(query: BoundQuery, made: _Assembly) -> Constructed:
    constructed = made.automaton(masked=True)
    if len(made.bits) > MASK_BITS and not made.is_open:
        constructed = made.automaton(masked=False)
    components = tuple(made.bits.values())
    flat = replace(
        query,
        pattern=Sequence(tuple(map(Step, components))),
        components=components,
        conjuncts=tuple(made.conjuncts()),
        automaton=None,
    )
    wanted = {EVENT: (1 << len(components)) - 1}
    return Constructed(flat, constructed, wanted, made.ends(), tuple(made.closings))


@dataclass
class _Assembly:
    """Makes moves of ways; conditions on the event alone have bits of its mask."""

    query: BoundQuery
    registers: RegisterAutomaton
    is_open: bool = False
    bits: dict[Hashable, Component] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ways = Ways(self.registers, is_open=self.is_open)
        self.open_ways: list[Way] = []
        self.fields = {one.name: Register(register_of(one.name, one.attribute)) for one in self.registers.register}
        self.first, self.last = Register(EventNumber(FIRST)), Register(EventNumber(LAST))
        self.closings: list[Closing] = []
        self.asked: dict[Hashable, tuple[Asked, ...]] = {}

    def automaton(self, *, masked: bool) -> Automaton:
        """The automaton; where there are too many bits, only one is left, and runs ask for everything."""
        self.bits.clear()
        self.open_ways.clear()
        self.closings.clear()
        starts = [self._move(way, masked=masked, is_first=True) for way in self.ways.starting()]
        states = [
            State(
                name,
                tuple(self._move(way, masked=masked) for way in self.ways.leaving(name)),
                Stay(None),
                self._accepts(name),
                (self.first, *self.fields.values()) if name in self.registers.final else (),
            )
            for name in self.registers.states
        ]
        every = (self.first, *((self.last,) if self.closings else ()), *self.fields.values())
        waiting = [State(one.name, (), Stay(None), None, every, self.last) for one in self.closings]
        return Automaton(
            registers=every,
            variables=(),
            starts=tuple(starts),
            states=(*states, *waiting),
            window=self.query.window,
            partition=self.query.equivalences,
            is_open=self.is_open,
        )

    def _accepts(self, state: str) -> tuple[Condition, ...] | None:
        """The conditions of being a match at a state: where that became a final one, the event is of that time."""
        since = self.registers.final.get(state)
        if since is None or since == BEGINNING:
            return None if since is None else ()
        (event,) = self.query.components
        return (Condition(Conjunct((since_time(since),), Place.BEGIN, event, f"end(e) >= {since}")),)

    def ends(self) -> dict[int, End]:
        """What results are, by final state: the register, from the first event to the last."""
        attributes = {name: one.of for name, one in self.fields.items() if isinstance(one.of, Attribute)}
        end = End(attributes, FIRST, LAST, ())
        states = self.registers.states
        ends = {place: end for place, name in enumerate(states) if name in self.registers.final}
        at_end = replace(end, window=self.query.window.limit) if self.query.window else end
        return ends | {len(states) + place: at_end for place in range(len(self.closings))}

    # ---- moves -------------------------------------------------------------------------------------------

    def _move(self, way: Way, *, masked: bool, is_first: bool = False) -> Move:
        static = tuple(one for one in way.asks if masked and _is_static(one))
        others = [one for one in way.asks if one not in static]
        component = self._component(static, way)
        conditions = tuple(Condition(Conjunct(one.literals, Place.BEGIN, component, one.text)) for one in others)
        assigns = tuple(self._assigned(way)) + ((Assignment(self.first, None),) if is_first else ())
        assigns += (Assignment(self.last, None),) if way.closing is not None else ()
        name = " ".join(arc.id for arc in way.arcs)
        return Move(name, Guard(component.bit, conditions), self._number(way), None, assigns)

    def _number(self, way: Way) -> int:
        """The state that a way leads to: where it waits for the end of the window, one behind all others."""
        states = self.registers.states
        if way.closing is None:
            return states.index(way.target)
        place = next(place for place, arc in enumerate(self.registers.arcs) if arc is way.closing)
        closing = Closing(way.closing, place, way.target, self.registers.final_at_end.get(way.target, END))
        if closing not in self.closings:
            self.closings.append(closing)
        return len(states) + self.closings.index(closing)

    def _component(self, static: tuple[Asked, ...], way: Way) -> Component:
        """The bit of what is asked of the event alone; where ways come and go, each has its own."""
        key: Hashable = static
        if self.is_open:
            self.open_ways.append(way)
            key = (len(self.open_ways), static)
        if key not in self.bits:
            (event,) = self.query.components
            place = len(self.bits)
            name = EVENT if place == 0 else f"{EVENT}{place}"
            self.bits[key] = Component(name, event.types, place, Binds.ONE)
            self.asked[key] = static
        return self.bits[key]

    def conjuncts(self) -> Iterator[Conjunct]:
        """The conditions on single events, each of a component."""
        for key, component in self.bits.items():
            for one in self.asked[key]:
                literals = tuple(_of_event(literal, component.variable) for literal in one.literals)
                yield Conjunct(literals, Place.BEGIN, component, one.text, is_single=True)

    def _assigned(self, way: Way) -> Iterable[Assignment]:
        for name, value in way.values.items():
            register = self.fields[name]
            if not is_held(value, register.type):
                raise UnsuitableError(f"it computes {name}, {register.type}, which no register holds")
            if value != register.of:
                yield Assignment(register, value)


def _is_static(asked: Asked) -> bool:
    """Whether it is about the event at hand alone, and not about nothing."""
    return all(map(is_static, asked.literals))


def _of_event(condition: Expression, variable: str) -> Expression:
    """A condition on the event at hand, as one on that of a variable."""

    def leaf(node: Expression) -> Expression:
        if isinstance(node, Attribute | Moment):
            return replace(node, variable=variable, element=Element.SINGLE)
        return node

    return replaced(condition, leaf)
