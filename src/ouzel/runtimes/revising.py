"""A matcher that corrects itself: events may be withdrawn, and matches be reported before they are final.

What it answers are changes: rows to insert and rows to withdraw, each with the id of its match.  Events up to some
time after the punctuation are matched, all others held (Cleanse, AFA 5.3); what comes late makes the head go back
(`rewinding.py`), and what it finds then is compared with what was reported (`reported.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ouzel.errors import OuzelError, listed
from ouzel.explain.layout import section
from ouzel.language.document import is_list
from ouzel.logical.times import BEGINNING
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable
from ouzel.runtimes.arcs import AutomatonProgram, Swap
from ouzel.runtimes.arrivals import Arrivals
from ouzel.runtimes.batches import fitted, with_room
from ouzel.runtimes.by_event import ByEvent, check_counted, keeps_by_event
from ouzel.runtimes.changed_arcs import Changed
from ouzel.runtimes.changing import SetProgram
from ouzel.runtimes.kinds import without_views
from ouzel.runtimes.matcher import Matcher, Result
from ouzel.runtimes.op_column import INSERT, Batch, Withdrawn, with_op
from ouzel.runtimes.options import options_in
from ouzel.runtimes.promises import Promise
from ouzel.runtimes.quarantine import bad_table
from ouzel.runtimes.reading import Reading, settled
from ouzel.runtimes.region import Order
from ouzel.runtimes.regions import Regions, regions_of
from ouzel.runtimes.reported import MATCH_ID, OP, check_columns
from ouzel.runtimes.revision import Revision, check_revision, read_revision, speculation_ticks
from ouzel.runtimes.rewinding import Remade, Rewinding
from ouzel.runtimes.rewound import Rewound
from ouzel.runtimes.tail import Tail, in_order
from ouzel.runtimes.way import Way
from ouzel.state import read_snapshot
from ouzel.state.parts import part


class Revising(Matcher):
    """A matcher whose `push`, `advance` and `finish` return changes, in the order in which to apply them."""

    by_event = True
    """Whether to keep runs by event where that can be done."""

    by_regions = True
    """Whether to match regions again where that can be done; else it rewinds."""

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
            schema = with_room(schema)
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
        self._check_columns()
        self._latest = BEGINNING
        self._owed = dict[str, pa.Table]()
        self._chain.keeps_columns = self._speculates
        if isinstance(self._program, AutomatonProgram):
            self._program.begins_anew = not self._speculates
        self._way: Way = self._other_way() or self._rewound()
        self._tail = Tail(self._way.numbered(self._none))

    def _other_way(self) -> Way | None:
        """The way to correct that suits the queries better than to rewind, if there is one."""
        if not self._speculates:
            return None
        plans, limits, sequence = self._chain.all_plans, self.limits, self.revision.sequence
        ties, by_arrival = self._order.tie_breakers, self._order.by_arrival
        suits = self.by_event and keeps_by_event(plans, ties, by_arrival=by_arrival)
        if sequence is not None:
            check_counted(suits, limits)
        if suits and not limits.sheds:  # what is shed is a matter of chains
            return ByEvent(plans[0], limits, self._no_events, self._promises, self.revision)
        if self.by_regions and not is_list(self.text):  # no query comes or goes
            return regions_of(plans, self._no_events, Order(ties, by_arrival), limits, self._chain.threads)
        return None

    def _rewound(self) -> Rewound:
        chain, order, how = self._chain, self._order, (self.engine, self.tuning)
        schema = self._no_events.schema
        remade = Remade(self._program, schema, how, self.limits, chain.threads, chain.all_plans)
        head = Rewinding(chain, remade, self._no_events, order.tie_breakers, by_arrival=order.by_arrival)
        return Rewound(head, self._program, speculates=self._speculates)

    @property
    def open_runs(self) -> int:
        """How many runs are kept that may become matches; those whose window has passed go many at once."""
        return self._way.open_runs

    @property
    def _speculates(self) -> bool:
        return self.revision.speculation != 0

    def _check_columns(self) -> None:
        for query in self._queries:
            if query.name in self.names:
                check_columns(query)

    def _own_parts(self) -> dict[str, str]:
        return self.revision.parts

    def explain(self) -> str:
        """The queries, how they run now, and how they are corrected."""
        return "\n\n".join([super().explain(), "\n".join(section("corrections", self.corrections))])

    @property
    def corrections(self) -> list[str]:
        """How matches are corrected, in words."""
        op, ticks = self.revision.op, self.revision.speculation
        rows = [] if op is None else [f"rows with -1 in '{op}' withdraw events"]
        if self.revision.sequence is not None:
            return [*rows, f"events are counted by '{self.revision.sequence}': matches are reported at once"]
        if ticks == 0:
            return [*rows, "matches are reported when they are final, and none is withdrawn"]
        far = "all that came" if ticks is None else f"those up to {ticks:,} ticks after the punctuation"
        rows += [f"matches are reported of events that are not final: {far}"]
        return [*rows, self._way.words]

    # ---- queries that come and go ------------------------------------------------------------------------

    def add(self, id: Any, query: Any) -> None:
        """Take one more query, while it runs: it sees the events at the punctuation or later."""
        self._check_open()
        with self._changing():
            super().add(id, query)
            try:
                self._check_columns()
            except BaseException:
                super().remove(id)
                raise

    def remove(self, id: Any) -> None:
        """End a query, while it runs: nothing of it is reported or withdrawn any more."""
        self._check_open()
        with self._changing() as way:
            super().remove(id)
            if way is not None and isinstance(self._program, SetProgram):
                way.log.drop(self._program.roster.id, id)
            if way is not None:
                way.log.only(self.names)

    def _become(self, change: Callable[[], Counters | Swap]) -> None:
        """Let queries change from the punctuation on: what comes after it is found anew, and told next."""
        before = self._way, self._tail, self._counted
        if isinstance(self._way, Regions):
            self._way, self._tail = self._rewound_from(self._way)
        try:
            with self._changing():
                super()._become(change)
        except OuzelError:
            if not self._broken:  # it was refused
                self._way, self._tail, self._counted = before
            raise

    def _rewound_from(self, regions: Regions) -> tuple[Rewound, Tail]:
        """Rewinding in the place of regions, which have no state of the past to go on from."""
        self._counted = regions.counters(self._counted)
        self._chain.links = self._chain.anew().links  # it is idle where there are regions
        way, tail = self._rewound(), Tail(self._no_events)
        tail.add(regions.unnumbered(self._tail))
        with self._breaking():
            way.go_on(tail, self.now, regions.now, regions.standing(self.now), regions.next_id)
        return way, tail

    def _swap(self, changed: Changed) -> None:
        if isinstance(self._way, ByEvent):
            self._owe(self._judged(changed))
        else:  # it has gone back to the punctuation
            super()._swap(changed)

    def _owe(self, result: dict[str, pa.Table]) -> dict[str, pa.Table]:
        """What has changed, to be told with the next answer: with what was to be told before."""
        before, self._owed = self._owed, result
        for name, table in before.items():
            result[name] = pa.concat_tables([table, result[name]])
        return result

    def change(self, add: Any = (), remove: Any = (), at: Any = None) -> Result:
        """Let arcs come and go, while it runs; what changes by that, which may reach back to the punctuation."""
        began = self._check_open()
        return self._told(self._judged(self._changed(add, remove, at)), began)

    def _judged(self, changed: Changed) -> dict[str, pa.Table]:
        """Let arcs change, and judge events anew by them; what changes by that."""
        way = self._way
        assert isinstance(way, ByEvent | Rewound)  # regions have no arcs
        if isinstance(way, Rewound) and changed.is_new:
            changed.plan(self._suits)
            with self._changing():
                self._make(changed)
            way.head.remade.plans = tuple(self._chain.all_plans)
            with self._breaking():
                return way.go(self._tail, self._tail.none, self._until())
        self._make(changed)
        with self._breaking():
            if isinstance(way, ByEvent) and changed.is_new:
                way.become(self._chain.all_plans[0], self._tail)
            return way.again(self._tail, changed.time, self._until())

    def _suits(self, plan: Plan) -> bool:
        """Whether a plan of other arcs can be corrected in the way that there is."""
        return self._way.suits(plan)

    @property
    def _newest(self) -> int:
        return self._latest

    @property
    def _changes_from(self) -> int:
        """From this time on queries change, and arcs may."""
        return self._way.changes_from(self.now, self._latest)

    @property
    def _settled(self) -> int:
        return self._way.settled(self.now)

    @contextmanager
    def _changing(self) -> Iterator[Rewound | None]:
        """Let queries change: those that are corrected by going back, at the punctuation."""
        if not isinstance(self._way, Rewound):
            yield None
            return
        with self._way.at_punctuation(self._tail, self.now, self._breaking):
            yield self._way
            self._way.head.remade.plans = None

    # ---- events ------------------------------------------------------------------------------------------

    def push(self, events: pa.RecordBatch | pa.Table, watermark: Any = None) -> Result:
        """Take a batch of events and withdrawals, in any order; what changes by that."""
        began, op = self._check_open(), self.revision.op
        arrivals = Arrivals.read(fitted(events, self.schema), self.revision, self._intake)
        self._check_types(arrivals.batch.events)
        is_late, late = self._promises.late(arrivals.batch.events, self.now), None
        if is_late.any():
            self._check_late(arrivals.batch.events.end_times[is_late], len(is_late))
            late = arrivals.batch.taken(np.flatnonzero(is_late))
            arrivals.batch = arrivals.batch.taken(np.flatnonzero(~is_late))
        if self.revision.sequence is None:
            found = arrivals.withdrawn(self._tail)
        else:
            assert isinstance(self._way, ByEvent)
            self._know_columns()
            found = arrivals.counted(self._tail, self._way)
        until = None if watermark is None else self._ticks(watermark, "push(watermark=…)")
        with self._breaking():
            if late is not None:
                kept = late.events.table if op is None else with_op(late, op)
                self.late = pa.concat_tables([self.late, kept])
                self.report.late += len(late.events)
            self.report.add(arrivals.report)
            changed = self._take(arrivals.batch, found)
            self._punctuate(until)
            return self._go(changed, began)

    def _take(self, batch: Batch, found: Withdrawn) -> EventTable:
        """Take what is inserted and drop what is withdrawn; of these, the events that have been matched."""
        events, now = batch.events, self._way.now
        is_inserted = batch.signs == INSERT
        is_inserted[found.refused] = False
        if is_inserted.any():
            self._latest = max(self._latest, int(events.end_times[is_inserted].max()))
        is_inserted[found.own] = False
        events = self._way.numbered(in_order(events, is_inserted))
        self._tail.remove(found.kept)
        self._tail.add(events)
        late = events.slice(0, int(events.end_times.searchsorted(now)))
        gone = in_order(found.events, found.events.end_times < now)
        return late.followed_by(gone) if len(gone) else late

    def _punctuate(self, until: int | None) -> None:
        """Let time pass (a punctuation, AFA 5.4): to what is said, and with the events if they do that."""
        order = self._order
        if self.revision.punctuates:
            order.now = max(order.now, self._latest - order.delay)
        order.now = order.now if until is None else max(order.now, until)

    def advance(self, watermark: Any, where: str | None = None) -> Result:
        """Let time pass: nothing before the watermark will be inserted or withdrawn any more.  What changes.

        With a condition on the columns of events, that is said of those alone for which it is true, as in
        `advance(t, where="symbol = 'IBM'")`: such rows are late from then on, and no match is final by that.
        """
        began = self._check_open()
        until = self._ticks(watermark)
        if where is not None:
            self._promises.add(self._can_tell(self._promises.read(until, where)))
            until = self.now
        with self._breaking():
            self._punctuate(until)
            return self._go(self._tail.none, began)

    def _can_tell(self, promise: Promise) -> Promise:
        """Refuse a promise of columns that withdrawals need not have: of these it could not be asked."""
        identity = self.revision.identity
        if identity and not promise.is_of([*identity, *self.reading.times]):
            raise OuzelError(
                f"advance: where={promise.text!r} reads more than the columns of identity, {listed(identity)}, "
                "which is all that withdrawals need to have\n  hint: name its columns in identity=…, too"
            )
        return promise

    def finish(self) -> Result:
        """The stream is over; what changes by that."""
        began = self._check_open()
        with self._breaking():
            result = self._go(self._tail.none, began, is_over=True)
        self._is_finished = True
        return result

    def _go(self, changed: EventTable, began: float, *, is_over: bool = False) -> Result:
        """Match the events that may be matched by now, and again what has changed; the differences."""
        self._know_columns()
        return self._told(self._way.go(self._tail, changed, None if is_over else self._until()), began)

    def _told(self, result: dict[str, pa.Table], began: float) -> Result:
        """What has changed, once all else is forgotten that no correction can reach."""
        result, self._owed = self._owe(result), {}
        self._promises.forget(self.now)
        self._way.forget(self._tail, self.now)
        self.report.matches += sum(int(pc.sum(table.column(OP)).as_py() or 0) for table in result.values())
        if self.revision.is_plain:
            result = {name: table.drop_columns([OP, MATCH_ID]) for name, table in result.items()}
        self.report.counters = self._way.counters(self._counted)
        self.report.seconds += perf_counter() - began
        return result if self._apart else result[self.names[0]]

    def _until(self) -> int:
        """Up to which time events are matched: those that came, as far after the punctuation as is allowed."""
        until, ticks = self._latest + 1, self.revision.speculation
        if ticks is not None:  # before any punctuation, all events are too far after it
            until = min(until, self.now + ticks) if self.now > BEGINNING else BEGINNING
        return max(until, self.now, self._way.now)

    # ---- snapshots ---------------------------------------------------------------------------------------

    def _header(self) -> dict[str, Any]:
        return {**super()._header(), "revision": self.revision.written()}

    def _states(self) -> dict[str, dict[str, Any]]:
        own = {"latest": self._latest, "rewinds": int(self._way.rewinds)}
        with self._breaking():
            states = {"way": self._way.state(self._tail), "tail": self._tail.state(), "revising": own}
        return states | ({"owed": {"table": self._owed[self.names[0]]}} if self._owed else {})

    def _resume_states(self, values: dict[str, Any]) -> None:
        own, owed = part("revising", values), part("owed", values)
        self._latest = own["latest"]
        self._owed = {self.names[0]: owed["table"]} if owed else {}
        if bool(own.get("rewinds")) != self._way.rewinds:  # a query has changed, there or here
            other = None if own.get("rewinds") else self._other_way()
            self._way = other or self._rewound()
            self._tail = Tail(self._way.numbered(self._no_events))
        self._tail.resume(part("tail", values))
        self._way.resume(part("way", values), self._tail)

    def _know_columns(self) -> None:
        self._none = None
        self._way.begin()


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
