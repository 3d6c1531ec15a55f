"""What may follow what in a pattern, and what lies between, read off from what is left of it.

Behind a component, what is left of a pattern is a list of patterns to go through, one after the other.  A run goes
on with a component that stands first in it, or first behind what can be passed without an event: negative
components, and closures that take nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ouzel.logical.pattern import Component, Disjunction, Pattern, Sequence, Step

Rest = tuple[Pattern, ...]


@dataclass(frozen=True)
class Crossing:
    """What a run passes without an event: negative components, and closures that take nothing."""

    negatives: tuple[Component, ...] = ()
    skipped: tuple[Component, ...] = ()


class Steps:
    """Where a run may start, how it goes on, and where it may end."""

    def __init__(self, pattern: Pattern) -> None:
        """Find what is left of a pattern behind each of its components."""
        left = dict(_left(pattern, ()))
        self.starts = list(_next((pattern,), Crossing()))
        self._after = {variable: list(_next(rest, Crossing())) for variable, rest in left.items()}
        self._ends = {variable: list(_through(rest, Crossing())) for variable, rest in left.items()}

    def after(self, component: Component) -> list[tuple[Crossing, Component]]:
        """The components that may come next, and what lies between."""
        return self._after[component.variable]

    def ends_at(self, component: Component) -> list[Crossing]:
        """What lies between a component and the end of the pattern, if it can be the last to bind."""
        return self._ends[component.variable]


def _left(pattern: Pattern, rest: Rest) -> Iterator[tuple[str, Rest]]:
    """What is left behind each component of a pattern, behind which the rest is left."""
    match pattern:
        case Step(component):
            yield component.variable, rest
        case Sequence(items):
            for number, item in enumerate(items):
                yield from _left(item, items[number + 1 :] + rest)
        case Disjunction(items):
            for item in items:
                yield from _left(item, rest)
        case _:
            raise TypeError("a conjunction has no order of its own")


def _next(rest: Rest, passed: Crossing) -> Iterator[tuple[Crossing, Component]]:
    """The components that can bind the next event, each with all that is passed on the way."""
    if not rest:
        return
    if isinstance(rest[0], Step) and not rest[0].component.negative:
        yield passed, rest[0].component
    for further, crossing in _opened(rest, passed):
        yield from _next(further, crossing)


def _through(rest: Rest, passed: Crossing) -> Iterator[Crossing]:
    """The ways to the end of the pattern without an event."""
    if not rest:
        yield passed
        return
    for further, crossing in _opened(rest, passed):
        yield from _through(further, crossing)


def _opened(rest: Rest, passed: Crossing) -> Iterator[tuple[Rest, Crossing]]:
    """What is left once its first pattern is taken apart, or passed without an event."""
    first, rest = rest[0], rest[1:]
    match first:
        case Sequence(items):
            yield items + rest, passed
        case Disjunction(items):
            for item in items:
                yield (item, *rest), passed
        case Step(component) if component.negative:
            yield rest, Crossing((*passed.negatives, component), passed.skipped)
        case Step(component) if component.least == 0:
            yield rest, Crossing(passed.negatives, (*passed.skipped, component))
