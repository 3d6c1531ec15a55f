"""The reference matcher: slow, obviously right, straight from the language's definition.

It is the yardstick of every engine: clarity before speed, no state between calls, the whole stream at once.
"""

from __future__ import annotations

from collections.abc import Callable

from ouzel.logical.conjuncts import Place
from ouzel.logical.pattern import has_conjunction_or_group
from ouzel.logical.query import BoundQuery
from ouzel.physical.reference.combinations import CombinationMatcher
from ouzel.physical.reference.evaluate import holds
from ouzel.physical.reference.events import Stream
from ouzel.physical.reference.match import Match, remove_duplicates
from ouzel.physical.reference.negation import is_refuted
from ouzel.physical.reference.partitions import Key
from ouzel.physical.reference.runs import RunMatcher


def find_matches(
    query: BoundQuery, stream: Stream, told: Callable[[int], None] = lambda _events: None
) -> list[Match]:
    """All matches of a query in a stream, by end, then start, then the places of their events.

    `told` is given the number of events as they are done, for a progress bar.
    """
    always = [conjunct for conjunct in query.conjuncts if conjunct.place is Place.ALWAYS]
    if not all(holds(conjunct, {}, stream) for conjunct in always):
        return []
    kind = CombinationMatcher if has_conjunction_or_group(query.pattern) else RunMatcher
    found = remove_duplicates(list(kind(query, stream).matches(told)))
    found = [match for match in found if not is_refuted(match, query, stream)]
    found.sort(key=lambda match: match.order(stream, query.components))
    return keep_apart(found, stream) if query.non_overlap else found


def keep_apart(matches: list[Match], stream: Stream) -> list[Match]:
    """NON_OVERLAP: in each partition, a match counts only if it starts after the last one kept has ended.

    Of matches that end together, the one that starts last is tried first, then the one with the fewest events,
    then the one whose events come first.  The matches are in order already, which decides what is still equal.
    """
    by_end = sorted(matches, key=lambda match: (len(match.events), match.places(stream)))
    by_end.sort(key=lambda match: match.first.start, reverse=True)
    by_end.sort(key=lambda match: match.last.end)
    kept: dict[Key, Match] = {}
    result: list[Match] = []
    for match in by_end:
        previous = kept.get(match.key)
        if previous is None or previous.last.end < match.first.start:
            kept[match.key] = match
            result.append(match)
    return result
