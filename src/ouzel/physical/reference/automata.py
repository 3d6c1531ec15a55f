"""The reference interpreter of register automata: the definitions of AFA 2.2, literally.

A computation is a sequence of arcs.  Here all of them are followed, moment by moment, each by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ouzel.errors import FunctionError
from ouzel.logical.automata.registers import EVENT, Arc, Consumes
from ouzel.logical.conjuncts import Conjunct
from ouzel.logical.expressions import Apply, Attribute, Constant, Expression, Moment, references
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import told_event
from ouzel.physical.limit_errors import LimitError
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.events import Event, Stream
from ouzel.physical.reference.partitions import first_key, join

MOST_SILENT, MOST_MADE = 10_000, 100_000
"""So many arcs that consume nothing may follow each other, and so many computations come of one by them."""

Register = Mapping[str, Any]


@dataclass(frozen=True)
class Computation:
    """(α, q, r): where a computation is, its register, the first event that it consumed and the last."""

    state: str
    register: Register
    first: Event
    last: Event
    silent: int = 0

    @property
    def span(self) -> tuple[Any, Any, int, int]:
        """When it starts and ends, as events are ordered, and in time."""
        return self.first.start, self.last.end, self.first.start_time, self.last.end_time


@dataclass(frozen=True)
class Accepted:
    """The register of an accepting computation, and when that starts and ends."""

    register: Register
    span: tuple[Any, Any, int, int]


class Computations:
    """Follows all computations of an automaton over some events."""

    def __init__(self, query: BoundQuery, stream: Stream, bounds: Bounds) -> None:
        """Of a query; `bounds` say how many there may be at once."""
        assert query.automaton is not None
        self.query, self.automaton, self.stream, self.bounds = query, query.automaton, stream, bounds
        self.window = query.window.limit if query.window else None

    def accepted(self) -> list[Accepted]:
        """All accepting computations, partition by partition."""
        tests = self.query.equivalences
        parts: dict[Any, list[Event]] = {}
        for event in self.stream.events:
            if self.automaton.types is not None and event.type not in self.automaton.types:
                continue
            key = join(first_key(tests), event, tests, self.stream)
            if key is not None and all(value == value for value in key):  # noqa: PLR0124 - NaN is in none
                parts.setdefault(key, []).append(event)
        return [one for events in parts.values() for one in self._of_partition(events)]

    def _of_partition(self, events: Sequence[Event]) -> Iterator[Accepted]:
        runs: list[Computation] = []
        for moment in Stream(events, self.stream.values).simultaneous():
            alive = [run for run in runs if not self._is_over(run, moment[0].end_time)]
            yield from self._at_end([run for run in runs if self._is_over(run, moment[0].end_time)])
            runs = self.bounds.kept([made for event in moment for made in self._consume(alive, event)])
            time = moment[0].end_time
            yield from (
                Accepted(run.register, run.span) for run in runs if self.automaton.accepts(run.state, time)
            )
        yield from self._at_end(runs)

    def _is_over(self, run: Computation, time: int) -> bool:
        return self.window is not None and run.first.start_time + self.window <= time

    # ---- arcs --------------------------------------------------------------------------------------------

    def _consume(self, runs: Iterable[Computation], event: Event) -> Iterator[Computation]:
        """The computations that consume an event: of those that are there, and those that it begins."""
        first = {one.name: one.first for one in self.automaton.register}
        begun = [Computation(self.automaton.start, first, event, event)]
        for run in (*runs, *begun, *self._silent(begun)):
            for arc in self.automaton.leaving(run.state, Consumes.EVENT):
                register = self._taken(arc, run.register, event, event.end_time)
                if register is not None:
                    made = Computation(arc.target, register, run.first, event)
                    yield made
                    yield from self._silent([made])

    def _silent(self, runs: Iterable[Computation]) -> Iterator[Computation]:
        """What comes of computations by arcs that consume nothing, judged at the event consumed last."""
        waiting, count = list(runs), 0
        while waiting:
            run = waiting.pop()
            for arc in self.automaton.leaving(run.state, Consumes.NOTHING):
                register = self._taken(arc, run.register, run.last, run.last.end_time)
                if register is None:
                    continue
                made = Computation(arc.target, register, run.first, run.last, run.silent + 1)
                if made.silent > MOST_SILENT:
                    raise LimitError(
                        f"more than {MOST_SILENT:,} arcs that consume nothing, one after the other",
                        f"a condition that ends the cycle of arc '{arc.id}'",
                    )
                count += 1
                if count > MOST_MADE:
                    raise LimitError(
                        f"more than {MOST_MADE:,} computations by arcs that consume nothing, at one event",
                        f"conditions that let fewer through cycles such as that of arc '{arc.id}'",
                    )
                waiting.append(made)
                yield made

    def _at_end(self, runs: Iterable[Computation]) -> Iterator[Accepted]:
        """What is accepted when time reaches the end of the windows of computations: each takes one arc then."""
        if self.window is None:
            return
        for run in runs:
            end = run.first.start_time + self.window
            for arc in self.automaton.leaving(run.state, Consumes.END_OF_WINDOW):
                register = self._taken(arc, run.register, run.last, end)
                if register is None:
                    continue
                made = Computation(arc.target, register, run.first, run.last)
                for one in (made, *self._silent([made])):
                    if self.automaton.accepts_at_end(one.state, end):
                        # where ranks order events, none is of that time
                        rank = end if run.last.end == run.last.end_time else run.last.end
                        yield Accepted(one.register, (run.first.start, rank, run.first.start_time, end))

    def _taken(self, arc: Arc, register: Register, event: Event, time: int) -> Register | None:
        """The register behind an arc, None if its fence does not let through."""
        if not arc.serves(time) or not all(self._holds(one, register, event) for one in arc.fence):
            return None
        return {**register, **{name: self._value(value, register, event) for name, value in arc.sets}}

    # ---- fences and transfers ----------------------------------------------------------------------------

    def _holds(self, conjunct: Conjunct, register: Register, event: Event) -> bool:
        return any(self._is_true(literal, register, event) for literal in conjunct.literals)

    def _is_true(self, literal: Expression, register: Register, event: Event) -> bool:
        """A literal is true if it says so, or if it mentions an attribute that the event's type does not have."""
        lacking = (node.missing_in for node in references(literal) if isinstance(node, Attribute))
        if any(event.type in types for types in lacking):
            return True
        return self._value(literal, register, event) is True

    def _value(self, expression: Expression, register: Register, event: Event) -> Any:
        match expression:
            case Constant(value):
                return value
            case Attribute(variable=variable, column=column):
                return self.stream.value(event, column) if variable == EVENT else register[variable]
            case Moment():
                return event.end_time
            case Apply(function, arguments):
                values = [self._value(argument, register, event) for argument in arguments]
                try:
                    return function(*values)
                except FunctionError as error:
                    time = self.query.schema.time.arrow
                    raise error.about(told_event(EVENT, event.type, event.end_time, time)) from error.__cause__
        raise AssertionError(f"no arc has {expression}")
