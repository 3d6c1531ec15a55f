"""What a Spark worker is told: the query and how to read events, as plain data, and what it does with them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ouzel.compile import Compiled, compile_query
from ouzel.errors import StateError
from ouzel.logical.functions import adopt, registered_in
from ouzel.logical.match_aggregates import EDGES
from ouzel.logical.parameters import ROWS as SET_ROWS
from ouzel.optimizer.plan import Plan
from ouzel.physical.each_once import each_once
from ouzel.physical.event_table import EventTable
from ouzel.physical.limits import Limits
from ouzel.runtimes.embedded import find_program, run_program
from ouzel.runtimes.ingest import ingest
from ouzel.runtimes.kept_parameters import Written, kept, written
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.quarantine import Report
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.revising import Revising
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.spark.keys import chains_of
from ouzel.runtimes.spark.spill import Spill

# The name of the column that says which time slice a row is for.
SLICE = "__slice"
# Under which name the functions that a query calls travel with it.
FUNCTIONS = "functions"
# What is found out of a program once.
KNOWN = ("compiled", "none")
# Of so many programs a process keeps the plans.
PROGRAMS = 16
# So many rows of a result go to Spark in one batch.
ROWS = 100_000

_compiled: OrderedDict[tuple[str, ...], Compiled] = OrderedDict()


@dataclass(frozen=True)
class Slices:
    """Slices of time: where the first starts, how long each is, and how many there are."""

    first: int
    length: int
    count: int

    def of(self, times: Any) -> Any:
        """In which slice times are; what is before all or after all, is in the first or the last.

        >>> Slices(10, 5, 3).of(np.array([2, 10, 14, 15, 99])).tolist()
        [0, 0, 0, 1, 2]
        """
        return np.clip((times - self.first) // self.length, 0, self.count - 1)


@dataclass(frozen=True)
class Task:
    """One query of a program, over events of an Arrow schema; `output` is what Spark expects in return.

    `memory` is how many bytes of events a worker holds before it sorts them on disk; `slices` are those of time,
    if the stream is cut by it; `tuning` are the switches of the engine.  If it is `open`, other queries may come.
    With a `revision`, matchers correct themselves, and speculate as far as `speculation` says.
    """

    text: str
    name: str
    params: dict[str, Any]
    reading: Reading
    schema: pa.Schema
    engine: str
    limits: Limits
    output: pa.Schema | None = None
    memory: int = 512 << 20
    slices: Slices | None = None
    tuning: Mapping[str, str] = field(default_factory=dict)
    open: bool = False
    revision: Revision | None = None
    speculation: Any = 0

    def __getstate__(self) -> dict[str, Any]:
        """Plans are made where they are needed: they do not travel.  Functions that users have registered do."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**fields, FUNCTIONS: registered_in(None if self.open else self.text)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrive in a worker."""
        adopt(state.pop(FUNCTIONS))
        self.__dict__.update(state)

    def altered(self, **others: Any) -> Task:
        """The same program, run in another way; what is known of it need not be found out again."""
        task = replace(self, **others)
        task.__dict__.update({name: value for name, value in vars(self).items() if name in KNOWN})
        return task

    @cached_property
    def compiled(self) -> Compiled:
        """The program, bound to the schema: a process, here or of a worker, makes its plans once."""
        if registered_in(self.text):
            return self._compile()  # a function of the same name may be another one
        try:
            params = sorted((name, _told_apart(name, value)) for name, value in self.params.items())
        except StateError:
            return self._compile()  # a value that no query takes: it will say so
        chosen = self.engine, repr(sorted(self.tuning.items()))
        key = self.text, *chosen, repr(params), repr(self.reading), self._events_schema.to_string()
        compiled = _compiled.pop(key, None) or self._compile()
        _compiled[key] = compiled
        if len(_compiled) > PROGRAMS:
            _compiled.popitem(last=False)
        return compiled

    def _compile(self) -> Compiled:
        return compile_query(self.text, self.none.schema, self.params, self.engine, self.tuning)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The plans to run: that of the query, after those that feed it; all of them if no query is named."""
        plans = self.compiled.plans
        return chains_of(plans)[self.name] if self.name else plans

    @property
    def _reported(self) -> tuple[str, ...]:
        """The queries that are reported, of those to run."""
        run = {plan.query.name for plan in self.plans}
        return tuple(name for name in self.compiled.names if name in run)

    @cached_property
    def none(self) -> EventTable:
        """A table of no events."""
        return ingest(self._events_schema.empty_table(), self.reading, Report())[0]

    @property
    def op(self) -> str | None:
        """The column that says whether a row withdraws an event, which is no attribute of events."""
        return None if self.revision is None else self.revision.op

    @property
    def _events_schema(self) -> pa.Schema:
        return self.schema if self.op is None else pa.schema([one for one in self.schema if one.name != self.op])

    def matcher(self, **options: Any) -> Matcher:
        """A matcher of the plans to run."""
        compiled = replace(self.compiled, plans=self.plans, names=self._reported)
        rest = {
            "engine": self.engine,
            "tuning": self.tuning,
            "limits": self.limits,
            "compiled": compiled,
            **options,
        }
        given = (self.text, self.schema, self.reading, self.params)
        if self.revision is None:
            return Matcher(*given, **rest)
        return Revising(*given, revision=self.revision, speculation=self.speculation, **rest)

    # ---- in a worker -------------------------------------------------------------------------------------

    def whole(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match the events of a partition: all at once, or in order of time if there are too many for that."""
        with Spill(self.schema, self.reading.time, self.memory) as events:
            for batch in batches:
                events.add(batch)
            if not events.is_spilled:
                table = events.table()
                if table.num_rows:
                    yield from self._sent(self._at_once(table))
                return
            matcher = self.matcher()
            for part in events.in_order():
                yield from self._sent(by_name(matcher.push(part), matcher.names)[self.name])
                matcher.take_quarantined()  # whoever asks for them gets them by themselves
            yield from self._sent(by_name(matcher.finish(), matcher.names)[self.name])

    def sliced(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match the events of each time slice; a match belongs to the slice in which it, or its window, starts."""
        assert self.slices is not None
        slices = self.slices
        parts = list(batches)
        if not parts:
            return
        rows = pa.Table.from_batches(parts)
        events = rows.drop_columns([SLICE])
        # without a time an event is in no slice: an error, or it is left out
        self._read(events.filter(rows.column(SLICE).is_null()))
        numbers = rows.column(SLICE).fill_null(-1).to_numpy()
        for number in each_once(numbers[numbers >= 0]).tolist():
            table = self._read(events.filter(pa.array(numbers == number)))
            for plan, matches, result in find_program(self.plans, table, self.limits):
                if plan.query.every is None:
                    assert matches is not None
                    starts = matches.start_times
                else:
                    starts = _window_starts(result, slices.first)
                yield from self._sent(result.filter(pa.array(slices.of(starts) == number)))

    def _read(self, table: pa.Table) -> EventTable:
        return ingest(table.cast(self.schema), self.reading, Report())[0]

    def _at_once(self, table: pa.Table) -> pa.Table:
        return run_program(self.plans, self._read(table), self.limits)[self.name]

    def _sent(self, result: pa.Table) -> Iterator[pa.RecordBatch]:
        """A result as Spark takes it."""
        yield from result.cast(self.output).to_batches(max_chunksize=ROWS)


def _told_apart(name: str, value: Any) -> Written | None:
    """What tells the value of a parameter from others; rows of a set go by a name that does."""
    return None if name.startswith(SET_ROWS) else written(kept(value))


def _window_starts(result: pa.Table, first: int) -> Any:
    """Where the windows of a result begin, in ticks; what begins before all times that there are, is the first."""
    column = result.column(EDGES[0])
    ticks = (column.cast(pa.int32()) if pa.types.is_date32(column.type) else column).cast(pa.int64())
    return ticks.fill_null(first).to_numpy()


def by_name(results: Any, names: tuple[str, ...]) -> dict[str, pa.Table]:
    """What a matcher returned, as a dict also if it is of one query."""
    return results if isinstance(results, dict) else {names[0]: results}
