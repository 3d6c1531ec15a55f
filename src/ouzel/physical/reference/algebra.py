"""The reference interpreter of the algebra: section 2 of the Cayuga paper, literally.

A stream is a set of events; every operator is a function from sets to sets, straight from its definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ouzel.errors import FunctionError
from ouzel.logical.algebra.streams import (
    Base,
    Extend,
    Fold,
    Hole,
    Next,
    Rename,
    Select,
    Stream,
    Unary,
    Union,
    Where,
)
from ouzel.logical.expressions import Apply, Attribute, Constant, Duration, Element, Expression
from ouzel.logical.schema import INFERRED, Schema
from ouzel.logical.times import told_event
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.events import Event, Values

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Tuple:
    """⟨a; t0, t1⟩: an event of the algebra, its values by attribute, and its interval.

    `start` and `end` order events; `start_time` and `end_time` are the times alone.
    """

    data: Data
    start: int
    end: int
    start_time: int
    end_time: int

    @property
    def identity(self) -> tuple[Any, ...]:
        """What is equal in equal events: all attributes, by name, start and end."""
        return (self.start, self.end, *((name, _same(self.data[name])) for name in sorted(self.data)))

    @property
    def duration(self) -> int:
        """t1 - t0 + 1."""
        return self.end_time - self.start_time + 1

    def having(self, data: Data) -> Tuple:
        """The same interval with other values."""
        return Tuple(data, self.start, self.end, self.start_time, self.end_time)

    def followed_by(self, other: Tuple) -> Tuple:
        """The concatenation of 2.2: later values overwrite, nulls too."""
        return Tuple({**self.data, **other.data}, self.start, other.end, self.start_time, other.end_time)


def _same(value: Any) -> Any:
    """What is equal for equal values, of which none is unlike itself: null is null, and no number is no number."""
    if isinstance(value, float):
        return ("no number",) if value != value else (value,)  # noqa: PLR0124
    return value if value is None or isinstance(value, str | bytes | int | Decimal) else repr(value)


def _one_zero(value: Any) -> Any:
    """A value, but 0.0 for -0.0: of equal ones there is one, whichever came first."""
    return value + 0.0 if isinstance(value, float) else value


class Interpreter:
    """Evaluates expressions over some events."""

    def __init__(self, events: Sequence[Event], values: Values, schema: Schema, bounds: Bounds) -> None:
        """Of a table; `bounds` say how many there may be."""
        self.events, self.values, self.schema, self.bounds = events, values, schema, bounds

    def stream(self, stream: Stream) -> list[Tuple]:
        """The events of a stream, each once."""
        match stream:
            case Base():
                return _set(self._base(stream))
            case Union(left, right):
                return _set([*self.stream(left), *self.stream(right)])
            case Next(left, right, where):
                return _set(both for _one, both in self._next(self.stream(left), self.stream(right), where))
            case Fold():
                return self._fold(stream)
            case Hole():
                raise AssertionError("a fold applies its step")
        made = (self._unary(stream, one, None) for one in self.stream(stream.of))
        return _set(one for one in made if one is not None)

    def _base(self, stream: Base) -> Iterator[Tuple]:
        """The events of some types; what a type does not have is null."""
        types = {one.name: one.attributes or {} for one in stream.types}
        columns = [(one.name, column.name) for one, column in zip(stream.attributes, stream.columns, strict=True)]
        composites = {one.name for one in self.schema.types.values() if one.composite}
        for event in self.events:
            own = types.get(event.type) if event.type in composites else types.get(event.type, types.get(INFERRED))
            if own is not None:
                data = {
                    name: _one_zero(self.values.column(column)[event.row]) if name in own else None
                    for name, column in columns
                }
                yield Tuple(data, event.start, event.end, event.start_time, event.end_time)

    # ---- 2.1 and 2.4: σ π ρ α ----------------------------------------------------------------------------

    def _unary(self, stream: Unary, one: Tuple, last: Tuple | None) -> Tuple | None:
        """What an operator makes of an event, if anything; `last` is the event before, in a step."""
        match stream:
            case Where(_of, condition):
                return one if self._value(condition, one, last) is True else None
            case Select(_of, attributes):
                return one.having({attribute.name: one.data[attribute.name] for attribute in attributes})
            case Rename(of, attributes):
                names = zip(attributes, of.attributes, strict=True)
                return one.having({new.name: one.data[old.name] for new, old in names})
            case Extend(_of, values):
                made = {name: _one_zero(self._value(value, one, last)) for name, value in values}
                return one.having({**one.data, **made})

    # ---- 2.2: ;θ -----------------------------------------------------------------------------------------

    def _next(
        self, lefts: Sequence[Tuple], rights: Sequence[Tuple], where: Expression | None
    ) -> Iterator[tuple[Tuple, Tuple]]:
        """Each event on the left, and its concatenations with those on the right that end first of all that do."""
        rights = sorted(rights, key=lambda other: other.end)
        for one in lefts:
            first: int | None = None
            for other in rights:
                if first is not None and other.end > first:
                    break
                if one.end < other.start and self._holds(where, one.followed_by(other), one):
                    first = other.end
                    yield one, one.followed_by(other)

    def _holds(self, where: Expression | None, both: Tuple, last: Tuple) -> bool:
        return where is None or self._value(where, both, last) is True

    # ---- 2.3: μ ------------------------------------------------------------------------------------------

    def _fold(self, stream: Fold) -> list[Tuple]:
        """The union of S[1], S[2], …: each is what the step makes of the one before ;θ the right operand.

        The first is of the left operand as it is (the paper's Figure 5): θ is asked from the first iteration on.
        """
        rights, names = self.stream(stream.right), [one.name for one in stream.attributes]
        latest, found = self.stream(stream.left), list[Tuple]()
        while latest:
            made = [(self._step(stream.step, both, one)) for one, both in self._next(latest, rights, stream.where)]
            kept = _set(one.having({name: one.data[name] for name in names}) for one in made if one is not None)
            latest = self.bounds.kept(kept)
            found += latest
        return _set(found)

    def _step(self, step: Stream, both: Tuple, last: Tuple) -> Tuple | None:
        if isinstance(step, Hole):
            return both
        assert isinstance(step, Unary)
        within = self._step(step.of, both, last)
        return None if within is None else self._unary(step, within, last)

    # ---- formulas ----------------------------------------------------------------------------------------

    def _value(self, expression: Expression, one: Tuple, last: Tuple | None) -> Any:
        match expression:
            case Constant(value):
                return value
            case Duration():
                return one.duration
            case Attribute(element=Element.PREVIOUS, column=name):
                assert last is not None
                return last.data[name]
            case Attribute(column=name):
                return one.data[name]
            case Apply(function, arguments):
                values = [self._value(argument, one, last) for argument in arguments]
                try:
                    return function(*values)
                except FunctionError as error:
                    told = told_event("the event", "", one.end_time, self.schema.time.arrow)
                    raise error.about(told) from error.__cause__
        raise AssertionError(f"no formula of the algebra has {expression}")


def _set(events: Iterable[Tuple]) -> list[Tuple]:
    """Each of equal events once."""
    return list({event.identity: event for event in events}.values())
