"""An automaton plan: how it runs a query over an event table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ouzel.errors import OuzelError
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Place
from ouzel.logical.query import BoundQuery
from ouzel.physical.automaton.expand import expand
from ouzel.physical.automaton.negation import Refutation, refutations
from ouzel.physical.automaton.order import in_order
from ouzel.physical.automaton.shape import Shape, shape_of
from ouzel.physical.automaton.source import automaton_source
from ouzel.physical.compiled.non_overlap import keep_apart
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.prepare import NO_LIMIT, Filters, Prepared, kernel_of, prepare
from ouzel.physical.event_table import EventTable
from ouzel.physical.match_table import Many, MatchTable, One, chosen, counts_of, ends_of
from ouzel.physical.reference.evaluate import holds

MOST_RUNS = 10_000_000
MOST_NODES = 500_000_000


@dataclass
class AutomatonPlan:
    """A query of events, closures and alternatives in sequence, with negation, under any strategy."""

    query: BoundQuery
    shape: Shape
    filters: Filters
    operands: Operands
    source: str
    refutations: list[Refutation]

    @classmethod
    def of(cls, query: BoundQuery) -> AutomatonPlan:
        """Make the plan, or say in an UnsuitableError why there is none."""
        shape, filters = shape_of(query)
        operands = Operands()
        return cls(query, shape, filters, operands, automaton_source(shape, operands), refutations(shape))

    @property
    def _limit(self) -> int:
        return self.query.window.limit if self.query.window else NO_LIMIT

    def run(self, events: EventTable) -> MatchTable:
        """All matches in a table of events."""
        always = [conjunct for conjunct in self.query.conjuncts if conjunct.place is Place.ALWAYS]
        contiguous = self.shape.strategy in (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)
        prepared = prepare(self.query, events, self.filters, keep_all=contiguous).by_partition()
        if not all(holds(conjunct, {}, None) for conjunct in always):  # type: ignore[arg-type]
            prepared = prepared.none()
        bound = self._match(prepared, events)
        for refutation in self.refutations:
            kept = np.flatnonzero(refutation.keep(bound, prepared, events, self._limit))
            bound = {variable: chosen(one, kept) for variable, one in bound.items()}
        return self._table(bound, prepared, events)

    def _match(self, prepared: Prepared, events: EventTable) -> dict[str, One | Many]:
        arguments = self.operands.arguments(events.table, prepared.rows, events.end_times[prepared.rows])
        starts = np.searchsorted(prepared.parts, np.arange(prepared.part_count + 1))
        kernel = kernel_of(self.source, len(prepared.rows))
        event, component, before, nodes, found, first, matches, runs = kernel(
            prepared.masks,
            starts,
            prepared.moments,
            prepared.clocks,
            self._limit,
            MOST_RUNS,
            MOST_NODES,
            *arguments,
        )
        if matches < 0:
            raise OuzelError(
                f"too many runs at once ({runs:,}) or too many events bound ({nodes:,})\n"
                "  hint: a narrower window, more conditions, or skip_till_next_match"
            )
        # by end and start already: matches that are in order need not be moved once they are written out
        last = event[found[:matches]]
        order = np.lexsort((prepared.moments[first[:matches]], prepared.moments[last]))
        return expand(self.shape, found[:matches][order], event[:nodes], component[:nodes], before[:nodes])

    def _table(self, bound: dict[str, One | Many], prepared: Prepared, events: EventTable) -> MatchTable:
        """Matches as rows of the event table, in the order of results."""
        first, last = ends_of([one.variable for one in self.shape.states], bound)
        order = in_order(bound, prepared.rows, prepared.moments[first], prepared.moments[last], events)
        if not np.array_equal(order, np.arange(len(order))):
            bound = {variable: chosen(one, order) for variable, one in bound.items()}
            first, last = first[order], last[order]
        if self.query.non_overlap:
            moments = (prepared.moments[first], prepared.moments[last])
            kept = keep_apart(prepared.parts[last], prepared.part_count, *moments, counts_of(bound))
            bound = {variable: chosen(one, kept) for variable, one in bound.items()}
            first, last = first[kept], last[kept]
        first, last = prepared.rows[first], prepared.rows[last]
        return MatchTable(
            {variable: one.numbered(prepared.rows) for variable, one in bound.items()},
            events.starts[first],
            events.ends[last],
            events.start_times[first],
            events.end_times[last],
        )
