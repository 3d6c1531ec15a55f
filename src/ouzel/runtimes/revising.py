"""A matcher that corrects itself: events may be withdrawn, and matches be reported before they are final.

What it answers are changes: rows to insert and rows to withdraw, each with the id of its match.  Events up to some
time after the punctuation are matched, all others held (Cleanse, AFA 5.3); what comes late makes the head go back
(`rewinding.py`), and what it finds then is compared with what was reported (`reported.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.compile import compile_query
from ouzel.explain.layout import section
from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable
from ouzel.runtimes.batches import fitted
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.kinds import without_views
from ouzel.runtimes.matcher import Matcher, Result, options_in
from ouzel.runtimes.op_column import (
    INSERT,
    Batch,
    Withdrawn,
    read_batch,
    set_aside,
    with_op,
    withdrawn,
    without_event,
)
from ouzel.runtimes.quarantine import Report, bad_table, refuse
from ouzel.runtimes.reading import Reading, settled
from ouzel.runtimes.reported import OP, PROVISIONAL, Log, check_columns
from ouzel.runtimes.revision import Revision, check_revision, read_revision, speculation_ticks
from ouzel.runtimes.rewinding import Found, Rewinding
from ouzel.runtimes.tail import Tail
from ouzel.state import read_snapshot
from ouzel.state.parts import part


class Revising(Matcher):
    """A matcher whose `push`, `advance` and `finish` return changes, in the order in which to apply them."""

    def __init__(
        self,
        text: str,
        schema: pa.Schema,
        reading: Reading,
        params: Any = None,
        *,
        revision: Revision,
        speculation: Any = 0,
        **options: Any,
    ) -> None:
        """Compile queries as a matcher does; the schema has the column of what becomes of events."""
        own = schema
        if isinstance(schema, pa.Schema):
            check_revision(revision, schema, settled(reading, schema.names))
            own = pa.schema([field for field in schema if field.name != revision.op], schema.metadata)
        super().__init__(text, own, reading, params, **options)
        self.schema = schema
        self.revision = replace(revision, speculation=speculation_ticks(speculation, self.time.tick))
        if revision.op is not None:
            self.late = self.late.append_column(revision.op, pa.array([], pa.int8()))
            self.report.quarantined = bad_table(without_views(schema.empty_table()), {})
        assert self._none is not None
        self._no_events: EventTable = self._none
        self._plans: tuple[Plan, ...] | None = tuple(self._chain.all_plans)
        self._check_columns()
        self._tail = Tail(self._none)
        ties, by_arrival = self._order.tie_breakers, self._order.by_arrival
        self._head = Rewinding(self._chain, self._fresh, self._none, ties, by_arrival=by_arrival)
        self._log = Log(remembers=self._speculates)
        self._latest = BEGINNING

    @property
    def _speculates(self) -> bool:
        return self.revision.speculation != 0

    def _check_columns(self) -> None:
        for query in self._queries:
            if query.name in self.names:
                check_columns(query)

    def _fresh(self) -> Chain:
        """Another chain of the queries that are there now."""
        if self._plans is None:
            text, params = self._program.said()
            self._plans = tuple(
                compile_query(text, self._no_events.schema, params, self.engine, self.tuning).plans
            )
        return Chain(self._plans, self.limits, self._chain.threads)

    def _own_parts(self) -> dict[str, str]:
        return self.revision.parts

    def explain(self) -> str:
        """The queries, how they run now, and how they are corrected."""
        return "\n\n".join([super().explain(), "\n".join(section("corrections", self._corrections()))])

    def _corrections(self) -> list[str]:
        op, ticks = self.revision.op, self.revision.speculation
        rows = [] if op is None else [f"rows with -1 in '{op}' withdraw events"]
        if ticks == 0:
            return [*rows, "matches are reported when they are final, and none is withdrawn"]
        far = "all that came" if ticks is None else f"those up to {ticks:,} ticks after the punctuation"
        rows += [f"matches are reported of events that are not final: {far}"]
        return [*rows, "late and withdrawn events: back to a checkpoint before them, and on from there"]

    # ---- queries that come and go ------------------------------------------------------------------------

    def add(self, id: Any, query: Any) -> None:
        """Take one more query, while it runs: it sees the events at the punctuation or later."""
        self._check_open()
        with self._at_punctuation():
            super().add(id, query)
            self._plans = None
            try:
                self._check_columns()
            except BaseException:
                super().remove(id)
                raise

    def remove(self, id: Any) -> None:
        """End a query, while it runs: nothing of it is reported or withdrawn any more."""
        self._check_open()
        with self._at_punctuation():
            super().remove(id)
            self._plans = None
            of_set = next((query.members for query in self._queries if query.members is not None), None)
            if of_set is not None:
                self._log.drop(of_set.id, id)
            self._log.only(self.names)

    def change(self, add: Any = (), remove: Any = (), at: Any = None) -> Result:
        """Let arcs come and go, while it runs; what changes by that, which may reach back to the punctuation."""
        began = self._check_open()
        changed = self._changed(add, remove, at)
        self._know_columns()
        if not changed.is_new:
            with self._breaking():
                changed.apply()
                return self._go(changed.time, began)
        with self._at_punctuation():
            changed.replan()
            self._note_queries()
            self._plans = tuple(self._chain.all_plans)
        with self._breaking():
            return self._go(None, began)

    @property
    def _newest(self) -> int:
        return self._latest

    @property
    def _settled(self) -> int:
        return self._head.base if self._speculates else self.now

    @contextmanager
    def _at_punctuation(self) -> Iterator[None]:
        """Let queries change where nothing but what is final has been matched; then go on to the head."""
        self._know_columns()
        if not self._speculates:
            yield
            return
        head, base = self._head.now, self._head.base
        with self._breaking():
            self._head.rewind(self._head.checkpoints[0])
            found = [self._head.step(self._tail, self.now)] if self.now > base else []
        try:
            yield
        finally:
            with self._breaking():
                self._head.begin_here()
                found.append(self._head.step(self._tail, max(head, self.now)))
                self._log.replace(self.names, base, [*found, *self._provisional()])
                self._forget()

    # ---- events ------------------------------------------------------------------------------------------

    def push(self, events: pa.RecordBatch | pa.Table, watermark: Any = None) -> Result:
        """Take a batch of events and withdrawals, in any order; what changes by that."""
        began = self._check_open()
        report, op = Report(), self.revision.op
        table = fitted(events, self.schema)
        batch = read_batch(table, op, self._intake, report)
        self._check_types(batch.events)
        is_late, late = batch.events.end_times < self.now, None
        if is_late.any():
            self._check_late(int(is_late.sum()), len(is_late))
            late, batch = batch.taken(np.flatnonzero(is_late)), batch.taken(np.flatnonzero(~is_late))
        found = withdrawn(batch, self._tail, self.revision.identity, self.reading)
        if op is not None and len(found.without):
            problems = without_event(batch, found.without, op)
            if self.reading.on_bad == "error":
                refuse(problems)
            set_aside(table, [*report.problems, *problems], report)
        until = None if watermark is None else self._ticks(watermark)
        with self._breaking():
            if late is not None:
                kept = late.events.table if op is None else with_op(late, op)
                self.late = pa.concat_tables([self.late, kept])
                self.report.late += len(late.events)
            report.withdrawn = len(found.kept) + len(found.own)
            self.report.add(report)
            changed = self._take(batch, found)
            self._punctuate(until)
            return self._go(changed, began)

    def _take(self, batch: Batch, found: Withdrawn) -> int | None:
        """Take what is inserted and drop what is withdrawn; the first time at which something has changed."""
        events = batch.events
        inserted = np.flatnonzero(batch.signs == INSERT)
        if len(inserted):
            self._latest = max(self._latest, int(events.end_times[inserted].max()))
        if len(found.own):
            inserted = np.setdiff1d(inserted, found.own)
        if len(inserted) < len(events):
            events = events.taken(inserted)
        self._tail.remove(found.kept)
        self._tail.add(events)
        return min((int(times.min()) for times in (events.end_times, found.times) if len(times)), default=None)

    def _punctuate(self, until: int | None) -> None:
        """Let time pass: to what is said, and with the events if they do that."""
        order = self._order
        if self.revision.punctuates:
            order.now = max(order.now, self._latest - order.delay)
        order.now = order.now if until is None else max(order.now, until)

    def advance(self, watermark: Any) -> Result:
        """Let time pass: nothing before the watermark will be inserted or withdrawn any more.  What changes."""
        began = self._check_open()
        until = self._ticks(watermark)
        with self._breaking():
            self._punctuate(until)
            return self._go(None, began)

    def finish(self) -> Result:
        """The stream is over; what changes by that."""
        began = self._check_open()
        with self._breaking():
            result = self._go(None, began, is_over=True)
        self._is_finished = True
        return result

    def _go(self, changed: int | None, began: float, *, is_over: bool = False) -> Result:
        """Match the events that may be matched by now, again from where they have changed; the differences."""
        self._know_columns()
        found: list[Found] = []
        if changed is not None and changed < self._head.now:
            found = self._head.again(self._tail, changed)
        since = found[0][0] if found else PROVISIONAL
        found.append(self._head.step(self._tail, None if is_over else self._until()))
        self._log.replace(self.names, since, [*found, *([] if is_over else self._provisional())])
        self._forget()
        result = self._log.told(self.names)
        self.report.matches += sum(int(pc.sum(table.column(OP)).as_py() or 0) for table in result.values())
        self.report.counters = self._chain.counters(self._past())
        self.report.seconds += perf_counter() - began
        return result if self._apart else result[self.names[0]]

    def _until(self) -> int:
        """Up to which time events are matched: those that came, as far after the punctuation as is allowed."""
        until, ticks = self._latest + 1, self.revision.speculation
        if ticks is not None:
            until = min(until, self.now + ticks)
        return max(until, self.now, self._head.now)

    def _provisional(self) -> list[Found]:
        """What would be found if the stream were over, where totals over matches wait for that."""
        if not self._speculates or not any(query.aggregates for query in self._queries):
            return []
        return [(PROVISIONAL, self._head.ended())]

    def _forget(self) -> None:
        """Forget what no correction can reach any more."""
        if not self._speculates:
            self._tail.forget(self._head.now)
            return
        self._head.keep_some(self._tail, self.now)
        self._tail.forget(self._head.base)
        self._log.forget(self._head.base)

    def _past(self) -> Counters:
        counters = replace(self._counted)
        counters.add(self._head.past)
        return counters

    # ---- snapshots ---------------------------------------------------------------------------------------

    def _header(self) -> dict[str, Any]:
        return {**super()._header(), "revision": self.revision.written()}

    def _states(self) -> dict[str, dict[str, Any]]:
        states = {"tail": self._tail.state(), "log": self._log.state(), "head": self._head.state()}
        # of a head that can go back, the checkpoints tell how it is
        return {"revising": {"latest": self._latest}, **states, **({} if self._speculates else super()._states())}

    def _resume_states(self, values: dict[str, Any]) -> None:
        self._latest = part("revising", values)["latest"]
        self._tail.resume(part("tail", values))
        self._log.resume(part("log", values))
        if not self._speculates:
            super()._resume_states(values)
        self._head.resume(part("head", values), self._tail)

    def _know_columns(self) -> None:
        """Bring the chain no events, but their columns; where it can go back, that is where it began."""
        if self._none is not None:
            self._none = None
            self._chain.step(self._no_events, BEGINNING)
            if self._speculates:
                self._head.keep()


def restored(data: bytes, threads: int = 1) -> Matcher:
    """The matcher that a snapshot was taken of; threads share large batches."""
    header, values = read_snapshot(data)
    options = {**options_in(header, values), "threads": threads}
    if "revision" in header:
        revision = read_revision(header["revision"])
        speculation = "inf" if revision.speculation is None else revision.speculation
        matcher: Matcher = Revising(revision=revision, speculation=speculation, **options)
    else:
        matcher = Matcher(**options)
    matcher.restore(data)
    return matcher
