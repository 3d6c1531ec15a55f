"""Compressed output (SASE+ 4.2): the structure that all matches share, which yields them when asked to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ouzel.errors import OuzelError
from ouzel.logical.columns import needed_columns
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Graph, KeepsGraph, UnsuitableError
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
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

    def __init__(self, graph: Graph, restore: Restore) -> None:
        """Show a graph to its user, whose kind of tables rows are restored to."""
        self._graph, self._restore = graph, restore

    def __len__(self) -> int:
        """The number of ends: of events with which matches end, once for each path that leads there."""
        return len(self._graph)

    def __repr__(self) -> str:
        """What it holds."""
        count = f"{self.count:,.0f}" if self.count < 2**53 else f"{self.count:.4g}"
        return f"MatchGraph({count} matches, {self.nodes.num_rows:,} nodes, {len(self):,} ends)"

    @property
    def count(self) -> float:
        """The number of matches."""
        return self._graph.count

    @property
    def nodes(self) -> pa.Table:
        """The nodes, by number."""
        return self._graph.nodes

    @property
    def ends(self) -> pa.Table:
        """Where matches end."""
        return self._graph.ends

    def expand(self, ends: Sequence[int] | None = None) -> Any:
        """The matches as rows, all of them or those of some ends."""
        found = self._graph.expand(ends)
        return self._restore(result_table(found), origins_of(found.query))


def compress(plan: Plan, events: EventTable, limits: Limits, restore: Restore) -> MatchGraph:
    """The match graph of a query, if it has one: what filters whole matches needs them written out."""
    query, physical = plan.query, plan.physical
    assert isinstance(physical, KeepsGraph)
    why = ""
    if any(component.negative for component in query.components) or query.non_overlap:
        why = "negation and NON_OVERLAP filter whole matches"
    elif query.aggregates or query.into:
        why = "OUTPUT AGGREGATE and INTO use up the matches"
    elif query.numbers_matches:
        why = "match_number() counts all matches"
    if why:
        raise OuzelError(f"mode='compressed': required a query whose matches share a graph; {why}")
    try:
        return MatchGraph(physical.graph(events.select(needed_columns([query])), limits), restore)
    except UnsuitableError as error:
        raise OuzelError(f"mode='compressed': {error}") from error
