"""A plan for an automaton whose results are rows: of an expression of the algebra, or made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ouzel.logical.algebra.streams import is_linear_plus
from ouzel.logical.equivalence import EquivalenceTest
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.afa import construct_open, construct_registers
from ouzel.physical.automaton.algebra_explained import algebra_explained
from ouzel.physical.automaton.by_event_source import by_event_source
from ouzel.physical.automaton.cayuga_states import Constructed, construct_algebra
from ouzel.physical.automaton.edges import End
from ouzel.physical.automaton.epochs import Epochs
from ouzel.physical.automaton.lacking import lacking_types
from ouzel.physical.automaton.row_matching import RowMatching
from ouzel.physical.automaton.states import Automaton
from ouzel.physical.automaton.written import WrittenRuns
from ouzel.physical.compiled.fill import Wanted
from ouzel.physical.compiled.filters import Filters
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.windows import window_limit
from ouzel.physical.contract import Explained, Takes, UnsuitableError
from ouzel.physical.event_table import Integers
from ouzel.physical.finish.negation import Refutation
from ouzel.physical.limits import Limits
from ouzel.physical.statistics import Statistics

ON, OFF = "on", "off"


@dataclass(frozen=True)
class RowPlan(WrittenRuns):
    """A linear-plus expression (Cayuga 3.2), or a register automaton (AFA 2.2); it never changes, but for epochs.

    `written` is its query, `query` the same as engines know patterns.  If `ignorable` is off, runs that are kept
    by event are copied by arcs that leave them as they are, too.
    """

    written: BoundQuery
    evaluation: str
    constructed: Constructed
    epochs: Epochs | None = None
    """Where arcs may come and go, which of them live: all that is at work with the plan shares it."""

    ignorable: str = ON
    refutations: tuple[Refutation, ...] = ()
    repeats: bool = False

    @classmethod
    def of(cls, query: BoundQuery, evaluation: str | None = None, ignorable: str = ON) -> RowPlan:
        """Make the plan, or say in an UnsuitableError why there is none.

        Each computation of a register automaton is a match: no two are one, and none are merged.
        """
        if query.automaton is not None:
            if evaluation == "merging":
                raise UnsuitableError("every computation of a register automaton counts: none are merged")
            constructed = construct_registers(query, query.automaton)
            return cls(query, evaluation or "basic", constructed, ignorable=ignorable)
        assert query.algebra is not None
        if not is_linear_plus(query.algebra):
            raise UnsuitableError("what follows an event is an expression of several events itself")
        return cls(query, evaluation or "merging", construct_algebra(query, query.algebra))

    def opened(self) -> RowPlan:
        """The same where arcs may come and go, of a register automaton; an UnsuitableError if they are many."""
        automaton = self.written.automaton
        assert automaton is not None
        constructed, ways = construct_open(self.written, automaton)
        return replace(self, constructed=constructed, epochs=Epochs(automaton.arcs, ways))

    @cached_property
    def by_event(self) -> tuple[str, Operands]:
        """The kernel for runs that are kept by event, and what it reads of events."""
        operands = Operands()
        return by_event_source(self.slots, operands, ignores=self.ignorable == ON), operands

    @property
    def query(self) -> BoundQuery:
        """The streams that edges read, with the conditions on their single events."""
        return self.constructed.query

    @property
    def automaton(self) -> Automaton:
        """States and their moves."""
        return self.constructed.automaton

    @property
    def keys(self) -> tuple[EquivalenceTest, ...]:
        """The tests that all events of a match satisfy, as every θ wants it."""
        return self.automaton.partition

    @property
    def ends(self) -> Mapping[int, End]:
        """By state, what the results are that end there."""
        return self.constructed.ends

    @cached_property
    def lacking(self) -> Mapping[str, frozenset[str]]:
        """By column, the types whose events do not have what is in it."""
        return {} if self.written.algebra is None else lacking_types(self.written.algebra)

    @cached_property
    def filters(self) -> Filters:
        """The conditions on single events."""
        return Filters(self.query)

    @property
    def limit(self) -> int:
        """How long a run lives, if every θ says so."""
        return window_limit(self.query)

    @property
    def queries(self) -> tuple[BoundQuery, ...]:
        """The one query."""
        return (self.written,)

    @property
    def takes(self) -> Takes:
        """To evaluate runs one after the other, it must have all events."""
        return Takes.ALL_AT_ONCE if self.evaluation == "backtracking" else Takes.IN_ORDER

    def wanted(self, masks: Integers) -> Wanted:
        """Which events a variable may be bound to, by their masks."""
        return lambda variable: (masks & self.constructed.wanted[variable]) != 0

    def begin(self, limits: Limits, *, once: bool = False, threads: int = 1) -> RowMatching:
        """Begin to match; `once` if all events will be pushed at once; `threads` may share what comes at once."""
        return RowMatching(self, limits, once=once, threads=threads)

    def explain(self, statistics: Statistics | None = None) -> Explained:  # noqa: ARG002 - it has no choice
        """Its states and their edges."""
        return algebra_explained(self.constructed)
