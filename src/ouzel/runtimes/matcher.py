"""A matcher: batches of events in, final matches out, snapshots in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import timedelta
from time import perf_counter
from typing import Any, TypeAlias

import pyarrow as pa

from ouzel.compile import Compiled, compile_query
from ouzel.errors import DataError, FunctionError, OuzelError, SchemaError, StateError
from ouzel.explanation import explain_groups
from ouzel.language.durations import length_in_ticks
from ouzel.logical.columns import needed_columns
from ouzel.logical.query import BoundQuery
from ouzel.logical.times import BEGINNING, END
from ouzel.optimizer.plan import Plan
from ouzel.physical.contract import Counters
from ouzel.physical.event_table import EventTable, Integers
from ouzel.physical.limit_errors import LimitError
from ouzel.physical.limits import Limits, out_of_memory
from ouzel.runtimes.arc_values import ArcValues, plain
from ouzel.runtimes.arcs import AutomatonProgram, Swap
from ouzel.runtimes.batches import fitted, with_room
from ouzel.runtimes.chain import Chain
from ouzel.runtimes.changed_arcs import Changed, opened
from ouzel.runtimes.changing import program_of
from ouzel.runtimes.fingerprint import differences, fingerprint, reading_parts, tuning_parts
from ouzel.runtimes.intake import Intake
from ouzel.runtimes.kept_parameters import kept, written
from ouzel.runtimes.kinds import columns_in_words
from ouzel.runtimes.options import check_kept, types_as_text
from ouzel.runtimes.ordering import Ordering
from ouzel.runtimes.promises import Promises
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading, settled
from ouzel.runtimes.time_units import warn_of_times
from ouzel.runtimes.time_values import watermark_ticks
from ouzel.runtimes.type_names import made_types, refuse_made
from ouzel.state import read_snapshot, write_snapshot
from ouzel.state.parts import in_parts, part

LATE_POLICIES = ("error", "keep")
Result: TypeAlias = Any
"""A table of matches, or, of several queries, a dict of tables by name."""


class Matcher:
    """Matches queries over events that come in batches; `push`, `advance` and `finish` return what is final."""

    checks_unit = False
    """Whether to warn if integer times do not look like milliseconds."""

    def __init__(
        self,
        text: str,
        schema: pa.Schema,
        reading: Reading,
        params: Mapping[str, Any] | None = None,
        *,
        engine: str = "auto",
        tuning: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        watermark: int | timedelta | str = 0,
        on_late: str = "error",
        compiled: Compiled | None = None,
        threads: int = 1,
    ) -> None:
        """Compile queries for events of a schema; `watermark` is how much later than others an event may come.

        If they are `compiled` for these events already, it is with this engine and its switches, `tuning`.
        `threads` share large batches.
        """
        if not isinstance(schema, pa.Schema):
            raise SchemaError(f"schema: required a pyarrow schema; got {type(schema).__name__}")
        if on_late not in LATE_POLICIES:
            raise OuzelError(f"on_late: required one of {', '.join(LATE_POLICIES)}; got {on_late!r}")
        schema, reading = with_room(schema), settled(reading, schema.names)
        self.text, self.schema, self.reading = text, schema, reading
        params = {name: kept(value) for name, value in (params or {}).items()}
        self.engine, self.tuning = engine, dict(tuning or {})
        self.limits, self.on_late = limits or Limits(), on_late
        check_kept(schema, reading)
        # a list, as no function kept here may refer to the matcher itself
        queries = self._queries = list[BoundQuery]()
        self._intake = Intake(schema, reading, lambda _schema: needed_columns(queries))
        none = self._intake.none
        compiled = compiled or compile_query(text, none.schema, params, engine, self.tuning)
        self._apart = compiled.apart
        self.report = self._intake.report
        self.late: pa.Table = none.table
        self.time = none.schema.time
        self._chain = Chain(opened(compiled.plans), self.limits, threads)
        how = engine, self.tuning
        self._program = program_of(text, params, compiled.names, self._chain, none.schema, how)
        self._note_queries()
        self._counted = Counters()  # before the snapshot that it goes on from
        delay = length_in_ticks(watermark, self.time.tick, "watermark")
        ties = [name for name in reading.order if name != reading.time]
        self._order = Ordering(none, delay, ties, reading.by_arrival)
        self._promises = Promises(none.schema)
        self._is_finished, self._broken = False, ""
        self._none: EventTable | None = none
        self._no_matches: Result | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The queries that are reported, in the order in which they are."""
        return self._program.names

    @property
    def fingerprint(self) -> list[dict[str, str]]:
        """What its queries must have in common with those of a snapshot."""
        parts = reading_parts(self.reading, self.schema.names, self.time.tick) | tuning_parts(self.tuning)
        parts |= self._own_parts()
        plans = sorted(self._chain.all_plans, key=lambda plan: plan.query.name)
        return fingerprint(plans, self._program.said()[1], parts)

    def _own_parts(self) -> dict[str, str]:
        """What matchers of its kind must have in common beside."""
        return {}

    @property
    def now(self) -> int:
        """The time that has passed, in ticks of the time column; far before any time at first."""
        return self._order.now

    @property
    def open_runs(self) -> int:
        """How many runs are kept that may become matches; those whose window has passed go many at once."""
        return self._chain.open_runs

    @property
    def query_count(self) -> int:
        """How many queries there are, those of sets among them."""
        counted = self._chain.counted(self.now)
        return len(self.names) + sum(one.there - 1 for one in counted.values())

    def explain(self) -> str:
        """The queries that are there, and how they run now: what they share, trees in their order of joins."""
        said = explain_groups(self._chain.groups, self._chain.counted(self.now))
        return plain(said) if isinstance(self._program, AutomatonProgram) else said

    # ---- queries that come and go ------------------------------------------------------------------------

    def add(self, id: Any, query: Any) -> None:
        """Take one more query, while it runs: it sees the events that end now or later.

        On a matcher of a list `id` is the name of a new query, a text or an expression; on one of `oz.queries` it
        names a new row, and `query` is a dict of its parameters.
        """
        self._check_open()
        self._program.add(id, query, self.now)
        self._note_queries()

    def remove(self, id: Any) -> None:
        """End a query, while it runs: nothing of it is reported any more, and others go on as if it never was."""
        self._check_open()
        self._counted.add(self._program.remove(id))
        self._note_queries()

    def replace(self, id: Any, query: Any) -> None:
        """Let a query take the place of another, while it runs: it judges the events that end now or later.

        Partial matches go on that have bound only components that stay the same: those with which both versions
        begin, each with the same conditions, under the same strategy and equivalence tests.  The others go, and of
        the old version nothing is reported any more.  The window is the new one's.

        `id` and `query` are as for `add`; of a matcher of one query, `id` is its name or None.  A register
        automaton is replaced arc by arc: those that are not the same come and go, and all computations go on.
        """
        self._check_open()
        self._become(lambda: self._program.replace(id, query, self._changes_from))

    def set_params(self, id: Any, params: Mapping[str, Any] | None = None, /, **values: Any) -> None:
        """Let $parameters of a query have other values, while it runs, as `replace` would: {"x": 1}, or x=1."""
        self._check_open()
        given = params or {}
        if not isinstance(given, Mapping):
            raise OuzelError(f"set_params: required a dict of parameters and values; got {params!r}")
        self._become(lambda: self._program.set_params(id, {**given, **values}, self._changes_from))

    def _become(self, change: Callable[[], Counters | Swap]) -> None:
        """Let queries change; what is wrong with them is said before anything has."""
        with self._breaking(refuses=True):
            done = change()
            if isinstance(done, Swap):
                self._swap(self._arcs(done.add, done.remove, self._changes_from, done.values))
            else:
                self._counted.add(done)
                self._note_queries()
        self._no_matches = None

    def _swap(self, changed: Changed) -> None:
        """Let arcs change by which an automaton becomes another one."""
        self._make(changed)

    def change(self, add: Any = (), remove: Any = (), at: Any = None) -> Result:
        """Let arcs of a register automaton come and go, while it runs; what changes by that.

        `add` are arcs as in a specification, `remove` the ids of others.  They come and go after the latest time
        that was pushed or punctuated, or, with `at`, at that time, which time has not passed yet.
        """
        began = self._check_open()
        self._make(self._changed(add, remove, at))
        # it is of events that are not matched yet: by itself it makes no match
        if self._no_matches is None:
            with self._breaking():
                self._no_matches = self._step(self._intake.none, self._order.now, began)
        return self._no_matches

    def _changed(self, add: Any, remove: Any, at: Any) -> Changed:
        """A change of arcs that is asked for."""
        if not isinstance(self._program, AutomatonProgram):
            raise OuzelError("change: required a matcher of one register automaton, oz.automaton(…)")
        time = max(self._newest, self.now) + 1 if at is None else self._ticks(at, "change(at=…)")
        if time < self._changes_from:
            why = "which time has passed" if time < self.now else "before which events were not to change any more"
            raise OuzelError(f"change: at {at!r}, {why}: required {self._changes_from} or later")
        if time >= END:
            raise OuzelError(f"change: at {at!r}, at which no event can be: required a time before {END}")
        return self._arcs(add, remove, time)

    def _arcs(self, add: Any, remove: Any, time: int, values: ArcValues | None = None) -> Changed:
        """A change of arcs at a time."""
        assert isinstance(self._program, AutomatonProgram)
        return self._program.change(add, remove, time, self.now, self._settled, values)

    def _make(self, changed: Changed) -> None:
        """Let arcs change; what is wrong with them is said before anything has."""
        changed.plan(self._suits)
        self._know_columns()
        with self._breaking():
            changed.make()
            if changed.is_new:
                self._note_queries()
                self._no_matches = None

    def _suits(self, plan: Plan) -> bool:  # noqa: ARG002 - any that the program can change to
        """Whether a plan of other arcs can be gone on with."""
        return True

    @property
    def _changes_from(self) -> int:
        """From this time on queries change, and arcs may."""
        return self.now

    @property
    def _newest(self) -> int:
        """The time of the latest event, if time has not passed it."""
        return self._order.latest

    @property
    def _settled(self) -> int:
        """Before this time nothing will be matched any more."""
        return self.now

    def has(self, id: Any) -> bool:
        """Whether a query is there that `remove` would end."""
        return self._program.has(id)

    def _note_queries(self) -> None:
        """Note what depends on which queries there are."""
        plans = self._chain.all_plans
        self._queries[:] = [plan.query for plan in plans]
        self._made = made_types(plans) if plans else ()

    # ---- events ------------------------------------------------------------------------------------------

    def push(self, events: pa.RecordBatch | pa.Table, watermark: Any = None) -> Result:
        """Take a batch of events, in any order; the matches that are final now.

        With a `watermark`, time passes to it after the batch, as `advance` would let it, but in one step.
        """
        began = self._check_open()
        report = Report()
        table = self._intake.read(fitted(events, self.schema), report)
        self._check_types(table)
        on_time, late = self._order.split(table, self._promises.late(table, self.now))
        if late is not None:
            self._check_late(late.end_times, len(table))
        until = None if watermark is None else self._ticks(watermark, "push(watermark=…)")
        with self._breaking():
            if late is not None:
                self.late = pa.concat_tables([self.late, late.table])
                self.report.late += len(late)
            self.report.add(report)
            return self._step(self._order.push(on_time, until), self._order.now, began)

    def _check_types(self, table: EventTable) -> None:
        """Refuse events of a type that queries make, and warn of times that do not look like milliseconds."""
        if self._made and len(table) and (found := table.types.occurring(self._made)):
            refuse_made(self.text, self._made[min(found)])
        if self.checks_unit and len(table):
            warn_of_times(table.end_times, self.time)
            self.checks_unit = False  # the first events tell

    def _check_late(self, times: Integers, count: int) -> None:
        """Refuse late events, of some times, unless they are kept."""
        if self.on_late == "error":
            first = f"; the first of them is at {times[0]}"
            raise DataError(
                f"{len(times):,} of {count:,} events come too late: {self._passed}{self._promises.said}{first}\n"
                "  hint: push events in order of time, allow for it with watermark='…', or on_late='keep'"
            )

    @property
    def _passed(self) -> str:
        return "time has not passed yet" if self.now == BEGINNING else f"time has passed {self.now}"

    def advance(self, watermark: Any, where: str | None = None) -> Result:
        """Let time pass: no event before the watermark will be pushed any more.  The matches final by that.

        With a condition on the columns of events, that is said of those alone for which it is true, as in
        `advance(t, where="symbol = 'IBM'")`: such events are late from then on, and no match is final by that.
        """
        began = self._check_open()
        until = self._ticks(watermark)
        if where is not None:
            self._promises.add(self._promises.read(until, where))
            until = self.now
        with self._breaking():
            return self._step(self._order.advance(until), self._order.now, began)

    def take_late(self) -> pa.Table:
        """The late events kept so far, which the matcher forgets; `report.late` still counts them."""
        late, self.late = self.late, self.late.schema.empty_table()
        return late

    def take_quarantined(self) -> pa.Table:
        """The malformed events kept so far, which the matcher forgets; `report` still counts them."""
        return self.report.take_quarantined()

    def finish(self) -> Result:
        """The stream is over; the matches that are left."""
        began = self._check_open()
        with self._breaking():
            result = self._step(self._order.finish(), None, began)
        self._is_finished = True
        return result

    def _breaking(self, *, refuses: bool = False) -> _Breaking:
        """Go on no more after an error in here: events were taken, and some of them are not matched.

        What `refuses` does so before anything has changed.
        """
        return _Breaking(self, refuses=refuses)

    def _break(self, error: BaseException, *, refuses: bool) -> None:
        """Note an error after which there is no going on; one of memory is told in our words."""
        if refuses and isinstance(error, OuzelError) and not isinstance(error, LimitError):
            return
        # not by `memory_errors`: one context more takes time at every push
        told = out_of_memory() if isinstance(error, MemoryError) else error
        if isinstance(error, FunctionError) and isinstance(self._program, AutomatonProgram):
            told = FunctionError(plain(error.message), plain(error.called), error.time, error.event)
        why = (str(told) or type(told).__name__).partition("\n")[0]
        self._broken = "was interrupted: " if isinstance(error, KeyboardInterrupt) else f"has failed: {why}\n  "
        if told is not error:
            raise told from None

    def _step(self, events: EventTable, now: int | None, began: float) -> Result:
        self._none = None
        self._promises.forget(self.now)
        results = self._chain.step(events, now)
        self.report.matches += sum(results[name].num_rows for name in self.names)
        self.report.counters = self._chain.counters(self._counted)
        self.report.seconds += perf_counter() - began
        return {name: results[name] for name in self.names} if self._apart else results[self.names[0]]

    def _check_open(self) -> float:
        """Refuse to go on where that makes no sense; the time at which it goes on."""
        if self._is_finished:
            raise OuzelError("the matcher is finished: required a new one, or a snapshot from before")
        if self._broken:
            raise OuzelError(f"the matcher {self._broken}required a new one, or a snapshot from before")
        return perf_counter()

    def _ticks(self, watermark: Any, what: str = "advance") -> int:
        ticks = watermark_ticks(watermark, self.time.arrow)
        if ticks is None:
            required = f"a time as in the column '{self.time.name}', {self.time.arrow}"
            raise OuzelError(f"{what}: required {required}; got {watermark!r}")
        if not BEGINNING <= ticks <= END:
            raise OuzelError(f"{what}: required a time of 64 bits; got {watermark}")
        return ticks

    # ---- snapshots ---------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """All that the matcher knows, to go on elsewhere or later."""
        self._check_open()
        self._know_columns()
        return write_snapshot(self._header(), self._values())

    def _header(self) -> dict[str, Any]:
        """What a snapshot says of the matcher before its values are read."""
        text, params = self._program.said()
        return {
            "text": text,
            "reading": {**asdict(replace(self.reading, types=None)), "order": list(self.reading.order)},
            "types": types_as_text(self.reading.types),
            "params": {name: written(value) for name, value in params.items() if not isinstance(value, pa.Table)},
            "engine": self.engine,
            "tuning": self.tuning,
            "limits": asdict(self.limits),
            "delay": self._order.delay,
            "on_late": self.on_late,
            "queries": self.fingerprint,
        }

    def _values(self) -> dict[str, Any]:
        """What a snapshot holds."""
        _text, params = self._program.said()
        values = {
            "schema": self.schema.empty_table(),
            "late": self.late,
            **self._promises.state(),
            **self.report.state(),
            **{name: value for name, value in params.items() if isinstance(value, pa.Table)},
        }
        return values | in_parts({"order": self._order.state(), **self._states()})

    def _states(self) -> dict[str, dict[str, Any]]:
        """The states of what matches events, by name."""
        return {"chain": self._chain.state()}

    def restore(self, data: bytes) -> None:
        """Go on from a snapshot of a matcher of the same query; what it returns may differ."""
        header, values = read_snapshot(data)
        different = differences(header["queries"], self.fingerprint)
        before = values["schema"].schema
        if not before.equals(self.schema):
            different.append(
                f"schema: other columns or types: {columns_in_words(before)}, now {columns_in_words(self.schema)}"
            )
        if different:
            raise StateError("snapshot: required one of the same query; got another\n  " + "\n  ".join(different))
        self._know_columns()
        self._resume(values)

    def _resume(self, values: dict[str, Any]) -> None:
        """Go on with what a snapshot holds."""
        self._order.resume(part("order", values))
        self._promises.resume(values)
        self.late = values["late"]
        self.report.resume(values)
        self._counted = self.report.counters
        self._resume_states(values)

    def _resume_states(self, values: dict[str, Any]) -> None:
        """Go on with the states of what matches events."""
        self._chain.resume(part("chain", values))

    def _know_columns(self) -> None:
        """Bring the chain no events, but their columns, if it has had none yet: whoever resumes must know them."""
        if self._none is not None:
            self._step(self._none, BEGINNING, perf_counter())


class _Breaking:
    """A context after whose errors a matcher does not go on; a generator would take time at every push."""

    __slots__ = ("matcher", "refuses")

    def __init__(self, matcher: Matcher, *, refuses: bool) -> None:
        self.matcher, self.refuses = matcher, refuses

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            self.matcher._break(error, refuses=self.refuses)
