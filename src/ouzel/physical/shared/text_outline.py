"""The outline of a text: events one after the other, as SASE has them, which may be skipped."""

from __future__ import annotations

from dataclasses import replace

from ouzel.kernels import shared_tests as kernel
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Place
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import Apply, Attribute, Constant, Element, Expression, Moment
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.pattern import Binds, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.logical.schema import INFERRED
from ouzel.logical.values import BOOLEAN, INTEGER, Kind
from ouzel.physical.automaton.substitution import NOWHERE, replaced
from ouzel.physical.contract import UnsuitableError
from ouzel.physical.shared.conditions import Reader
from ouzel.physical.shared.outline import START, Outline, OutlineState, Waiting, Way, common_key, type_test
from ouzel.physical.shared.questions import Alternatives, Test


def text_outline(query: BoundQuery, reader: Reader) -> Outline:
    """The outline of a sequence of single events; an UnsuitableError if it is another pattern."""
    components = _sequence(query)
    _check(query)
    places = {one.variable: place for place, one in enumerate(components)}
    asks = [_asks(query, components, place, reader) for place in range(len(components))]
    states = []
    for place in range(len(components)):
        # what is asked of an event opens the gate at which runs wait for it
        ways = (Way(place - 1 if place else START, ((),) if place else asks[0], place),)
        states.append(OutlineState(ways, _waiting(query, asks, place)))
    return Outline(tuple(states), places, {len(components) - 1: None})


def _waiting(query: BoundQuery, asks: list[Alternatives], place: int) -> Waiting | None:
    """Runs skip what they may: any event, or those with which they cannot go on."""
    if place + 1 == len(asks):
        return None
    gate = asks[place + 1]
    return Waiting(gate, query.strategy is not Strategy.SKIP_TILL_ANY_MATCH, common_key(gate))


def _sequence(query: BoundQuery) -> list[Component]:
    items = query.pattern.items if isinstance(query.pattern, Sequence) else (query.pattern,)
    found = [item.component for item in items if isinstance(item, Step) and item.component.binds is Binds.ONE]
    if len(found) < len(items):
        raise UnsuitableError("it is no sequence of single events")
    return found


def _check(query: BoundQuery) -> None:
    if query.strategy not in (Strategy.SKIP_TILL_ANY_MATCH, Strategy.SKIP_TILL_NEXT_MATCH):
        raise UnsuitableError(f"{query.strategy.value} minds events that no component wants")
    if query.window is not None and query.window.counts_events:
        raise UnsuitableError("its window counts events")
    if query.non_overlap or query.aggregates or query.numbers_matches:
        raise UnsuitableError("its matches depend on each other")
    if query.window is not None and len(query.components) == 1 and query.reads_lasting:
        raise UnsuitableError("its window bounds single events, which last")
    if any(one.place is not Place.BEGIN for one in query.conjuncts):
        raise UnsuitableError("a condition is on no event")


def _asks(query: BoundQuery, components: list[Component], place: int, reader: Reader) -> Alternatives:
    """What is asked of the event that a component binds."""
    own, before = components[place], components[:place]
    held = {one.variable: k for k, one in enumerate(before)}
    conditions = [_choice(one.literals) for one in query.conjuncts if one.component is own]
    conditions = [_at_hand(one, own.variable) for one in conditions]
    for test in query.equivalences:
        conditions += _same(test, own, before[0] if before else None)
    tests: list[Test] = []
    if before and query.window is not None:
        limit = Constant(query.window.limit, INTEGER, NOWHERE)
        tests.append(Test(kernel.LASTS, 0, sign="<=", constants=(limit,)))
    if INFERRED not in own.type_names:
        tests.insert(0, type_test(own.type_names, reader))
    return tuple((*tests, *one) for one in reader.alternatives(conditions, held))


def _choice(literals: tuple[Expression, ...]) -> Expression:
    found = literals[0]
    for other in literals[1:]:
        found = Apply(BUILT_IN["or"], (found, other), BOOLEAN, NOWHERE)
    return found


def _at_hand(condition: Expression, variable: str) -> Expression:
    def leaf(node: Expression) -> Expression:
        if isinstance(node, Attribute | Moment):
            if isinstance(node, Attribute) and node.missing_in:
                raise UnsuitableError("some types lack an attribute")
            return replace(node, element=Element.CURRENT) if node.variable == variable else node
        assert isinstance(node, Constant)  # what else there is, is of closures
        return node

    return replaced(condition, leaf)


def _same(test: EquivalenceTest, own: Component, first: Component | None) -> list[Expression]:
    """That an event has the key of the first, or the one that the test names; a null is no key."""
    mine = _attribute(test, own, Element.CURRENT)
    if test.constant is not None:
        return [Apply(BUILT_IN["="], (mine, test.constant), BOOLEAN, NOWHERE)]
    if first is None:
        absent = Apply(BUILT_IN["is null"], (mine,), BOOLEAN, NOWHERE)
        return [Apply(BUILT_IN["not"], (absent,), BOOLEAN, NOWHERE)]
    return [Apply(BUILT_IN["="], (mine, _attribute(test, first, Element.SINGLE)), BOOLEAN, NOWHERE)]


def _attribute(test: EquivalenceTest, component: Component, element: Element) -> Attribute:
    columns = {}
    for one in component.types:
        column = one.column(test.attribute)
        if column is None:
            raise UnsuitableError("some types lack an attribute")
        columns[column.name] = column
    if len(columns) != 1:
        raise UnsuitableError("a key is in several columns")
    (column,) = columns.values()
    if column.type.kind is Kind.FLOAT:
        raise UnsuitableError("keys are doubles, among which there may be what is no number")
    return Attribute(component.variable, element, test.attribute, column.name, column.type, frozenset(), NOWHERE)
