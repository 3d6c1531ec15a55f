"""The construction of register automata (AFA 2.2), half done: ways from one event to the next.

A way is an arc that consumes an event, and arcs behind it that consume nothing, made one: what these ask and set
is said of the register as it was before.  So the automaton at work has no ε-arcs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ouzel.logical.automata.registers import ALWAYS, EVENT, Arc, Consumes, RegisterAutomaton
from ouzel.logical.expressions import Apply, Attribute, Constant, Element, Expression, Moment, walk
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.values import BOOLEAN, INTEGER
from ouzel.physical.automaton.substitution import MOST_NODES, NOWHERE, register_of, replaced
from ouzel.physical.contract import UnsuitableError

MOST_WAYS = 2_000


@dataclass(frozen=True)
class Asked:
    """A condition of a way: it holds when one of its literals is true."""

    literals: tuple[Expression, ...]
    text: str = field(compare=False)


@dataclass(frozen=True)
class Way:
    """A way that leads to a state: what it asks of the event and the register before, and what fields become."""

    target: str
    values: Mapping[str, Expression]
    arcs: tuple[Arc, ...] = ()
    asks: tuple[Asked, ...] = ()
    silent: tuple[Arc, ...] = ()
    """Its arcs since the event was consumed, or before that."""
    closing: Arc | None = None
    """The arc that is taken at the end of the window, if it has one: judged at the event, like all others."""


class Ways:
    """Finds the ways of an automaton."""

    def __init__(self, automaton: RegisterAutomaton, *, is_open: bool = False) -> None:
        """Of an automaton; where arcs may still come and go, others tell when they live: it `is_open`."""
        self.automaton = automaton
        self.fields = {one.name: one for one in automaton.register}
        self.count, self.is_open = 0, is_open

    def starting(self) -> list[Way]:
        """The ways that begin a computation; before the first event, the register has its first values."""
        first = Way(self.automaton.start, {name: one.constant for name, one in self.fields.items()})
        return [way for before in self._silent(first) for way in self._consuming(before)]

    def leaving(self, state: str) -> list[Way]:
        """The ways that lead on from a state."""
        return list(self._consuming(Way(state, {})))

    def _consuming(self, before: Way) -> Iterator[Way]:
        for arc in self.automaton.leaving(before.target, Consumes.EVENT):
            for way in self._silent(self._through(arc, before)):
                yield way
                yield from self._closing(way)

    def _closing(self, way: Way) -> Iterator[Way]:
        """What leads on from a way at the end of the window, if no event comes before that (AFA, Appendix E)."""
        for arc in self.automaton.leaving(way.target, Consumes.END_OF_WINDOW):
            for closed in self._silent(replace(self._through(arc, way), closing=arc)):
                # where arcs come and go, other states may become final until then
                if self.is_open or closed.target in self.automaton.final_at_end:
                    yield closed

    def _silent(self, way: Way) -> Iterator[Way]:
        """A way, and what leads on from it without an event."""
        self.count += 1
        if self.count > MOST_WAYS:
            raise UnsuitableError(f"its arcs that consume nothing make more than {MOST_WAYS:,} ways")
        yield way
        for arc in self.automaton.leaving(way.target, Consumes.NOTHING):
            if any(arc is one for one in way.silent):
                raise UnsuitableError("its arcs that consume nothing form a cycle")
            yield from self._silent(self._through(arc, way))

    def _through(self, arc: Arc, way: Way) -> Way:
        """A way that goes on through an arc."""
        asked = tuple(
            Asked(tuple(self._said(one, way) for one in conjunct.literals), conjunct.text)
            for conjunct in arc.fence
        )
        values = {name: self._said(value, way) for name, value in arc.sets}
        # at the end of the window, others tell
        told = self.is_open or arc.lives == ALWAYS or arc.consumes is Consumes.END_OF_WINDOW
        asked = (*way.asks, *(() if told else (_lives(arc.lives),)), *asked)
        silent = (*way.silent, arc) if arc.consumes is Consumes.NOTHING else ()
        return Way(arc.target, {**way.values, **values}, (*way.arcs, arc), asked, silent, way.closing)

    def _said(self, expression: Expression, way: Way) -> Expression:
        """What an arc says, of the event at hand and the register before the way."""

        def leaf(node: Expression) -> Expression:
            if isinstance(node, Attribute | Moment) and node.variable == EVENT:
                return replace(node, element=Element.CURRENT)
            if isinstance(node, Attribute):
                known = way.values.get(node.variable)
                return register_of(node.variable, self.fields[node.variable].attribute) if known is None else known
            return node

        found = replaced(expression, leaf)
        if sum(1 for _node in walk(found)) > MOST_NODES:
            raise UnsuitableError("its arcs that consume nothing compute too large an expression")
        return found


def _lives(lives: tuple[tuple[int, int], ...]) -> Asked:
    """An arc serves the events of its lives (AFA 2.3): what tells that of one at hand."""
    tests = tuple(
        Apply(BUILT_IN["and"], (since_time(since), _before(until)), BOOLEAN, NOWHERE) for since, until in lives
    )
    texts = (f"end(e) in [{since}, {until})" for since, until in lives)
    return Asked(tests or (Constant(False, BOOLEAN, NOWHERE),), " OR ".join(texts) or "FALSE")


_TIME = Moment("end", EVENT, Element.CURRENT, INTEGER, NOWHERE)


def since_time(time: int) -> Expression:
    """Whether the event at hand is of a time or later."""
    return Apply(BUILT_IN[">="], (_TIME, Constant(time, INTEGER, NOWHERE)), BOOLEAN, NOWHERE)


def _before(time: int) -> Expression:
    return Apply(BUILT_IN["<"], (_TIME, Constant(time, INTEGER, NOWHERE)), BOOLEAN, NOWHERE)
