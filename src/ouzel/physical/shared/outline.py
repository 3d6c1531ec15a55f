"""The outline of a query's automaton: states and edges as tests, whatever wrote the query.

What differs between queries that are written alike, their constants, is left open; so the queries of a set have
one outline.  States come in an order in which edges lead forward, but for those that lead back to their own state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ouzel.kernels import shared_tests as kernel
from ouzel.logical.algebra.streams import Base, is_linear_plus
from ouzel.logical.expressions import Constant, references
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED
from ouzel.logical.values import BOOLEAN, STRING, Kind
from ouzel.physical.automaton.cayuga import Sketch, sketch
from ouzel.physical.automaton.edges import Edge, End
from ouzel.physical.automaton.lacking import lacking_types
from ouzel.physical.automaton.substitution import NOWHERE
from ouzel.physical.compiled.sources import is_register
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.columns import OfAttribute, OfType
from ouzel.physical.shared.conditions import Reader
from ouzel.physical.shared.questions import Alternatives, Test, Values

START = -1


@dataclass(frozen=True)
class Way:
    """An edge into a state: from another, or START, or the state itself; it binds a variable at a place.

    What its source's gate asks, it does not ask again.
    """

    source: int
    asks: Alternatives
    place: int


@dataclass(frozen=True)
class Key:
    """A column of events that must equal a column of an event which runs hold at a place."""

    column: int
    place: int
    other: int


@dataclass(frozen=True)
class Waiting:
    """What runs do at a state: wait until a gate opens, which `ends` their wait, or lets copies of them go on."""

    gate: Alternatives
    ends: bool
    key: Key | None


@dataclass(frozen=True)
class OutlineState:
    """A state: the ways into it, and what runs do there; nothing, if they are results."""

    ways: tuple[Way, ...]
    waits: Waiting | None

    @property
    def tests(self) -> list[Test]:
        """All that it asks, in an order that its structure has, too."""
        asks = [one for way in self.ways for one in way.asks]
        asks += self.waits.gate if self.waits is not None else ()
        return [test for one in asks for test in one]


@dataclass(frozen=True)
class Outline:
    """All states, the places of variables, and by state what the results are that end there."""

    states: tuple[OutlineState, ...]
    places: Mapping[str, int]
    ends: Mapping[int, End | None]

    @property
    def tests(self) -> list[Test]:
        """All tests of all states."""
        return [test for state in self.states for test in state.tests]

    def kept_states(self, old: Values, new: Values) -> list[int]:
        """The states to which the same leads with other values of parameters: all edges on every way are alike.

        What ends the wait at a state is part of the edges that leave it.
        """

        def differs(asks: Alternatives) -> bool:
            constants = [one for tests in asks for test in tests for one in test.constants]
            return any(repr(list(old.of(one))) != repr(list(new.of(one))) for one in constants)

        def leads_on(state: int) -> bool:
            waits = self.states[state].waits
            return state in kept and not (waits is not None and differs(waits.gate))

        kept: set[int] = set()
        for number, state in enumerate(self.states):
            sources = {way.source for way in state.ways} - {START, number}
            is_own = any(way.source == number for way in state.ways)
            if not any(differs(way.asks) for way in state.ways) and all(map(leads_on, sources)):
                kept.add(number)
                if is_own and not leads_on(number):  # other values lead back to it
                    kept.remove(number)
        return sorted(kept)

    @property
    def width(self) -> int:
        """How many events a run holds."""
        return max(self.places.values()) + 1


def outline_of(query: BoundQuery, reader: Reader) -> Outline:
    """The outline of an expression of the algebra; an UnsuitableError if it cannot be shared."""
    stream = query.algebra
    assert stream is not None
    if not is_linear_plus(stream):
        raise UnsuitableError("what follows an event is an expression of several events itself")
    if lacking_types(stream):
        raise UnsuitableError("some types lack an attribute")
    drawn = sketch(stream)
    if any(edge.computes for edge, _target in drawn.edges) or _has_registers(drawn):
        raise UnsuitableError("it computes values from one iteration of a fold to the next")
    # a run has one first event, whichever of several streams it is of
    places = {edge.variable: 0 for edge, _target in drawn.edges if edge.source is None}
    for edge, _target in drawn.edges:
        places.setdefault(edge.variable, max(places.values()) + 1)
    states = tuple(_state(drawn, number, reader, places) for number in range(len(drawn.names)))
    return Outline(states, places, dict(drawn.ends))


def _state(drawn: Sketch, number: int, reader: Reader, places: Mapping[str, int]) -> OutlineState:
    ways = tuple(_way(edge, reader, places) for edge, target in drawn.edges if target == number)
    own = [edge for edge, _target in drawn.edges if edge.source == number]
    if not own:
        return OutlineState(ways, None)
    # all edges of a state have one θ
    first = own[0]
    asked = [one for test in first.stays_unless for one in test.conditions]
    gate = with_type(reader.alternatives(asked, places), first.base, reader)
    return OutlineState(ways, Waiting(gate, True, common_key(gate)))


def _way(edge: Edge, reader: Reader, places: Mapping[str, int]) -> Way:
    if edge.source is None:
        asked = [one for test in edge.tests for one in test.conditions]
        return Way(START, with_type(reader.alternatives(asked, places), edge.base, reader), places[edge.variable])
    rest = [one for test in edge.tests[edge.asked :] for one in test.conditions]
    return Way(edge.source, reader.alternatives(rest, places), places[edge.variable])


def with_type(asks: Alternatives, base: Base, reader: Reader) -> Alternatives:
    """Conditions on events of a base stream, with the one that they are of its types."""
    names = frozenset(one.name for one in base.types)
    return asks if INFERRED in names else tuple((type_test(names, reader), *one) for one in asks)


def type_test(names: frozenset[str], reader: Reader) -> Test:
    """Whether an event is of one of some types."""
    if len(names) == 1:
        (name,) = names
        wanted = Constant(name, STRING, NOWHERE)
        number = reader.columns.type_number(name)
        return Test(kernel.RANGE, number, sign="=", constants=(wanted,), of=OfAttribute("", Kind.STRING))
    number = reader.columns.number(OfType(names))
    yes = Constant(True, BOOLEAN, NOWHERE)
    return Test(kernel.RANGE, number, sign="=", constants=(yes,), of=OfAttribute("", Kind.BOOLEAN))


def common_key(asks: Alternatives) -> Key | None:
    """What all alternatives want to be equal."""
    each = [[Key(t.column, t.variable, t.other) for t in one if t.kind == kernel.EQUAL] for one in asks]
    return next((key for key in each[0] if all(key in others for others in each)), None) if each else None


def _has_registers(drawn: Sketch) -> bool:
    values = [value for end in drawn.ends.values() for value in end.attributes.values()]
    values += [one for edge, _target in drawn.edges for one in edge.reads()]
    return any(map(is_register, (node for value in values for node in references(value))))
