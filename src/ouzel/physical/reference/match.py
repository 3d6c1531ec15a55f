"""What the reference matcher finds, before negation and output: events bound to variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ouzel.logical.pattern import Component
from ouzel.logical.window import Window
from ouzel.physical.reference.evaluate import Bindings, bound_events
from ouzel.physical.reference.events import Event, Stream


@dataclass(frozen=True)
class Gap:
    """Where an event would refute a match: between `after` and `before`, or around the match if `around`.

    None stands for the start or the end of the pattern.
    """

    component: Component
    after: Event | None
    before: Event | None
    around: bool = False


@dataclass(frozen=True)
class Match:
    """A match: what the variables are bound to, and where negation has to look."""

    bindings: Bindings
    gaps: tuple[Gap, ...] = ()

    @property
    def events(self) -> list[Event]:
        """All events of the match."""
        return list(bound_events(self.bindings))

    @property
    def first(self) -> Event:
        """The event that starts earliest."""
        return min(self.events, key=lambda event: event.start)

    def opens(self, window: Window | None) -> Event:
        """The event from which a window reaches: the first, or, if it counts events, that of least position."""
        if window is None or not window.counts_events:
            return self.first
        return min(self.events, key=lambda event: event.end)

    @property
    def last(self) -> Event:
        """The event that ends latest."""
        return max(self.events, key=lambda event: event.end)

    @property
    def identity(self) -> frozenset[tuple[str, int, Event]]:
        """Two matches that bind the same events to the same variables are one."""
        return frozenset(
            (variable, index, event)
            for variable, bound in self.bindings.items()
            for index, event in enumerate(bound if isinstance(bound, tuple) else (bound,))
            if event is not None
        )

    def order(self, stream: Stream, components: Sequence[Component]) -> tuple[Any, ...]:
        """Results come by end, then start, then the places of their events, then which component has which."""
        bound = (self.bindings.get(component.variable) for component in components)
        chains = [one if isinstance(one, tuple) else () if one is None else (one,) for one in bound]
        return (
            self.last.end,
            self.first.start,
            self.places(stream),
            [[stream.places[event] for event in chain] for chain in chains],
        )

    def places(self, stream: Stream) -> list[int]:
        """The places of its events in the stream, in order."""
        return sorted(stream.places[event] for event in self.events)


def within(window: Window | None, first: Event, last: Event, partition: Stream) -> bool:
    """Whether two events are near enough for one match; positions count in the partition."""
    if window is None:
        return True
    if window.counts_events:
        return partition.rank(last) - partition.rank(first) < window.limit
    return last.end_time - first.start_time < window.limit


def remove_duplicates(matches: Sequence[Match]) -> list[Match]:
    """One of each."""
    return list({match.identity: match for match in reversed(matches)}.values())[::-1]
