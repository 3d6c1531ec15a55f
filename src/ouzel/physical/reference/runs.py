"""Runs: section 3 of the language, event by event.

A run binds events to components from left to right; at every event it may take, begin or ignore, as the
strategy says.  Patterns of sequences, alternatives and SASE+ closures, under all four strategies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Place
from ouzel.logical.pattern import Binds, Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.evaluate import Bindings, holds
from ouzel.physical.reference.events import Event, Stream
from ouzel.physical.reference.match import Gap, Match, within
from ouzel.physical.reference.steps import Crossing, Steps


@dataclass(frozen=True)
class Run:
    """A partial match: what is bound, the component that bound last, the first and last events."""

    bindings: Bindings
    component: Component
    first: Event
    last: Event
    gaps: tuple[Gap, ...]

    @property
    def taken(self) -> int:
        """How many events the last component has bound."""
        bound = self.bindings[self.component.variable]
        return len(bound) if isinstance(bound, tuple) else 1

    @property
    def is_open(self) -> bool:
        """Whether the last component is a closure that has room for more."""
        most = self.component.most
        return self.component.binds is Binds.CLOSURE and (most is None or self.taken < most)


class RunMatcher:
    """Runs one query over one partition of a stream."""

    def __init__(self, query: BoundQuery, stream: Stream, part: Stream) -> None:
        """Build the automaton; `part` are the events of the stream that the partition's runs can bind."""
        self.query = query
        self.stream = stream
        self.part = part
        self.steps = Steps(query.pattern)
        self._conjuncts = {
            (component.variable, place): [
                conjunct
                for conjunct in query.conjuncts
                if conjunct.component is component and conjunct.place is place
            ]
            for component in query.components
            for place in Place
        }

    def matches(self, told: Callable[[int], None], bounds: Bounds) -> Iterator[Match]:
        """All matches, before negation; `told` is given the number of events as they are done."""
        runs: list[Run] = []
        # strict contiguity alone minds the events of other partitions: they end its runs
        strict = self.query.strategy is Strategy.STRICT_CONTIGUITY
        for group in (self.stream if strict else self.part).simultaneous():
            told(len(group))
            bound: list[Run] = []
            kept: list[Run] = []
            for run in runs:
                if self._is_expired(run, group[0]):
                    continue
                moves = [(self._take(run, event), self._begin(run, event)) for event in group]
                bound += [fork for taken, begun in moves for fork in taken + begun]
                if all(self._may_ignore(run, taken, begun) for taken, begun in moves):
                    kept.append(run)
            bound += [run for event in group for run in self._start(event)]
            for run in bound:
                yield from self._accept(run)
            runs = bounds.kept(kept + bound)

    # ---- the four moves ----------------------------------------------------------------------------------

    def _start(self, event: Event) -> list[Run]:
        return [
            run
            for crossing, component in self.steps.starts
            for run in self._bind(None, crossing, component, event)
        ]

    def _take(self, run: Run, event: Event) -> list[Run]:
        """Take the event into the open closure."""
        component = run.component
        if not run.is_open or not run.last.precedes(event) or not self._fits(component, run.first, event):
            return []
        elements = run.bindings[component.variable]
        assert isinstance(elements, tuple)
        bindings = {**run.bindings, component.variable: (*elements, event)}
        if not self._all_hold(component, Place.TAKE, bindings, component.variable):
            return []
        return [replace(run, bindings=bindings, last=event)]

    def _begin(self, run: Run, event: Event) -> list[Run]:
        """Begin a next component with the event, if the last one is complete."""
        if not run.last.precedes(event) or not self._is_complete(run):
            return []
        return [
            begun
            for crossing, component in self.steps.after(run.component)
            for begun in self._bind(run, crossing, component, event)
        ]

    def _may_ignore(self, run: Run, taken: list[Run], begun: list[Run]) -> bool:
        match self.query.strategy:
            case Strategy.STRICT_CONTIGUITY | Strategy.PARTITION_CONTIGUITY:
                return False
            case Strategy.SKIP_TILL_NEXT_MATCH:
                return not taken if run.is_open else not begun
        return True

    # ---- conditions --------------------------------------------------------------------------------------

    def _fits(self, component: Component, first: Event, event: Event) -> bool:
        """Whether an event has the type, partition and time to be bound in a run that began with `first`."""
        inside = event.type in component.type_names and event in self.part.places
        return inside and within(self.query.window, first, event, self.part)

    def _bind(self, run: Run | None, crossing: Crossing, component: Component, event: Event) -> list[Run]:
        """Bind a component's first event, having crossed negative and empty components on the way."""
        first = run.first if run else event
        if not self._fits(component, first, event):
            return []
        skipped = self._skip(run.bindings if run else {}, crossing)
        if skipped is None:
            return []
        bindings = {**skipped, component.variable: (event,) if component.is_array else event}
        for place in (Place.BEGIN, Place.TAKE):
            if not self._all_hold(component, place, bindings, component.variable):
                return []
        gaps = tuple(Gap(negative, run.last if run else None, event) for negative in crossing.negatives)
        return [Run(bindings, component, first, event, (run.gaps if run else ()) + gaps)]

    def _skip(self, bindings: Bindings, crossing: Crossing) -> Bindings | None:
        """Leave closures empty, if their proceed conditions allow it."""
        bindings = dict(bindings)
        for component in crossing.skipped:
            bindings[component.variable] = () if component.is_array else None
            if not self._all_hold(component, Place.PROCEED, bindings):
                return None
        return bindings

    def _is_complete(self, run: Run) -> bool:
        enough = run.taken >= run.component.least
        return enough and self._all_hold(run.component, Place.PROCEED, run.bindings)

    def _accept(self, run: Run) -> Iterator[Match]:
        """A run is a match when its last component is complete with the event just bound."""
        for crossing in self.steps.ends_at(run.component):
            if not self._is_complete(run):
                continue
            bindings = self._skip(run.bindings, crossing)
            if bindings is not None:
                gaps = tuple(Gap(negative, run.last, None) for negative in crossing.negatives)
                yield Match(bindings, run.gaps + gaps)

    def _all_hold(self, component: Component, place: Place, bindings: Bindings, taken: str | None = None) -> bool:
        conjuncts = self._conjuncts[component.variable, place]
        return all(holds(conjunct, bindings, self.stream, taken) for conjunct in conjuncts)

    def _is_expired(self, run: Run, event: Event) -> bool:
        """Whether no event from now on can be near enough; only to save time."""
        window = self.query.window
        if window is None or window.counts_events:
            return False
        return event.end_time - run.first.start_time >= window.limit
