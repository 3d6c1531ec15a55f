"""A scan plan: which queries it can run, and how it runs them over an event table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ouzel.errors import OuzelError
from ouzel.language.tree import Strategy
from ouzel.logical.conjuncts import Conjunct, Place
from ouzel.logical.pattern import Binds, Component, Sequence, Step
from ouzel.logical.query import BoundQuery
from ouzel.optimizer.plan import UnsuitableError
from ouzel.physical.compiled.non_overlap import keep_apart
from ouzel.physical.compiled.operands import Operands
from ouzel.physical.compiled.prepare import NO_LIMIT, Filters, Prepared, kernel_of, key_column, prepare
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.match_table import Many, MatchTable, One
from ouzel.physical.reference.evaluate import holds
from ouzel.physical.scan.postponed import postponed_source
from ouzel.physical.scan.source import Negative, Shape, scan_source

MOST_MATCHES = 2**30


@dataclass
class ScanPlan:
    """A query of single events in sequence, with negation, under skip_till_any_match."""

    query: BoundQuery
    shape: Shape
    filters: Filters
    operands: Operands
    source: str
    postponed: list[tuple[Operands, str, Negative]]

    @classmethod
    def of(cls, query: BoundQuery) -> ScanPlan:
        """Make the plan, or say in a UnsuitableError why there is none."""
        shape, filters = _shape(query)
        operands = Operands()
        source = scan_source(shape, operands)
        postponed = []
        for negative in shape.negatives:
            if negative.gap == shape.length:
                own = Operands()
                postponed.append((own, postponed_source(shape, negative, own), negative))
        return cls(query, shape, filters, operands, source, postponed)

    def run(self, events: EventTable) -> MatchTable:
        """All matches in a table of events."""
        query = self.query
        always = [conjunct for conjunct in query.conjuncts if conjunct.place is Place.ALWAYS]
        if all(holds(conjunct, {}, None) for conjunct in always):  # type: ignore[arg-type]
            prepared = prepare(query, events, self.filters)
            sequences = self._construct(prepared, events)
            for operands, source, negative in self.postponed:
                sequences = self._keep(prepared, events, sequences, operands, source, negative)
            return self._table(sequences, prepared, events)
        return self._table(np.empty((0, self.shape.length), np.int64), None, events)

    @property
    def _limit(self) -> int:
        return self.query.window.limit if self.query.window else NO_LIMIT

    def _construct(self, prepared: Prepared, events: EventTable) -> Any:
        arguments = self.operands.arguments(events.table, prepared.rows, events.end_times[prepared.rows])
        kernel = kernel_of(self.source, len(prepared.rows))
        out, found = kernel(
            prepared.masks,
            prepared.parts,
            prepared.part_count,
            prepared.moments,
            prepared.clocks,
            self._limit,
            _count(prepared.masks, self.shape.positives[:-1]),
            _count(prepared.masks, [one.component for one in self.shape.negatives]),
            MOST_MATCHES,
            *arguments,
        )
        if found < 0:
            raise OuzelError(
                f"more than {MOST_MATCHES:,} matches\n  hint: a narrower window, more conditions, or "
                "skip_till_next_match"
            )
        return out[: found * self.shape.length].reshape(found, self.shape.length)

    def _keep(
        self,
        prepared: Prepared,
        events: EventTable,
        sequences: Any,
        operands: Operands,
        source: str,
        negative: Negative,
    ) -> Any:
        """The sequences that nothing refutes until their window has passed."""
        bit = 1 << negative.component.position
        refuters = np.flatnonzero(prepared.masks & bit)
        refuters = refuters[np.argsort(prepared.parts[refuters], kind="stable")]
        starts = np.searchsorted(prepared.parts[refuters], np.arange(prepared.part_count + 1))
        arguments = operands.arguments(events.table, prepared.rows, events.end_times[prepared.rows])
        kernel = kernel_of(source, len(prepared.rows))
        keep = kernel(
            sequences, prepared.parts, prepared.moments, prepared.clocks, self._limit, refuters, starts, *arguments
        )
        return sequences[keep]

    def _table(self, sequences: Any, prepared: Prepared | None, events: EventTable) -> MatchTable:
        """Sequences as rows of the event table, in the order of results."""
        rows = sequences if prepared is None else prepared.rows[sequences]
        order = _order(rows, events)
        if self.query.non_overlap and prepared is not None:
            ordered = sequences[order]
            moments = prepared.moments[ordered[:, 0]], prepared.moments[ordered[:, -1]]
            parts = prepared.parts[ordered[:, -1]]
            counts = np.full(len(order), self.shape.length, np.int64)
            order = order[keep_apart(parts, prepared.part_count, *moments, counts)]
        rows = rows[order]
        first, last = rows[:, 0], rows[:, -1]
        bound: dict[str, One | Many] = {
            one.variable: One(rows[:, k].copy()) for k, one in enumerate(self.shape.positives)
        }
        return MatchTable(
            bound,
            events.starts[first],
            events.ends[last],
            events.start_times[first],
            events.end_times[last],
        )


def _count(masks: Integers, components: Any) -> int:
    """How many nodes the stacks of some components will hold."""
    return int(sum(np.count_nonzero(masks & (1 << one.position)) for one in components)) + 1


def _order(rows: Any, events: EventTable) -> Integers:
    """The order of results: by end, start, and then the places of the events; ties by content."""
    used, at = np.unique(rows, return_inverse=True)
    ranked = events.places(used)[at.reshape(rows.shape)]
    columns = [ranked[:, k] for k in range(rows.shape[1])]
    order: Integers = np.lexsort((*reversed(columns), events.starts[rows[:, 0]], events.ends[rows[:, -1]]))
    return order


# ---- what a scan can do ----------------------------------------------------------------------------------


def _shape(query: BoundQuery) -> tuple[Shape, Filters]:
    if query.strategy is not Strategy.SKIP_TILL_ANY_MATCH:
        raise UnsuitableError(f"a scan finds all sequences, and the strategy is {query.strategy.value}")
    pattern = query.pattern
    items = pattern.items if isinstance(pattern, Sequence) else (pattern,)
    steps: list[Component] = []
    for item in items:
        if not isinstance(item, Step) or item.component.binds not in (Binds.ONE, Binds.NONE):
            raise UnsuitableError("a scan takes single events in sequence")
        steps.append(item.component)
    if len(query.components) > 60:
        raise UnsuitableError("a scan takes at most 60 components")
    positives = tuple(one for one in steps if not one.negative)
    for test in query.equivalences:
        key_column(query, test)
    single = [(one, [c for c in query.conjuncts if _is_single(c, one)]) for one in steps]
    alone = {id(c) for _one, own in single for c in own}
    several = [c for c in query.conjuncts if id(c) not in alone and c.place is not Place.ALWAYS]
    negatives = tuple(
        Negative(
            one,
            sum(not before.negative for before in steps[:place]),
            tuple(c for c in several if c.component is one),
        )
        for place, one in enumerate(steps)
        if one.negative
    )
    positive = tuple(c for c in several if c.place is not Place.NEGATIVE)
    return Shape(positives, positive, negatives), Filters(single)


def _is_single(conjunct: Conjunct, component: Component) -> bool:
    return conjunct.variables == {component.variable}
