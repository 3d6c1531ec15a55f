"""An automaton plan: the query as kernels, immutable; all that changes is in a matching."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ouzel.logical.conjuncts import Place
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.construct import construct
from ouzel.physical.automaton.expand import expand_source
from ouzel.physical.automaton.explained import explained
from ouzel.physical.automaton.graph import PathGraph
from ouzel.physical.automaton.matching import AutomatonMatching
from ouzel.physical.automaton.row_plan import OFF, ON, RowPlan
from ouzel.physical.automaton.shape import Shape, check_suitable, shape_of
from ouzel.physical.automaton.states import Automaton
from ouzel.physical.automaton.work import NANOSECONDS, automaton_work
from ouzel.physical.automaton.written import WrittenRuns
from ouzel.physical.compiled.fill import Wanted
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import may_be
from ouzel.physical.compiled.windows import window_limit
from ouzel.physical.contract import WRITTEN_OUT, Engine, Explained, Offer, Switch, Takes, Tell, UnsuitableError
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.finish.negation import Between, Refutation
from ouzel.physical.limits import Limits
from ouzel.physical.match_totals import MatchTotals
from ouzel.physical.statistics import Statistics, nanoseconds
from ouzel.physical.stoppable import stoppable

# What an event takes, in nanoseconds.
COST = 100.0
EVALUATIONS = ("merging", "basic", "backtracking")


@dataclass(frozen=True)
class AutomatonPlan(WrittenRuns):
    """A query of events, closures and alternatives in sequence, with negation, under any strategy.

    `evaluation` is how runs are evaluated: `basic` each for itself (SASE+ 5.2.1), `merging` with equal ones made
    one (5.2.2), `backtracking` one after the other (5.2.3).
    """

    query: BoundQuery
    evaluation: str

    @classmethod
    def of(cls, query: BoundQuery, evaluation: str = "merging") -> AutomatonPlan:
        """Make the plan, or say in an UnsuitableError why there is none."""
        check_suitable(query)
        return cls(query, evaluation)

    @cached_property
    def shape(self) -> Shape:
        """What it is written from."""
        return shape_of(self.query)

    @cached_property
    def filters(self) -> Filters:
        """The conditions on single events."""
        return Filters(self.query)

    @cached_property
    def automaton(self) -> Automaton:
        """States and their moves."""
        return construct(self.query, self.shape)

    @cached_property
    def refutations(self) -> tuple[Refutation, ...]:
        """What refutes matches."""
        return tuple(_refutations(self.shape))

    @cached_property
    def expand_source(self) -> str:
        """The kernel that writes matches out."""
        return expand_source(self.shape)

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The one query."""
        return (self.query,)

    @property
    def takes(self) -> Takes:
        """To evaluate runs one after the other, or to know all partitions that share events, it must have all."""
        is_whole = self.evaluation == "backtracking" or self.query.shares_events
        return Takes.ALL_AT_ONCE if is_whole else Takes.IN_ORDER

    @property
    def repeats(self) -> bool:
        """Whether a match may be found several times: in several partitions, or ways to leave something empty."""
        return self.query.shares_events or self.shape.ways.are_several

    def wanted(self, masks: Integers) -> Wanted:
        """Which events a variable may be bound to, by their masks."""
        return may_be(self.query.components, masks)

    @property
    def limit(self) -> int:
        """The length of the window, in what its clock counts."""
        return window_limit(self.query)

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> AutomatonMatching:
        """Begin to match; `once` if all events will be pushed at once; `threads` may share what comes at once."""
        return AutomatonMatching(self, limits, once=once, threads=threads)

    def estimate(self, statistics: Statistics) -> float:
        """About how many nanoseconds it takes for all events, under skip_till_any_match."""
        work = automaton_work(self.automaton, statistics)
        if self.query.aggregates and not self.writes_out:
            work = {**work, "match": 0.0}
        return nanoseconds(work, NANOSECONDS, statistics.windows)

    @property
    def writes_out(self) -> bool:
        """Whether it writes matches out where only their totals are asked for."""
        return self.query.reads_lasting or any(one.negative for one in self.query.components)

    def explain(self, statistics: Statistics | None = None) -> Explained:  # noqa: ARG002 - it has no choice
        """Its states and their edges."""
        return explained(self.query, self.shape, self.automaton)

    def totals(self, events: EventTable, limits: Limits, tell: Tell | None = None) -> MatchTotals | None:
        """Totals over all matches, unless something filters them, runs of several partitions go together, or
        events last, so that a path through the window may start before it.
        """
        if self.refutations or self.shape.keyed or self.automaton.lasting or self.repeats:
            return None
        matching = AutomatonMatching(self, limits, once=True, threads=1)
        return stoppable(lambda: matching.totals(events), tell)

    def graph(self, events: EventTable, limits: Limits) -> PathGraph:
        """The match store, in which runs share what they have in common."""
        if self.evaluation == "backtracking":
            raise UnsuitableError("backtracking shares nothing")
        if self.repeats:
            raise UnsuitableError("a match may be found in several partitions, or with several alternatives empty")
        return PathGraph(self, events, limits)


def _offer(query: BoundQuery, evaluation: str | None = None, ignorable: str | None = None) -> Offer:
    if ignorable is not None and query.automaton is None:
        raise UnsuitableError("only register automata have arcs that are ignorable")
    if query.attributes is not None:
        rows = RowPlan.of(query, evaluation, ignorable or ON)
        return Offer(COST, lambda: rows)
    plan = AutomatonPlan.of(query, evaluation or "merging")
    cost = COST * WRITTEN_OUT if query.aggregates and plan.writes_out else COST
    return Offer(cost, lambda: plan, estimate=plan.estimate)


AUTOMATON = Engine(
    "automaton",
    "events and closures in sequence: runs over a shared match store, compiled",
    COST,
    _offer,
    switches=(Switch("evaluation", EVALUATIONS), Switch("ignorable", (ON, OFF))),
    runs_automata=True,
)


def _refutations(shape: Shape) -> Iterator[Refutation]:
    """A refutation for every negative component on every step that passes over it."""
    variables = tuple(one.variable for one in shape.variables)
    for before, crossing, after in shape.crossings():
        for component in crossing.negatives:
            own = [c for c in shape.conjuncts if c.component is component and c.place is Place.NEGATIVE]
            empty = tuple(one.variable for one in crossing.skipped if one.variable in shape.empties)
            between = Between.of_step(variables, before, after, empty)
            yield Refutation(shape.variables, shape.optional, component, own, between)
