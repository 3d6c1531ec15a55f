"""The reference matcher's matches as a match table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ouzel.logical.pattern import Component
from ouzel.logical.query import BoundQuery
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.reference.events import Event
from ouzel.physical.reference.match import Match


def match_table(query: BoundQuery, matches: Sequence[Match]) -> MatchTable:
    """Matches as columns of row numbers."""
    firsts, lasts = [match.first for match in matches], [match.last for match in matches]
    intervals = (
        np.array([event.start for event in firsts], np.int64),
        np.array([event.end for event in lasts], np.int64),
        np.array([event.start_time for event in firsts], np.int64),
        np.array([event.end_time for event in lasts], np.int64),
    )
    bound = {c.variable: _bound(c, matches) for c in query.components if not c.negative}
    return MatchTable(bound, lambda: intervals)


def _bound(component: Component, matches: Sequence[Match]) -> One | Many:
    bound = [match.bindings.get(component.variable) for match in matches]
    if not component.is_array:
        rows = [event.row if isinstance(event, Event) else -1 for event in bound]
        return One(np.array(rows, np.int64))
    chains = [one if isinstance(one, tuple) else () for one in bound]
    offsets = np.zeros(len(chains) + 1, np.int64)
    np.cumsum([len(chain) for chain in chains], out=offsets[1:])
    flat = np.array([event.row for chain in chains for event in chain], np.int64)
    return Many(offsets, flat, np.array([one is None for one in bound], np.bool_))
