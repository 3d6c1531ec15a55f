"""Negation filters matches (SASE 2.2.2): an event in a gap that satisfies every conjunct refutes the match."""

from __future__ import annotations

from ouzel.logical.query import BoundQuery
from ouzel.physical.reference.evaluate import holds
from ouzel.physical.reference.events import Event, Stream
from ouzel.physical.reference.match import Gap, Match, within
from ouzel.physical.reference.partitions import key_of, partition


def is_refuted(match: Match, query: BoundQuery, stream: Stream) -> bool:
    """Whether something happened that must not happen."""
    if not match.gaps:
        return False
    key = key_of(match.events, query.equivalences, stream)
    part = partition(key, stream, query.equivalences)
    return any(
        _refutes(event, gap, match, query, stream) and _lies_in(event, gap, match, query, part)
        for gap in match.gaps
        for event in part.events
    )


def _lies_in(event: Event, gap: Gap, match: Match, query: BoundQuery, part: Stream) -> bool:
    """Whether an event lies strictly between the gap's neighbours; at the pattern's edges the window bounds it."""
    if event in match.events:
        return False
    first = match.opens(query.window)
    if gap.around:
        return within(query.window, event, match.last, part) and within(query.window, first, event, part)
    if gap.after is None and not within(query.window, event, match.last, part):
        return False
    if gap.before is None and not within(query.window, first, event, part):
        return False
    return (gap.after is None or gap.after.precedes(event)) and (gap.before is None or event.precedes(gap.before))


def _refutes(event: Event, gap: Gap, match: Match, query: BoundQuery, stream: Stream) -> bool:
    component = gap.component
    if event.type not in component.type_names:
        return False
    bindings = {**match.bindings, component.variable: event}
    return all(
        holds(conjunct, bindings, stream) for conjunct in query.conjuncts if conjunct.component is component
    )
