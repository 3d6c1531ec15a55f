"""The reference matcher: slow, obviously right, straight from the language's definition.

It is the yardstick of every engine: clarity before speed, no state between calls, the whole stream at once.
"""

from __future__ import annotations

from collections.abc import Callable

from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Place
from ouzel.logical.pattern import has_conjunction_or_group
from ouzel.logical.query import BoundQuery
from ouzel.physical.contract import Counters
from ouzel.physical.limits import Limits
from ouzel.physical.reference.bounds import Bounds
from ouzel.physical.reference.combinations import CombinationMatcher
from ouzel.physical.reference.evaluate import holds
from ouzel.physical.reference.events import Stream
from ouzel.physical.reference.match import Match, remove_duplicates
from ouzel.physical.reference.negation import is_refuted
from ouzel.physical.reference.partitions import Key, all_keys, key_of, partition
from ouzel.physical.reference.runs import RunMatcher


def find_matches(
    query: BoundQuery,
    stream: Stream,
    told: Callable[[int], None] = lambda _events: None,
    bounds: Bounds | None = None,
) -> list[Match]:
    """All matches of a query in a stream, by end, then start, then the places of their events.

    `told` is given the number of events as they are done, for a progress bar; `bounds` say how many there may be.
    """
    bounds = bounds or Bounds(Limits(), Counters())
    always = [conjunct for conjunct in query.conjuncts if conjunct.place is Place.ALWAYS]
    if not all(holds(conjunct, {}, stream) for conjunct in always):
        return []
    kind = CombinationMatcher if has_conjunction_or_group(query.pattern) else RunMatcher
    tests = query.equivalences
    found: list[Match] = []
    for key in all_keys(stream, tests):
        matches = kind(query, stream, partition(key, stream, tests)).matches(told, bounds)
        found += [match for match in matches if bounds.takes(len(match.events))]
    # what is in every partition may be found in several; alternatives may be left empty in several ways
    found = remove_duplicates([match for match in found if not is_refuted(match, query, stream)])
    found.sort(key=lambda match: match.order(stream, query.components))
    return keep_apart(found, query, stream) if query.non_overlap else found


def keep_apart(matches: list[Match], query: BoundQuery, stream: Stream) -> list[Match]:
    """NON_OVERLAP: in each partition, a match counts only if it starts after the last one kept has ended.

    Under strict contiguity the stream is one partition (SASE+ section 2).

    Of matches that end together, the one that starts last is tried first, then the one with the fewest events,
    then the one whose events come first.  The matches are in order already, which decides what is still equal.
    """
    by_end = sorted(matches, key=lambda match: (len(match.events), match.places(stream)))
    by_end.sort(key=lambda match: match.first.start, reverse=True)
    by_end.sort(key=lambda match: match.last.end)
    tests = () if query.strategy is Strategy.STRICT_CONTIGUITY else query.equivalences
    kept: dict[Key, Match] = {}
    result: set[int] = set()
    for match in by_end:
        key = key_of(match.events, tests, stream)
        previous = kept.get(key)
        if previous is None or previous.last.end < match.first.start:
            kept[key] = match
            result.add(id(match))
    return [match for match in matches if id(match) in result]
