"""The match store as a graph whose paths are the matches (SASE+ 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from ouzel.physical.automaton.matching import AutomatonMatching
from ouzel.physical.automaton.store import UNION
from ouzel.physical.automaton.totals import totals_of_paths
from ouzel.physical.contract import Found
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.physical.stoppable import stoppable

if TYPE_CHECKING:
    from ouzel.physical.automaton.automaton import AutomatonPlan


class PathGraph:
    """Matches that were found and not written out."""

    def __init__(self, plan: AutomatonPlan, events: EventTable, limits: Limits) -> None:
        """Match all events."""
        self._plan = plan
        self._matching = AutomatonMatching(plan, limits, once=True, threads=1)
        self._found, self._last = stoppable(lambda: self._matching.graph(events))

    def __len__(self) -> int:
        """The number of places where matches end."""
        return len(self._found)

    @cached_property
    def count(self) -> float:
        """The number of matches, exact up to 2**53."""
        matching = self._matching
        graph = self._plan, matching.memory, self._found, self._last, matching.room
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
        return [one.variable for one in self._plan.shape.variables]

    def expand(self, ends: Sequence[int] | None = None) -> Found:
        """The matches written out, all of them or those of some ends."""
        found, last = self._found, self._last
        if ends is not None:
            found, last = found[list(ends)], last[list(ends)]
        return stoppable(lambda: self._matching.expanded(found, last))
