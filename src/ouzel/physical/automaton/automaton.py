"""An automaton plan: which queries it can run, and how it runs them over an event table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.expressions import Attribute, Element, references
from ouzel.logical.pattern import Binds, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.automaton.expand import expand
from ouzel.physical.automaton.order import in_order, reordered
from ouzel.physical.automaton.source import Shape, automaton_source
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.prepare import Filters, Prepared, kernel_of, key_column, prepare
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.reference.evaluate import holds

MOST_RUNS = 10_000_000
MOST_NODES = 500_000_000
NO_LIMIT = 2**62


@dataclass
class AutomatonPlan:
    """A query of single events and closures in sequence, under any strategy."""

    query: BoundQuery
    shape: Shape
    filters: Filters
    operands: Operands
    source: str

    @classmethod
    def of(cls, query: BoundQuery) -> AutomatonPlan:
        """Make the plan, or say in an UnsuitableError why there is none."""
        shape, filters = _shape(query)
        operands = Operands()
        return cls(query, shape, filters, operands, automaton_source(shape, operands))

    def run(self, events: EventTable) -> MatchTable:
        """All matches in a table of events."""
        always = [conjunct for conjunct in self.query.conjuncts if conjunct.place is Place.ALWAYS]
        contiguous = self.shape.strategy in (Strategy.STRICT_CONTIGUITY, Strategy.PARTITION_CONTIGUITY)
        prepared = prepare(self.query, events, self.filters, keep_all=contiguous).by_partition()
        if not all(holds(conjunct, {}, None) for conjunct in always):  # type: ignore[arg-type]
            prepared = prepared.none()
        bound = self._match(prepared, events)
        return self._table(bound, prepared, events)

    def _match(self, prepared: Prepared, events: EventTable) -> dict[str, One | Many]:
        arguments = self.operands.arguments(events.table, prepared.rows, events.end_times[prepared.rows])
        limit = self.query.window.limit if self.query.window else NO_LIMIT
        starts = np.searchsorted(prepared.parts, np.arange(prepared.part_count + 1))
        kernel = kernel_of(self.source, len(prepared.rows))
        event, component, before, nodes, found, matches, runs = kernel(
            prepared.masks,
            starts,
            prepared.moments,
            prepared.clocks,
            limit,
            MOST_RUNS,
            MOST_NODES,
            *arguments,
        )
        if matches < 0:
            raise OuzelError(
                f"too many runs at once ({runs:,}) or too many events bound ({nodes:,})\n"
                "  hint: a narrower window, more conditions, or skip_till_next_match"
            )
        store = (event[:nodes], component[:nodes], before[:nodes])
        return expand(self.shape.components, found[:matches], *store)

    def _table(self, bound: dict[str, One | Many], prepared: Prepared, events: EventTable) -> MatchTable:
        """Matches as rows of the event table, in the order of results."""
        first, last = _ends(self.shape.components, bound)
        order = in_order(bound, prepared.rows, prepared.moments[first], prepared.moments[last], events)
        first, last = prepared.rows[first[order]], prepared.rows[last[order]]
        return MatchTable(
            {variable: reordered(one, order, prepared.rows) for variable, one in bound.items()},
            events.starts[first],
            events.ends[last],
            events.start_times[first],
            events.end_times[last],
        )


def _ends(components: tuple[Component, ...], bound: dict[str, One | Many]) -> tuple[Integers, Integers]:
    """The first and last event of each match."""
    sample = bound[components[0].variable]
    size = len(sample.rows) if isinstance(sample, One) else len(sample.offsets) - 1
    first, last = np.full(size, -1, np.int64), np.full(size, -1, np.int64)
    for component in components:
        one = bound[component.variable]
        if isinstance(one, One):
            low = high = one.rows
        else:
            full = one.offsets[:-1] < one.offsets[1:]
            padded = np.append(one.rows, -1)
            low = np.where(full, padded[np.where(full, one.offsets[:-1], -1)], -1)
            high = np.where(full, padded[np.where(full, one.offsets[1:] - 1, -1)], -1)
        first = np.where(first < 0, low, first)
        last = np.where(high >= 0, high, last)
    return first, last


# ---- what an automaton can do ----------------------------------------------------------------------------


def _shape(query: BoundQuery) -> tuple[Shape, Filters]:
    if query.non_overlap:
        raise UnsuitableError("the output is NON_OVERLAP")
    if query.strategy is Strategy.STRICT_CONTIGUITY and query.equivalences:
        raise UnsuitableError("strict contiguity minds the events of other partitions")
    for test in query.equivalences:
        key_column(query, test)
    pattern: Any = query.pattern
    items = pattern.items if isinstance(pattern, Sequence) else (pattern,)
    components: list[Component] = []
    for item in items:
        if not isinstance(item, Step) or item.component.binds not in (Binds.ONE, Binds.CLOSURE):
            raise UnsuitableError("an automaton takes single events and closures in sequence, without negation")
        components.append(item.component)
    if len(components) > 60:
        raise UnsuitableError("an automaton takes at most 60 components")
    single = [(one, [c for c in query.conjuncts if _is_single(c, one)]) for one in components]
    alone = {id(c) for _one, own in single for c in own}
    several = tuple(c for c in query.conjuncts if id(c) not in alone and c.place is not Place.ALWAYS)
    return Shape(tuple(components), several, query.strategy), Filters(single)


def _is_single(conjunct: Conjunct, component: Component) -> bool:
    """Whether a condition is about one event, whatever run takes it."""
    nodes = [node for literal in conjunct.literals for node in references(literal)]
    every = (Element.SINGLE, Element.CURRENT)
    return conjunct.variables == {component.variable} and all(
        isinstance(node, Attribute) and node.element in every for node in nodes
    )
