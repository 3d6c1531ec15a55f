"""Statistics of a table: rates of components and selectivities of conditions, from a sample of its rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ouzel.language.tree import Strategy
from ouzel.logical.columns import needed_columns
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import END
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.kernel import pays
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.user_calls import calls_users
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Room
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Preparation, Prepared
from ouzel.physical.statistics import Statistics
from ouzel.physical.tree.sampling import Trial, trials_of

# In so many places a table is looked at, so many rows in each; so many combinations of them are tried.
PLACES, ROWS, DRAWN = 4, 1_000, 128
# Of a quick look, no conditions on several events are tried.
FEW_ROWS = 100
# A sample copies nothing to speak of.
_ROOM = Room(1 << 30, "for a sample")


def can_sample(query: BoundQuery) -> bool:
    """Whether a sample of events tells something: engines differ in what it costs to find all combinations.

    Functions of the user's are not called for that, and what other queries make is not there yet.
    """
    if query.attributes is not None:
        return False
    calls = any(calls_users(literal) for one in query.conjuncts for literal in one.literals)
    is_any = query.strategy is Strategy.SKIP_TILL_ANY_MATCH
    return is_any and not (calls or query.composites or query.shares_events or query.shares_bits)


def sampled(
    query: BoundQuery, events: EventTable, filters: Filters | None = None, *, closely: bool = True
) -> Statistics:
    """What the events of a table are like.

    Rows are those of some stretches, each as long as a window at least: so that it is seen how many partitions
    share a window.  Not looked at `closely`, they are few, and conditions on several events are not tried.
    `filters` are those of the query, if somebody has them.
    """
    stretches = [one for one in _stretches(query, events, ROWS if closely else FEW_ROWS) if len(one)]
    if not stretches:
        return Statistics({one.variable: 0.0 for one in query.components}, events=0.0)
    rows = np.concatenate(stretches)
    sample = events.taken(rows).select(needed_columns([query]))
    filters = filters or Filters(query)
    for source, _operands in filters.passes:
        pays(source, len(events))  # what is compiled for a sample, the engine takes for all the rest
    prepared = Preparation(query, filters, _ROOM).of(sample, Partitions(query, once=True))
    seen = _Seen(query, events, stretches, prepared)
    relations = [one for one in query.relations if one.place is not Place.NEGATIVE]
    shares = {**seen.single_shares(sample), **seen.shares(relations, sample)} if closely else {}
    return Statistics(seen.cards(), shares, seen.partitions(), seen.events, seen.windows)


def _stretches(query: BoundQuery, events: EventTable, each: int) -> list[Integers]:
    """The rows to look at: in order of time where the table is, else spread all over it."""
    count, times, window = len(events), events.end_times, query.window
    if count <= PLACES * each:
        return [np.arange(count)]
    by_time = window is not None and not window.counts_events
    found = []
    for place in range(PLACES):
        begin = place * count // PLACES
        end = begin + each
        if window is None:
            end = begin + count // PLACES
        elif by_time:
            end = max(end, int(times.searchsorted(min(int(times[begin]) + window.limit, END))))
        end = min(end, (place + 1) * count // PLACES)
        found.append(np.arange(begin, end, max((end - begin) // each, 1)))
    seen = times[np.concatenate(found)]
    if by_time and (seen[1:] < seen[:-1]).any():
        return [np.arange(0, count, count // (PLACES * each))]
    return found


class _Seen:
    """What a sample tells, its events prepared as for an engine."""

    def __init__(
        self, query: BoundQuery, events: EventTable, stretches: Sequence[Integers], prepared: Prepared
    ) -> None:
        self.query, self.prepared = query, prepared
        times, window = events.end_times, query.window
        whole = float(times.max()) - float(times.min()) + 1
        self._counts = window is not None and window.counts_events
        # which stretch each event is of, how many rows of the table each row stands for, and how long they are
        edges = np.cumsum([len(one) for one in stretches])
        self._places: Integers = np.searchsorted(edges, prepared.rows, side="right")
        each = sum(int(one[-1] - one[0]) + 1 for one in stretches) / max(int(edges[-1]), 1)
        if self._counts:
            assert window is not None
            self.limit = float(window.limit)
            self._factor = self.limit / max(len(prepared), 1)
            self.windows = len(events) * len(prepared) / max(int(edges[-1]), 1) / self.limit
        else:
            spans = [abs(float(times[one[-1]]) - float(times[one[0]])) + 1 for one in stretches]
            if len(stretches) == 1:
                spans = [whole]
            self.limit = min(float(window.limit), whole) if window else whole
            self._factor = each * self.limit / sum(spans)
            self.windows = whole / self.limit
        self.events = float(np.count_nonzero(prepared.masks)) * self._factor

    def numbers(self, variable: str) -> Integers:
        """The events that a component wants."""
        return np.flatnonzero(self.prepared.masks & (1 << self.query.component(variable).bit))

    def cards(self) -> dict[str, float]:
        """How many events of each component a window holds."""
        return {one.variable: len(self.numbers(one.variable)) * self._factor for one in self.query.components}

    def partitions(self) -> float:
        """One in how many pairs of events of one window are of one partition.

        Where keys are not alike, that is fewer than there are partitions; of few events a sample could say more.
        """
        if not self.query.equivalences or self._counts or len(self.prepared) < 2:
            return 1.0
        windows = self._places + PLACES * (self.prepared.end_times // max(int(self.limit), 1))
        numbers, counts = np.unique(windows, return_inverse=True, return_counts=True)[1:]
        parts, there = self.prepared.parts, len(each_once(self.prepared.parts))
        both = numbers * (int(parts.max()) + 2) + parts
        same = _pairs(np.unique(both, return_counts=True)[1])
        return min(max(_pairs(counts) / max(same, 1.0), 1.0), float(there))

    def single_shares(self, sample: EventTable) -> dict[str, float]:
        """For which share of the events of its types the conditions on a component alone hold, all together."""
        found = {}
        for one in self.query.components:
            if own := self.query.conditions_on(one):
                there = int(np.count_nonzero(sample.types.among(tuple(sorted(one.type_names))) >= 0))
                text = " AND ".join(conjunct.text for conjunct in own)
                found[text] = len(self.numbers(one.variable)) / max(there, 1)
        return found

    def shares(self, conjuncts: Sequence[Conjunct], sample: EventTable) -> dict[str, float]:
        """For which share of combinations conditions hold."""
        random, found = np.random.default_rng(0), {}
        for trial in trials_of(self.query, conjuncts, Operands):
            drawn = self._drawn(trial, random)
            if drawn is not None:
                values = trial.operands.arguments(sample, self.prepared.rows, self.prepared.end_times)
                found[trial.conjunct.text] = trial.share(drawn, values)
        return found

    def _drawn(self, trial: Trial, random: np.random.Generator) -> list[Integers] | None:
        """Combinations of events in one window, later components after the earliest; None if there are none."""
        numbers = {name: self.numbers(name) for name in trial.variables}
        if not all(map(len, numbers.values())):
            return None
        times = self.prepared.end_times
        first = min(trial.variables, key=lambda name: self.query.component(name).position)
        drawn = {first: random.choice(numbers[first], DRAWN)}
        since = times[drawn[first]]
        for name in trial.variables:
            if name == first:
                continue
            own = times[numbers[name]]
            low = own.searchsorted(since, side="right")
            high = (
                own.searchsorted(_later(since, int(self.limit))) if not self._counts else np.full(DRAWN, len(own))
            )
            low, high = np.where(high > low, low, 0), np.where(high > low, high, len(own))
            drawn[name] = numbers[name][low + (random.random(DRAWN) * (high - low)).astype(np.int64)]
        return [drawn[name].astype(np.int32) for name in trial.variables]


def _later(times: Integers, length: int) -> Integers:
    """Times so much later, or the end of time."""
    return np.where(times > END - length, END, np.minimum(times, END - length) + length)


def _pairs(counts: Integers) -> float:
    return float((counts * (counts - 1)).sum()) / 2
