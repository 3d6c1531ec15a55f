"""What an automaton remembers from batch to batch: events, open runs, and what they have bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.logical.times import BEGINNING, END
from ouzel.physical.automaton.registers import FIRST, NODE
from ouzel.physical.automaton.runs import Runs
from ouzel.physical.automaton.store import COLUMNS, Store
from ouzel.physical.compiled.non_overlap import NONE_KEPT
from ouzel.physical.compiled.pending import Pending
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.event_types import EventTypes
from ouzel.physical.memory.growing import Numbers
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared

if TYPE_CHECKING:
    from ouzel.physical.automaton.automaton import AutomatonPlan

# So many events and nodes may have gone before it is worth looking for them.
SPARE = 4_096


class Memory:
    """Events that runs or refuters may need, open runs, the match store, matches that are not final yet.

    Events are numbered by their place in `buffer`; `until` is where the last match kept by NON_OVERLAP ends.
    """

    events: EventTable

    def __init__(self, plan: AutomatonPlan, *, once: bool) -> None:
        """Begin with nothing."""
        self.plan = plan
        self.once = once
        self.partitions = Partitions(plan.query, once=once)
        self.texts = dict(plan.operands.texts)
        self.buffer = Prepared.none()
        self.store = Store()
        self.runs = Runs.none(plan.widths)
        self.pending = Pending()
        self.until: Integers = np.zeros(0, np.int64)
        self.seen = 0
        self._has_events = False
        self._checked = 0

    def add(self, events: EventTable, prepared: Prepared) -> int:
        """Keep the events that some component wants, for as long as they may matter; the number of the first."""
        # over many small batches compiling pays too
        self.seen += len(prepared)
        base = len(self.buffer)
        if self.once:
            self.events, self.buffer = events, prepared
            return base
        wanted = events.taken(prepared.rows)
        self.events = self.events.followed_by(wanted) if self._has_events else wanted
        self._has_events = True
        rows = np.arange(base, base + len(prepared))
        self.buffer = self.buffer.followed_by(Prepared(rows, *prepared.arrays[1:]))
        return base

    def alive(self, now: int | None) -> Any:
        """For every event, whether a match that starts with it may still end."""
        window = self.plan.query.window
        if now is None:
            return np.zeros(len(self.buffer), np.bool_)
        if window is None:
            return np.ones(len(self.buffer), np.bool_)
        if not window.counts_events:
            return self.buffer.clocks > max(now - window.limit, BEGINNING)
        # an event of no partition, which strict contiguity minds, is over at once
        seen = np.append(self.partitions.seen, END)
        return seen[self.buffer.parts] - self.buffer.clocks < window.limit

    # ---- what is not needed any more ---------------------------------------------------------------------

    def prune(self, now: int) -> None:
        """Forget events and nodes that nothing needs any more, once there may be many (SASE+ 5.3)."""
        size = len(self.buffer) + self.store.nodes
        if size < 2 * self._checked + SPARE:
            return
        alive = self.alive(now)
        self._drop_runs(alive)
        numbers, used = self.store.reached(self.runs.ri[:, NODE], alive)
        used[self.runs.ri[:, FIRST]] = True
        used[self.pending.rows()] = True
        # a set, as one component may refute on several steps
        refuting = sum({1 << refutation.component.position for refutation in self.plan.refutations})
        used |= alive & ((self.buffer.masks & refuting) != 0)
        kept = np.flatnonzero(used)
        events = np.full(len(used), -1, np.int64)
        events[kept] = np.arange(len(kept))
        self.store.keep(numbers, events)
        self.runs.ri[:, NODE] = numbers[self.runs.ri[:, NODE]]
        self.runs.ri[:, FIRST] = events[self.runs.ri[:, FIRST]]
        self.pending.renumber(Numbers(used))
        self.events = self.events.taken(self.buffer.rows[kept])
        rest = self.buffer.taken(kept)
        self.buffer = Prepared(np.arange(len(kept)), *rest.arrays[1:])
        self._forget_partitions()
        self._checked = len(self.buffer) + self.store.nodes

    def _drop_runs(self, alive: Any) -> None:
        """Drop expired runs of partitions that had no event to find out at."""
        kept = alive[self.runs.ri[:, FIRST]]
        if not np.all(kept):
            self.runs.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[self.runs.starts]
            self.runs.ri, self.runs.rf = self.runs.ri[kept], self.runs.rf[kept]

    def _forget_partitions(self) -> None:
        """Forget partitions without events: they have no runs, and no match to come that may overlap."""
        if not self.partitions.tests or self.plan.shape.keyed:
            # runs of all partitions go together: they know theirs by number
            return
        count = self.partitions.count
        kept = np.unique(self.buffer.parts)
        numbers = self.partitions.keep(kept)
        self.buffer = Prepared(*self.buffer.arrays[:2], numbers[self.buffer.parts], *self.buffer.arrays[3:])
        runs = np.zeros(count, np.int64)
        runs[: len(self.runs.starts) - 1] = np.diff(self.runs.starts)
        self.runs.starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(runs[kept])])
        until = np.full(count, NONE_KEPT, np.int64)
        until[: len(self.until)] = self.until
        self.until = until[kept]

    # ---- snapshots ---------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All of it, as arrays and tables; there must have been a batch, if one without events."""
        events, nodes = self.events, self.store.nodes
        state = {
            "events": events.table,
            "types": list(events.types.names),
            "codes": events.types.codes,
            "moments": events.ends,
            "times": events.end_times,
            "masks": self.buffer.masks,
            "parts": self.buffer.parts,
            "clocks": self.buffer.clocks,
            "texts": list(self.texts),
            "starts": self.runs.starts,
            "ri": self.runs.ri,
            "rf": self.runs.rf,
            "until": self.until,
        }
        state |= {f"store.{name}": one[:nodes] for name, one in zip(COLUMNS, self.store.arrays, strict=True)}
        state |= {f"pending.{name}": value for name, value in self.pending.state().items()}
        return state | {f"partitions.{name}": value for name, value in self.partitions.state().items()}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on with all of it; there must have been a batch, if one without events, that tells their schema."""
        types = EventTypes(None, tuple(state["types"]), state["codes"])
        moments, times = state["moments"], state["times"]
        self.events = EventTable.of_moments(state["events"], self.events.schema, types, moments, times)
        masks, parts, clocks = (state[name] for name in ("masks", "parts", "clocks"))
        self.buffer = Prepared(np.arange(len(masks)), masks, parts, state["moments"], clocks)
        self.texts = {text: number for number, text in enumerate(state["texts"])}
        self.runs = Runs(state["starts"], state["ri"], state["rf"])
        self.until = state["until"]
        self.store = Store.of([state[f"store.{name}"] for name in COLUMNS])
        self.pending.resume(_under("pending.", state))
        self.partitions.resume(_under("partitions.", state))


def _under(prefix: str, state: dict[str, Any]) -> dict[str, Any]:
    return {name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)}
