"""What a tree plan remembers from batch to batch: events, what they are like, and records, made of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ouzel.physical.compiled.calls import Calls
from ouzel.physical.compiled.operands import HEAD, Operands, may_be
from ouzel.physical.event_table import EventTable
from ouzel.physical.finish.pending import Pending
from ouzel.physical.memory.growing import Numbers, marked
from ouzel.physical.memory.partitions import Partitions
from ouzel.physical.memory.prepare import Prepared
from ouzel.physical.memory.retained import Retained
from ouzel.physical.memory.values import Values
from ouzel.physical.statistics import Statistics
from ouzel.physical.tree.arrivals import Arrivals
from ouzel.physical.tree.assembly import Assembly
from ouzel.physical.tree.operators import Bounds, since
from ouzel.physical.tree.sampling import Sampler, differ, state_of, statistics_of
from ouzel.state.parts import in_parts, part

if TYPE_CHECKING:
    from ouzel.physical.tree.plan import TreePlan

# So many events and records may have gone before it is worth looking for them.
SPARE = 4_096
# By what share a statistic must have changed, and another order be better, for it to be taken (t and c).
CHANGED, BETTER = 0.3, 0.1
# What events are like is seen when so many have come: of the first few, lest the first order stay for long.
FIRST, STRETCH = 64, 1_024
# For each event that was joined anew, so many come before the order may change again: that takes half of the time.
REST = 1
_NOTHING = np.zeros(1, np.int64)


class Memory:
    """Events with their values, the trees that are filled with their records, matches that wait."""

    def __init__(self, plan: TreePlan, *, once: bool, most: int, sheds: bool) -> None:
        """Begin with nothing; trees hold at most so many records together: more are an error, or are shed."""
        self.plan, self.once = plan, once
        self.most, self._sheds = most, sheds
        # of records that were made anew, for another order of joins or elsewhere
        self.shed_anew = 0
        self.partitions = Partitions(plan.query, once=once)
        self.retained = Retained(plan.query, self.partitions, once=once, masks=True)
        self.values = Values(plan.operands, once=once)
        self.pending = Pending()
        self.sampler = Sampler(plan.query, plan.trials)
        self.chosen_by = Statistics({})
        self.orders = plan.orders(self.chosen_by)
        self.assemblies = self._planted()
        # the events that came since some were looked at, and how many are worth it
        self._unseen, self._due = 0, FIRST
        self._checked = 0
        self._remembered = 0

    @property
    def open_runs(self) -> int:
        """How many records there are."""
        return sum(map(len, self.assemblies))

    def add(self, events: EventTable, prepared: Prepared) -> tuple[Prepared, int]:
        """Keep the events that some component wants, for as long as they may matter; the number of the first."""
        base = self.retained.add(events, prepared)
        wanted = may_be(self.plan.query.components, prepared.masks)
        self.values.add(events, prepared.rows, prepared.end_times, wanted)
        return prepared, base

    def arguments(self) -> Callable[[Operands], list[Any]]:
        """What kernels compare: the constants of each, and columns of all events."""
        arrays = self.values.arguments(self.retained.intervals)[HEAD:]
        places = {key: number for number, key in enumerate(self.plan.operands.columns)}
        texts = self.values.texts

        def of(operands: Operands) -> list[Any]:
            constants = np.array(operands.integers, np.int64), np.array(operands.floats, np.float64)
            ranks = texts.ranks() if operands.orders_texts else _NOTHING
            calls = Calls(operands.calls, texts) if operands.calls else _NOTHING
            columns = [one for key in operands.columns for one in arrays[2 * places[key] : 2 * places[key] + 2]]
            return [*constants, ranks, calls, *columns]

        return of

    def arrivals(self, begin: int, end: int) -> Arrivals:
        """The events from one number to another, by what they may be bound to.

        Of copies that are in several partitions, those count that all tests tell apart.
        """
        masks, spread = self.retained.marks[begin:end], self.partitions.shared
        if spread is not None:
            masks = np.where(self.retained.parts[begin:end] < spread.driven, masks, 0)
        return Arrivals(begin, masks)

    # ---- trees -------------------------------------------------------------------------------------------

    def _planted(self) -> list[Assembly]:
        """Trees of the orders that were chosen, with empty buffers."""
        return [Assembly(self.plan.query, one, self.plan.kernels(one)) for one in self.plan.trees(self.orders)]

    def adapt(self, arrivals: Arrivals) -> bool:
        """See what events are like, and take another order of joins before those of a round; whether it did.

        It is done between two rounds, so that no match is found twice, and none is lost (ZStream 5.3).
        """
        self._unseen += len(arrivals)
        if self._unseen < self._due or not self.plan.may_change(self.sampler.rounds):
            return False
        begin, end = arrivals.begin, arrivals.begin + len(arrivals)
        if self._unseen > len(arrivals):
            first = max(end - self._unseen, 0)
            arrivals = self.arrivals(first, end)
        self.sampler.see(arrivals, self.retained, self.arguments())
        self._unseen, self._due = 0, min(2 * self._due, STRETCH)
        statistics = self.sampler.statistics
        if not differ(self.chosen_by, statistics, CHANGED):
            return False
        orders = self.plan.orders(statistics)
        best, present = (self.plan.cost(one, statistics) for one in (orders, self.orders))
        if best > (1 - BETTER) * present:
            self.chosen_by = statistics if best >= present else self.chosen_by  # it would be chosen again
            return False
        self.orders, self.chosen_by = orders, statistics
        self._due = max(self._due, REST * self._replant(begin))
        return begin > 0 or self.sampler.rounds > 1  # else it was the first

    def _replant(self, end: int) -> int:
        """Make the records of the trees anew, of the events before a number; how many these are.

        Their matches were found already.
        """
        self.assemblies = self._planted()
        if not end:
            return 0
        oldest = self._since(end - 1)
        begin = int(np.searchsorted(self.retained.clocks[:end], oldest, side="right"))
        arrivals = self.arrivals(begin, end)
        for one in self.assemblies:
            one.take(arrivals, self.retained, self.plan.limit)
            self.shed_anew += one.resume(self.retained, self.arguments(), self.bounds(None, one))
        return end - begin

    def bounds(self, first_final: int | None, own: Assembly) -> Bounds:
        """How far a round goes back in time, which begins with an event that may end a match; and what a tree,
        beside the others, may hold.
        """
        eat = since(None, 0) if first_final is None else self._since(first_final)
        others = sum(len(one) for one in self.assemblies if one is not own)
        return Bounds(self.plan.limit, eat, max(self.most - others, 1), self._sheds)

    def _since(self, number: int) -> int:
        """The clock up to which events are too old for an event and all that follow."""
        window = self.plan.query.window
        if window is None or window.counts_events:
            return since(None, 0)
        return since(int(self.retained.clocks[number]), self.plan.limit)

    # ---- what is not needed any more ---------------------------------------------------------------------

    def drop_before(self, number: int, spare: int) -> None:
        """Drop the records that are too old for an event, and all that follow, of trees with many records."""
        window = self.plan.query.window
        crowded = [one for one in self.assemblies if len(one) > spare]
        if window is None or not crowded:
            return
        alive = self.retained.start_clocks > self._oldest_before(number)
        for one in crowded:
            chains = one.drop(alive)
            one.renumber(np.ones(len(self.retained), np.bool_), chains, self.retained)

    def _oldest_before(self, number: int) -> Any:
        """The clock up to which events are too old for all that follow, of each event in its partition."""
        window, retained = self.plan.query.window, self.retained
        if window is None or not window.counts_events:
            return self._since(number)
        # an event of no partition has the place behind all
        latest = np.full(self.partitions.count + 1, -1, np.int64)
        latest[retained.parts[:number]] = retained.clocks[:number]
        return latest[retained.parts] - self.plan.limit

    def settle(self, _base: int) -> None:
        """Keep the events of a batch: records may have any of them."""
        self.retained.settle()

    def prune(self, now: int) -> None:
        """Forget what nothing needs any more, once it may be much."""
        retained = self.retained
        if len(retained) + self.open_runs >= self._checked + self._checked // 16 + SPARE:
            alive = retained.alive(now)
            chains = [one.drop(alive) for one in self.assemblies]
            kept = retained.near(now) | marked(len(retained), *self.pending.columns())
            self._unseen = int(np.count_nonzero(kept[max(len(kept) - self._unseen, 0) :]))
            retained.prune(kept)
            self.values.keep(kept)
            self.pending.renumber(Numbers(kept))
            for one, own in zip(self.assemblies, chains, strict=True):
                one.renumber(kept, own, retained)
            self._checked = len(retained) + self.open_runs
        if self.partitions.count + len(self.values.texts) >= 2 * self._remembered + SPARE:
            if self.partitions.tests:
                self.pending.forget(retained.forget())
            self.values.forget()
            # records are looked up by the numbers of partitions and of texts
            for one in self.assemblies:
                one.relink(retained)
            self._remembered = self.partitions.count + len(self.values.texts)

    # ---- going on elsewhere ------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """The events, what they are like, and what waits: records are made of events."""
        parts = {
            "retained": self.retained.state(),
            "pending": self.pending.state(),
            "seen": state_of(self.sampler.statistics),
            "chosen_by": state_of(self.chosen_by),
        }
        return {**in_parts(parts), "pace": np.array([self._unseen, self._due, self.sampler.rounds])}

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state: make the records of the events anew, and none of the matches that were found."""
        retained = self.retained
        retained.resume(part("retained", state))
        self.pending.resume(part("pending", state))
        self.sampler.statistics = statistics_of(part("seen", state))
        self.chosen_by = statistics_of(part("chosen_by", state))
        self.orders = self.plan.orders(self.chosen_by)
        self._unseen, self._due, self.sampler.rounds = state["pace"].tolist()
        self.values = Values(self.plan.operands, once=False)
        if len(retained):
            events, rows = retained.events(np.arange(len(retained)))
            self.values.add(events, rows, events.end_times, None)
        self._replant(len(retained))
