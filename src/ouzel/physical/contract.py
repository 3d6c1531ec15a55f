"""What stands between the optimizer, the engines and the runtimes.

An *engine* says what it *offers* for a query, which takes no more than a look at it.  An offer makes a *plan*,
which never changes; a plan begins a *matching*, in which everything is that does.  What a plan can do beyond that,
it says by having it: `AddsUp`, `KeepsGraph`.

A plan may serve several queries: what it finds says of which query it is.  What is pushed are changes: for plans
that take events in order alone (`Takes`), events that happened.  A plan that takes withdrawals too is given, and
gives, tables with a sign for every row; there is none yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from ouzel.explain.layout import Placed, Sections
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.expressions import Expression
from ouzel.logical.query import BoundQuery
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limits import Limits
from ouzel.physical.match_table import Bound, Many, MatchTable, One
from ouzel.physical.match_totals import MatchTotals
from ouzel.physical.statistics import Statistics

Compute = Callable[[Expression], Any]
"""The values of an expression for all matches, as an array or list that Arrow takes."""

Tell = Callable[[float], None]
"""Is given, now and then, which part of some work is done."""


Intervals = tuple[Integers, Integers, Integers, Integers]
"""Starts and ends, as moments and as times."""

WRITTEN_OUT = 100.0
"""How many times the cost it is, about, to write out all matches where only their totals are asked for."""


class UnsuitableError(Exception):
    """An engine cannot run a query, or has no graph of its matches; the message says why."""


# ---- engines and what they offer -------------------------------------------------------------------------


@dataclass(frozen=True)
class Offer:
    """How an engine would run a query.

    `cost` is about how many nanoseconds it takes for an event; `drawback` says what makes it high, where it is
    higher than that of a more general engine.  `make` makes the plan.  `estimate`, where there is one, says about
    how many nanoseconds it takes for all events, by what is known of them.
    """

    cost: float
    make: Callable[[], PhysicalPlan]
    drawback: str = ""
    estimate: Callable[[Statistics], float] | None = None


@dataclass(frozen=True)
class Refusal:
    """Why an engine cannot run a query."""

    why: str


class Switch(NamedTuple):
    """What can be chosen in an engine, for comparison: a name, and what it can be set to; none are any text."""

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Engine:
    """A way to find matches: what it is good for, the switches it has, and what it offers.

    No offer of it has a lower `cost`.  `offers` is given a query and the switches that are set; an UnsuitableError
    says that it cannot run the query.
    """

    name: str
    purpose: str
    cost: float
    offers: Callable[..., Offer]
    switches: tuple[Switch, ...] = ()
    runs_automata: bool = False
    """Whether it is asked for expressions of the algebra and register automata, too."""

    def offer(self, query: BoundQuery, tuning: Mapping[str, str]) -> Offer | Refusal:
        """What it would do, or why it would not; no source is written for that."""
        if query.attributes is not None and not self.runs_automata:
            return Refusal(f"it runs patterns, and this is {query.kind}")
        own = {name: tuning[name] for name, _values in self.switches if name in tuning}
        try:
            return self.offers(query, **own)
        except UnsuitableError as why:
            return Refusal(str(why))


Engines = tuple[Engine, ...]
"""Engines, from the most special to the one that takes every query, and all events."""


# ---- plans -----------------------------------------------------------------------------------------------


class Takes(Enum):
    """Which changes the matchings of a plan can be given."""

    ALL_AT_ONCE = "all events at once"
    IN_ORDER = "events in order of time, batch by batch"
    ONE_BY_ONE = "events for each of its queries by itself"


@dataclass(frozen=True)
class Explained:
    """A plan in words: sections, and the conditions of its query, each with the one place where it went."""

    sections: Sections
    placed: Placed


class PhysicalPlan(Protocol):
    """Queries made ready for an engine; it never changes."""

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The queries that it serves."""

    @property
    def takes(self) -> Takes:
        """What its matchings can be given."""

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> Matching:
        """Begin to match; `once` if all events will be pushed at once; `threads` may share what comes at once."""

    def explain(self, statistics: Statistics | None = None) -> Explained:
        """Put it into words; `statistics` are what is known of events."""


@runtime_checkable
class FindsKeys(Protocol):
    """A plan that finds out what keeps partitions apart, where the query does not say it outright."""

    @property
    def keys(self) -> tuple[EquivalenceTest, ...]:
        """The tests that all events of a match satisfy."""


@runtime_checkable
class AddsUp(Protocol):
    """A plan that may total matches without writing them out."""

    def totals(self, events: EventTable, limits: Limits, tell: Tell | None = None) -> MatchTotals | None:
        """Totals over the matches of its query in all events; None if they have to be written out."""


@runtime_checkable
class KeepsGraph(Protocol):
    """A plan that may leave matches unexpanded."""

    def graph(self, events: EventTable, limits: Limits) -> Graph:
        """What the matches in all events share; an UnsuitableError if they share nothing."""


class Graph(Protocol):
    """Matches as paths of a graph."""

    def __len__(self) -> int:
        """The number of places where matches end."""

    @property
    def count(self) -> float:
        """The number of matches."""

    @property
    def nodes(self) -> pa.Table:
        """The nodes, by number: `variable`, `event`, `before`, `other`."""

    @property
    def ends(self) -> pa.Table:
        """Where matches end: `node`, `event`, `variable`."""

    def expand(self, ends: Sequence[int] | None = None) -> Found:
        """The matches written out, all of them or those of some ends."""


# ---- plans at work ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """Matches of a query, the events whose rows they mention, and how to compute with them.

    `totals` adds all of them up, where the engine has a way of its own.  `rows` are the attributes of what an
    expression of the algebra, or a register automaton, gives; of its matches only the intervals matter, and no
    events are bound.  Of a set of queries, `ids` name the query of each match.
    """

    query: BoundQuery
    matches: MatchTable
    events: EventTable
    compute: Compute
    totals: Callable[[], MatchTotals] | None = None
    rows: pa.Table | None = None
    ids: pa.Array | None = None

    @classmethod
    def of_rows(cls, query: BoundQuery, rows: pa.Table, intervals: Intervals, events: EventTable) -> Found:
        """What an expression of the algebra gives: the columns of its attributes, and starts and ends beside."""
        unbound = One(np.full(len(intervals[0]), -1, np.int64))
        matches = MatchTable({one.variable: unbound for one in query.components}, lambda: intervals)
        return cls(query, matches, events, lambda _expression: [], rows=rows)

    def within(self, limits: Limits, counters: Counters) -> Found:
        """The same rows, but no more than one query may have at once: those that come first."""
        count = len(self.matches)
        most = limits.allowed(count)
        if most == count:
            return self
        counters.shed_matches += count - most
        rows = None if self.rows is None else self.rows.slice(0, most)
        return replace(self, matches=self.matches.taken(np.arange(most)), rows=rows)

    @classmethod
    def nothing(cls, query: BoundQuery, events: EventTable) -> Found:
        """No matches."""
        if query.members is not None:
            found = cls.nothing(query.members.template, events)
            return replace(found, query=query, ids=pa.array([], query.members.id_type))
        if query.attributes is not None:
            schema = pa.schema([(one.name, one.arrow) for one in query.attributes])
            return cls.of_rows(query, schema.empty_table(), (np.zeros(0, np.int64),) * 4, events)
        positives = [component for component in query.components if not component.negative]
        none = np.zeros(0, np.int64)
        many = Many(np.zeros(1, np.int64), none, np.zeros(0, np.bool_))
        bound: Bound = {one.variable: many if one.is_array else One(none) for one in positives}
        return cls(query, MatchTable(bound, lambda: (none, none, none, none)), events, lambda _expression: [])


@dataclass
class Counters:
    """What a matching did: runs made, merged and shed, matches shed, the most runs that were open at once.

    `read` is how many events runs read that were driven one after the other, `switches` how often trees at work
    took another order of joins.
    """

    made: int = 0
    merged: int = 0
    shed_runs: int = 0
    shed_matches: int = 0
    peak: int = 0
    read: int = 0
    switches: int = 0

    @property
    def shed(self) -> int:
        """How many runs and matches were shed."""
        return self.shed_runs + self.shed_matches

    def add(self, others: Counters) -> None:
        """Add what another matching did."""
        self.made += others.made
        self.merged += others.merged
        self.shed_runs += others.shed_runs
        self.shed_matches += others.shed_matches
        self.peak = max(self.peak, others.peak)
        self.read += others.read
        self.switches += others.switches


@runtime_checkable
class Adapts(Protocol):
    """A matching that chooses anew how to match, by what events are like."""

    @property
    def chosen_by(self) -> Statistics | None:
        """What was known of events when it last chose; None if that was nothing."""


class Matching(Protocol):
    """A plan at work; everything that changes is in it."""

    @property
    def counters(self) -> Counters:
        """What it did."""

    @property
    def open_runs(self) -> int:
        """How many runs may become matches: those of the automaton, nodes of a scan's stacks, events of a tree."""

    @property
    def waiting(self) -> int | None:
        """The first time at which matches end that wait until they are final; None if there are none."""

    def push(self, events: EventTable, now: int | None, tell: Tell | None = None) -> tuple[Found, ...]:
        """Match the events that come next, all of a moment together; what each query of the plan found.

        No event before the time `now` will follow; None says that none will follow at all.  The matches are those
        that are final.  Ctrl-C ends it.
        """

    def state(self) -> dict[str, Any]:
        """What there is to know to go on elsewhere: arrays, tables, texts and numbers by name."""

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from what another matching of the same plan knew."""
