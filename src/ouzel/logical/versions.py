"""Stage 2, a query that takes the place of another: which components stay the same, and since when each is there.

A component that is new binds no event from before it came, and none from before refutes as it: so components have
times from which on they hold, as arcs have (AFA 2.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ouzel.errors import Span
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Apply, Constant, Element, Moment, walk
from ouzel.logical.functions import BUILT_IN
from ouzel.logical.pattern import (
    Component,
    Pattern,
    Sequence,
    components,
    edge_negatives,
    may_be_empty,
    negatives_around,
)
from ouzel.logical.schema import TimeColumn
from ouzel.logical.values import BOOLEAN

if TYPE_CHECKING:
    from ouzel.logical.query import BoundQuery

_NOWHERE = Span(0, 0)


def holding_since(
    conjuncts: Iterable[Conjunct], since: Iterable[tuple[str, int]], of: dict[str, Component], time: TimeColumn
) -> tuple[Conjunct, ...]:
    """Conditions, and those that say from when on components hold."""
    return (*conjuncts, *(_born(of[variable], ticks, time) for variable, ticks in since))


def _born(component: Component, ticks: int, time: TimeColumn) -> Conjunct:
    """That an event ends at a time or later."""
    element = Element.CURRENT if component.is_array else Element.SINGLE
    end = Moment("end", component.variable, element, time.type, _NOWHERE)
    later = Apply(BUILT_IN[">="], (end, Constant(ticks, time.type, _NOWHERE)), BOOLEAN, _NOWHERE)
    place = Place.NEGATIVE if component.negative else Place.TAKE if component.is_array else Place.BEGIN
    return Conjunct((later,), place, component, _text(component.variable, ticks), is_single=True)


def kept_variables(old: BoundQuery, new: BoundQuery) -> frozenset[str]:
    """The variables of the components with which both begin, each with the same conditions; none if runs differ.

    A match is over: where the new version goes on behind the old one's end, it does not go on from there.  Matches
    that wait for the end of their windows are of the version under which they ended: they stay only where all that
    decides on them does.
    """
    if not _are_alike(old, new):
        return frozenset()
    before, after = (_items(one.pattern) for one in (old, new))
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other or _conditions(old, one, first=not count) != _conditions(new, other, first=not count):
            break
        count += 1
    if count == len(before) < len(after):
        count = _last_bound(before)
    is_whole = count == len(before) == len(after) and _limit(old) == _limit(new)
    waits = any(edge_negatives(one.pattern, at_end=True) or negatives_around(one.pattern) for one in (old, new))
    if new.non_overlap or old.non_overlap or (waits and not is_whole):
        count = min(count, _last_bound(after))  # so there is no match that ended before
    return frozenset(one.variable for item in after[:count] for one in components(item))


def _last_bound(items: tuple[Pattern, ...]) -> int:
    """The place of the last item that every match binds."""
    return max((place for place, item in enumerate(items) if not may_be_empty(item)), default=0)


def is_same(old: BoundQuery, new: BoundQuery) -> bool:
    """Whether all components stay the same, and the window does."""
    variables = {one.variable for query in (old, new) for one in query.components}
    return kept_variables(old, new) == variables and _limit(old) == _limit(new)


def since_when(old: BoundQuery, new: BoundQuery, now: int) -> dict[str, int]:
    """From when on components of the new version hold, those apart that always did; it comes at a time."""
    kept, before = kept_variables(old, new), dict(old.since)
    times = {one.variable: before.get(one.variable) if one.variable in kept else now for one in new.components}
    return {variable: time for variable, time in times.items() if time is not None}


def _are_alike(old: BoundQuery, new: BoundQuery) -> bool:
    """Whether runs of both go through a stream in the same way."""
    return (
        old.strategy is new.strategy
        and [(one.attribute, one.constant) for one in old.equivalences]
        == [(one.attribute, one.constant) for one in new.equivalences]
        and _counts(old) == _counts(new)
    )


def _counts(query: BoundQuery) -> bool:
    return query.window is not None and query.window.counts_events


def _limit(query: BoundQuery) -> int | None:
    return None if query.window is None else query.window.limit


def _items(pattern: Pattern) -> tuple[Pattern, ...]:
    return pattern.items if isinstance(pattern, Sequence) else (pattern,)


def _conditions(query: BoundQuery, item: Pattern, *, first: bool) -> Counter[Any]:
    """The conditions of the components of an item; those on no event are of the first one."""
    own = {one.variable for one in components(item)}
    born = [_text(variable, time) for variable, time in query.since]
    said = (one for one in query.conjuncts if one.text not in born)
    return Counter(_said(one) for one in said if (one.component.variable in own if one.component else first))


def _said(conjunct: Conjunct) -> tuple[Any, ...]:
    """A condition as it was written, with the values of parameters."""
    nodes = [node for literal in conjunct.literals for node in walk(literal)]
    values = tuple(repr((one.value, one.exact)) for one in nodes if isinstance(one, Constant))
    return conjunct.text, conjunct.place, conjunct.from_second, values


def _text(variable: str, ticks: int) -> str:
    return f"end({variable}) >= {ticks}"
