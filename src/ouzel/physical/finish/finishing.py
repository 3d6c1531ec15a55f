"""From what an engine bound to final matches in the order of results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ouzel.language.tree import Strategy
from ouzel.logical.columns import returned_columns
from ouzel.logical.pattern import binds_in_order
from ouzel.logical.query import BoundQuery
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.compiled.windows import window_limit
from ouzel.physical.contract import Counters, Found
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.distinct import first_of_each
from ouzel.physical.finish.negation import Refutation
from ouzel.physical.finish.non_overlap import NONE_KEPT, keep_apart
from ouzel.physical.finish.order import in_order, rises, sequences_in_order, used_events
from ouzel.physical.finish.pending import Pending, released
from ouzel.physical.finish.refutable import may_be_refuted
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound, Many, MatchTable, chosen, counts_of, ends_of, numbers_held, outermost
from ouzel.physical.memory.retained import Retained


class Finishing:
    """What happens to the matches of one plan once their events are bound.

    An engine hands over what its variables are bound to as numbers of the events that `retained` has.  What is
    not final yet is in `pending`, which changes.
    """

    def __init__(
        self,
        query: BoundQuery,
        refutations: Sequence[Refutation],
        retained: Retained,
        pending: Pending,
        limits: Limits,
        counters: Counters,
        *,
        repeats: bool = False,
    ) -> None:
        """Begin with what is retained and pending; `repeats` says that a match may be found several times."""
        self.query = query
        self.between = [one for one in refutations if one.at_once]
        self.at_end = [one for one in refutations if one.at_end]
        self.retained = retained
        self.pending = pending
        self.limits = limits
        self.counters = counters
        self.repeats = repeats
        self.limit = window_limit(query)
        self.scattered = not binds_in_order(query.pattern)
        self.room = limits.memory()
        # of several partitions, it is by the first match of each that their rows are in order
        self.any_order = bool(query.aggregates) and not (query.equivalences or query.non_overlap or repeats)
        self.any_order &= all(one.function not in ("sum", "avg") for one in query.aggregates)
        self._nothing: Found | None = None
        self._returned = returned_columns(query)

    @property
    def nothing(self) -> Found | None:
        """What is found where no match ends and none waits; None if some wait, or it is not known yet."""
        return None if len(self.pending) else self._nothing

    @property
    def waiting(self) -> int | None:
        """The first time at which matches end that wait until they are final."""
        if self.pending.bound is None or not len(self.pending):
            return None
        _first, last = self._edges(self.pending.bound)
        return int(self.retained.intervals.end_times.values[last].min())

    def finish(self, bound: Bound, base: int, now: int | None, seen: int, *, ordered: bool = False) -> Found:
        """The matches that are final, of those just bound and those that waited; in the order of results.

        The latest events have the numbers from `base` on, and none before `now` follows.  `seen` is how many they
        are.  If `ordered`, matches are always bound by their last event and then event by event.
        """
        bound = self._of_size(bound)
        for refutation in self.between:
            if len(next(iter(bound.values()))):
                refuters = np.flatnonzero(self.retained.marks & refutation.bit)
                bound = _kept(bound, refutation.keep(bound, refuters, self.retained, self.limit, seen))
        if self.at_end:
            bound = self._final(bound, base, now, seen)
        return self.found(bound, ordered=ordered)

    def _of_size(self, bound: Bound) -> Bound:
        """The matches that have no more events than they may."""
        most = self.limits.max_match_size
        if len(bound) <= most and not any(isinstance(one, Many) for one in bound.values()):
            return bound
        fits = counts_of(bound) <= most
        beyond = len(fits) - int(np.count_nonzero(fits))
        if beyond and not self.limits.sheds:
            raise self.limits.exceeded("max_match_size")
        self.counters.shed_matches += beyond
        return _kept(bound, fits)

    def _final(self, bound: Bound, base: int, now: int | None, seen: int) -> Bound:
        """The matches, of this batch or before, that nothing has refuted, and nothing can any more."""
        retained, pending = self.retained, self.pending
        pending.add(bound)
        size = 16 * sum(map(len, pending.columns())) / max(len(pending), 1) + 32
        self.counters.shed_matches += pending.within(self.limits, self.room, size)
        masks = retained.pushed[1].masks
        for refutation in self.at_end:
            # what came before cannot refute a match, or was tried when that was bound
            refuters = base + np.flatnonzero(masks & refutation.bit)
            assert pending.bound is not None
            keep = refutation.keep(pending.bound, refuters, retained, self.limit, seen) | pending.stands
            if not keep.all():
                pending.keep(np.flatnonzero(keep))
        assert pending.bound is not None
        first, last = self._edges(pending.bound)
        if self.scattered:
            first = outermost(pending.bound, retained.openings, retained.ends)[0]
        pending.stands |= ~(retained.alive(now, first) & may_be_refuted(self.query.pattern, pending.bound))
        out = released(pending.stands, retained.ends[last], in_order=self.query.non_overlap)
        final = _kept(pending.bound, out)
        if out.any():
            pending.keep(np.flatnonzero(~out))
        return final

    # ---- the order of results ----------------------------------------------------------------------------

    def found(self, bound: Bound, *, ordered: bool = False) -> Found:
        """Final matches in the order of results, without those that overlap, and the events they are made of."""
        retained = self.retained
        if self._nothing is not None and not len(next(iter(bound.values()))):
            return self._nothing
        if retained.once:
            events, rows = retained.pushed[0], retained.pushed[1].rows
            if not self.any_order and not (ordered and rises(retained.ends)):
                # which events are used matters only where all is in order but for simultaneous ones
                columns = [one.rows for one in bound.values()] if ordered else [np.zeros(0, np.int64)]
                used = used_events(columns, len(retained))
                bound = self._ordered(bound, used, partial(_places_of_rows, events, rows), ordered=ordered)
            bound = self._apart(bound)
            if sum(map(numbers_held, bound.values())) > len(rows):
                # fewer events than places where they are bound: to put the events in order is cheaper
                events = retained.pushed[1].taken_from(events)
            else:
                bound = {variable: one.numbered(rows) for variable, one in bound.items()}
        else:
            used = used_events([one.rows for one in bound.values()], len(retained))
            events, _rows = retained.events(used, self._returned)
            bound = self._ordered(bound, used, partial(_places, retained), ordered=ordered)
            bound = self._apart(bound)
            bound = {variable: one.placed(used) for variable, one in bound.items()}
        matches = MatchTable(bound, lambda: events.intervals(*self._edges(bound, events)))
        found = Found(self.query, matches, events, compute_by_row(matches, events))
        if not len(matches) and not retained.once:
            self._nothing = found
        return found

    def _ordered(self, bound: Bound, used: Integers, places: Any, *, ordered: bool) -> Bound:
        moments = self.retained.starts, self.retained.ends
        if not ordered and not self.scattered and not self.repeats:
            sequences = sequences_in_order(bound, *moments, places)
            if sequences is not None:
                return sequences
        order = in_order(bound, *moments, used, places, ordered=ordered, scattered=self.scattered)
        bound = bound if order is None else {variable: chosen(one, order) for variable, one in bound.items()}
        return first_of_each(bound) if self.repeats else bound

    def _edges(self, bound: Bound, events: EventTable | None = None) -> tuple[Integers, Integers]:
        """The first and last event of each match, by number, or by row of a table."""
        if not self.scattered:
            return ends_of(list(bound), bound)
        of = self.retained if events is None else events
        return outermost(bound, of.starts, of.ends)

    def _apart(self, bound: Bound) -> Bound:
        """The matches that NON_OVERLAP keeps."""
        if not self.query.non_overlap:
            return bound
        retained, until = self.retained, self.pending.until
        first, last = self._edges(bound)
        # strict contiguity takes the stream as one partition (SASE+ 2)
        whole = self.query.strategy is Strategy.STRICT_CONTIGUITY
        parts = np.zeros(len(last), np.int64) if whole else retained.parts[last].astype(np.int64)
        until.fill(1 if whole else retained.partitions.count, NONE_KEPT)
        spans = retained.starts[first], retained.ends[last]
        kept = keep_apart(parts, until.values, *spans, counts_of(bound))
        return {variable: chosen(one, kept) for variable, one in bound.items()}


def _kept(bound: Bound, keep: Any) -> Bound:
    return bound if np.all(keep) else {v: chosen(one, np.flatnonzero(keep)) for v, one in bound.items()}


def _places(retained: Retained, numbers: Integers) -> Integers:
    """The places in canonical order of some events, all columns of which may tell them apart."""
    events, rows = retained.events(numbers)
    return events.places(rows)


def _places_of_rows(events: EventTable, rows: Integers, numbers: Integers) -> Integers:
    """The places in canonical order of some events, by their rows in a table; copies of one have one place."""
    distinct, of = np.unique(rows[numbers], return_inverse=True)
    return events.places(distinct)[of]
