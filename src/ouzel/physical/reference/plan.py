"""The reference matcher as an engine: it offers every query, and takes all events at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ouzel.logical.expressions import Expression
from ouzel.logical.partition_stream import partition_stream
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Counters, Engine, Explained, Found, Offer, Takes, Tell
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.evaluate import evaluate
from ouzel.physical.reference.events import Event, Stream, Values
from ouzel.physical.reference.explained import explained
from ouzel.physical.reference.match import Match
from ouzel.physical.reference.matcher import find_matches
from ouzel.physical.reference.partitions import first_key, join
from ouzel.physical.reference.rows import find_rows
from ouzel.physical.reference.table import match_table
from ouzel.physical.reference.totals import totals_of
from ouzel.physical.statistics import Statistics

# What an event takes, in nanoseconds: it is an object of Python's, and so is every run that it meets.
COST = 100_000.0
# So many times it is told how far the work is.
TIMES = 500


@dataclass(frozen=True)
class ReferencePlan:
    """Any query, straight from the language's definition."""

    query: BoundQuery
    takes = Takes.ALL_AT_ONCE

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The one query."""
        return (self.query,)

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> ReferenceMatching:  # noqa: ARG002
        """Begin to match; there is one thread, and all events come at once."""
        return ReferenceMatching(self, limits)

    def explain(self, statistics: Statistics | None = None) -> Explained:  # noqa: ARG002 - it has no choice
        """Where the definition decides what."""
        return explained(self.query)


class ReferenceMatching:
    """A reference plan at work; as it has all events at once, there is nothing to remember."""

    def __init__(self, plan: ReferencePlan, limits: Limits) -> None:
        """Begin with nothing."""
        self.query = plan.query
        self.counters = Counters()
        self.bounds = Bounds(limits, self.counters)
        self.open_runs = 0
        self.waiting = None

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:  # noqa: ARG002
        """Find all matches; RETURN is computed match by match."""
        stream = _stream(self.query, events)
        if self.query.attributes is not None:
            return (find_rows(self.query, events, stream, self.bounds),)
        matches = self._matches(stream, _told(tell, len(stream.events)))

        def compute(expression: Expression) -> list[Any]:
            return [evaluate(expression, match.bindings, stream) for match in matches]

        totals = partial(totals_of, self.query, matches, stream)
        return (Found(self.query, match_table(self.query, matches), events, compute, totals),)

    def _matches(self, stream: Stream, told: Callable[[int], None]) -> list[Match]:
        """The matches, partition by partition where these are apart."""
        query = self.query
        by, _reason = partition_stream(query)
        if not by:
            return find_matches(query, stream, told, self.bounds)
        tests, start = query.equivalences, first_key(query.equivalences)
        parts: dict[Any, list[Event]] = {}
        for event in stream.events:
            key = join(start, event, tests, stream)
            if key is not None:
                parts.setdefault(key, []).append(event)
        matches: list[Match] = []
        for events in parts.values():
            matches += find_matches(query, Stream(events, stream.values), told, self.bounds)
        return sorted(matches, key=lambda match: match.order(stream, query.components))

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from nothing."""


def _stream(query: BoundQuery, events: EventTable) -> Stream:
    """The stream that a query reads: the primitive events if it mentions any, and the composites it mentions."""
    mentioned = {name for component in query.components for name in component.type_names}
    composites = {t.name for t in query.schema.types.values() if t.composite}
    reads_primitive = bool(mentioned - composites)
    unread = composites - mentioned
    read = [name in mentioned or (reads_primitive and name not in unread) for name in events.types.names]
    codes, names = events.types.codes.tolist(), events.types.names
    columns = (events.starts, events.ends, events.start_times, events.end_times)
    starts, ends, start_times, end_times = (column.tolist() for column in columns)
    found = [
        Event(row, names[codes[row]], starts[row], ends[row], start_times[row], end_times[row])
        for row in events.order
        if read[codes[row]]
    ]
    return Stream(found, Values(events.table))


def _told(tell: Tell | None, total: int) -> Callable[[int], None]:
    """Takes the number of events as they are done, and tells now and then which part that is."""
    if tell is None:
        return lambda _events: None
    done = said = 0

    def told(events: int) -> None:
        nonlocal done, said
        done += events
        if (done - said) * TIMES >= total:
            said = done
            tell(min(1.0, done / total))

    return told


def _offer(query: BoundQuery) -> Offer:
    return Offer(COST, partial(ReferencePlan, query))


REFERENCE = Engine(
    "reference", "every query, slowly, straight from the language's definition", COST, _offer, runs_automata=True
)
