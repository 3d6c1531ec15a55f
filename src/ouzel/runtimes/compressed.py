"""Compressed output (SASE+ 4.2): the structure that all matches share, which yields them when asked to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.logical.columns import needed_columns
from ouzel.optimizer.plan import Plan, UnsuitableError
from ouzel.physical.automaton.automaton import AutomatonPlan
from ouzel.physical.automaton.store import UNION
from ouzel.physical.automaton.totals import totals_of_paths
from ouzel.physical.compiled.compute import compute_by_row
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.stoppable import stoppable
from ouzel.runtimes.kinds import Restore
from ouzel.runtimes.origins import origins_of
from ouzel.runtimes.results import result_table


class MatchGraph:
    """All matches of a query, unexpanded: many more than could be written out may be in a small graph.

    - `count` is how many there are, exact up to 2**53.
    - `nodes` and `ends` are the graph as tables: a node binds an event (a row of the events) to a variable, after
      what `before` leads to; a union node, without a variable, joins the paths of `before` and `other`.  A match
      ends with a node, and with `event` bound to `variable` after it, where given.
    - `expand()` gives the rows that `match` gives in verbose mode; `expand(ends=[…])` those of some ends.
    """

    def __init__(self, plan: Plan, events: EventTable, limits: Limits, restore: Restore) -> None:
        """Match without writing matches out."""
        self._plan, self._restore = plan, restore
        self._matching = plan.physical.begin(limits, once=True)
        needed = events.select(needed_columns([plan.query]))
        self._found, self._last = stoppable(lambda: self._matching.graph(needed))

    def __len__(self) -> int:
        """The number of ends: of events with which matches end, once for each path that leads there."""
        return len(self._found)

    def __repr__(self) -> str:
        """What it holds."""
        count = f"{self.count:,.0f}" if self.count < 2**53 else f"{self.count:.4g}"
        return f"MatchGraph({count} matches, {self.nodes.num_rows:,} nodes, {len(self):,} ends)"

    @cached_property
    def count(self) -> float:
        """The number of matches."""
        matching = self._matching
        graph = self._plan.physical, matching.memory, self._found, self._last, matching.room
        matches, _totals = stoppable(lambda: totals_of_paths(*graph))
        return float(matches.sum())

    @cached_property
    def nodes(self) -> pa.Table:
        """The nodes, by number."""
        store, rows = self._matching.memory.store, self._matching.memory.buffer.rows
        event, component, before = (one[: store.nodes] for one in (store.event, store.component, store.before))
        union = component == UNION
        variables = pa.array([*self._variables, None])
        return pa.table(
            {
                "variable": variables.take(pa.array(component % len(variables))),
                "event": pa.array(rows[event * ~union] if len(rows) else event, pa.int64(), mask=union),
                "before": pa.array(before, pa.int64(), mask=before < 0),
                "other": pa.array(event, pa.int64(), mask=~union),
            }
        )

    @cached_property
    def ends(self) -> pa.Table:
        """Where matches end."""
        rows = self._matching.memory.buffer.rows
        node, event, state = (self._found[:, k] for k in range(3))
        variables = pa.array(self._variables)
        return pa.table(
            {
                "node": pa.array(node, pa.int64(), mask=node < 0),
                "event": pa.array(rows[event] if len(rows) else event, pa.int64(), mask=event < 0),
                "variable": variables.take(pa.array(state, mask=event < 0)),
            }
        )

    @property
    def _variables(self) -> list[str]:
        return [one.variable for one in self._plan.physical.shape.states]

    def expand(self, ends: Sequence[int] | None = None) -> Any:
        """The matches as rows, all of them or those of some ends."""
        found, last = self._found, self._last
        if ends is not None:
            found, last = found[list(ends)], last[list(ends)]
        written = stoppable(lambda: self._matching.expanded(found, last))
        compute = compute_by_row(written.matches, written.events)
        query = self._plan.query
        return self._restore(
            result_table(query, written.matches, written.events.table, compute), origins_of(query)
        )


def compress(plan: Plan, events: EventTable, limits: Limits, restore: Restore) -> MatchGraph:
    """The match graph of a query, if it has one: what filters whole matches needs them written out."""
    query, physical = plan.query, plan.physical
    why = ""
    if not isinstance(physical, AutomatonPlan):
        why = f"it runs on the engine {plan.engine}"
    elif physical.refutations or query.non_overlap:
        why = "negation and NON_OVERLAP filter whole matches"
    elif query.aggregates or query.into:
        why = "OUTPUT AGGREGATE and INTO use up the matches"
    elif query.numbers_matches:
        why = "match_number() counts all matches"
    elif physical.evaluation == "backtracking":
        why = "backtracking shares nothing"
    if why:
        raise OuzelError(f"mode='compressed': required a query whose matches share a graph; {why}")
    try:
        return MatchGraph(plan, events, limits, restore)
    except UnsuitableError as error:
        raise OuzelError(f"mode='compressed': {error}") from error
