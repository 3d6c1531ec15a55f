"""Matchers in Spark's state: one for each bucket, as a snapshot and the events that came after it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from ouzel.errors import StateError
from ouzel.logical.times import BEGINNING
from ouzel.runtimes.arc_rows import Arced, ArcRows
from ouzel.runtimes.matcher import Matcher
from ouzel.runtimes.ruled import Ruled
from ouzel.runtimes.rules import Rules, rules_of
from ouzel.runtimes.spark.blobs import joined, together, unjoined, written
from ouzel.runtimes.spark.bucket_state import RUNS, STATE, TIME, BucketState, Head, version_after
from ouzel.runtimes.spark.changes import insertions_first, with_ids_of, withdrawn_in
from ouzel.runtimes.spark.rule_rows import Fitting
from ouzel.runtimes.spark.spreading import bucket_keys
from ouzel.runtimes.spark.task import ROWS, Task, by_name

LATE, MALFORMED = "late", "malformed"
# No query can have such a name.
SHED, SWITCHES, REFUSED, WITHDRAWN = "#shed", "#switches", "#refused", "#withdrawn"
TOLD = (LATE, MALFORMED, SHED, SWITCHES, REFUSED, WITHDRAWN, RUNS, STATE, TIME)
# Time is what the packed rows say, never what a matcher would make of its own events: it sees only one bucket's.
ENDLESS = 2**64
# So many matchers are kept in a worker, in case it gets their bucket again.
MATCHERS = 64

Held = Matcher | Ruled | Arced
"""What runs the queries of a bucket: they stay as they are, or are ruled by rows of rules, or of arcs."""

_matchers: OrderedDict[tuple[bytes, int], tuple[str, bytes, Held]] = OrderedDict()


@dataclass(frozen=True)
class Stepped:
    """What came out of a matcher in a micro-batch: matches by query, late events, numbers of what else it did."""

    results: Mapping[str, pa.Table]
    late: pa.Table
    told: Mapping[str, int]


@dataclass(frozen=True)
class StreamTask:
    """A program over a stream: what a worker is told of it.

    `delay` is the watermark in ticks; `keys` are the columns by which events are spread over buckets; `outputs`
    are the columns that Spark expects of each query, and of late events if they come out; `key` tells this program
    from all others.  If it is `ruled`, its queries come and go by rows of rules; `first` are those that are there
    at first.  If it is `arced`, arcs of its automaton do.
    """

    task: Task
    delay: int
    keys: tuple[str, ...]
    buckets: int
    outputs: Mapping[str, pa.Schema]
    key: bytes
    ruled: bool = False
    first: pa.Table | None = None
    arced: bool = False

    @property
    def layout(self) -> str:
        """How events are spread over buckets, in words."""
        return f"in {self.buckets} buckets by {', '.join(self.keys)}" if self.keys else "in one bucket"

    def held(self) -> Held:
        """What runs the queries of one bucket, from the beginning."""
        rows = self.rules() if self.is_changed else None
        if rows is None:
            return self.task.matcher(watermark=ENDLESS, on_late="keep")
        if isinstance(rows, ArcRows):
            return Arced(self.task.text, self.task.params, rows, self._matcher)
        return Ruled(self.task.text, self.task.params, rows, self._matcher, self.first)

    @property
    def is_changed(self) -> bool:
        """Whether rows of a second stream change what runs."""
        return self.ruled or self.arced

    def _matcher(self, text: str, params: Mapping[str, Any]) -> Matcher:
        return replace(self.task, text=text, params=dict(params)).matcher(watermark=ENDLESS, on_late="keep")

    def rules(self) -> Rules | ArcRows:
        """How rules, or arcs, are read."""
        task = self.task
        given = (task.text, task.params, task.none.schema, (task.engine, task.tuning))
        return ArcRows(*given) if self.arced else rules_of(*given, Fitting(self.keys))

    def step(self, held: Held, now: int, data: bytes) -> Stepped:
        """Give events, and rules before them, to a matcher and let time pass to `now`."""
        matcher, refused = held if isinstance(held, Matcher) else held.matcher, 0
        before = matcher.report.counters
        if not isinstance(held, Matcher):
            rules, data = unjoined(data)
            refused += held.take(pa.ipc.open_stream(rules).read_all()) if rules else 0
            results, others = held.push(self._events(data) if data else None, now)
            refused += others
        elif data:
            results = by_name(held.push(self._events(data), now), held.names)
        else:
            results = by_name(held.advance(now), held.names)
        counters = matcher.report.counters
        told = {
            MALFORMED: matcher.take_quarantined().num_rows,
            SHED: counters.shed - before.shed,
            SWITCHES: counters.switches - before.switches,
            REFUSED: refused,
        }
        return Stepped(results, matcher.take_late(), told)

    def _events(self, data: bytes) -> pa.Table:
        """The events of a micro-batch, whose rows are in no order: what is inserted before what is withdrawn."""
        events = pa.ipc.open_stream(data).read_all()
        revision = self.task.revision
        if revision is None or revision.op is None:
            return events
        return insertions_first(events, revision.op, revision.identity)

    def packed(self, stepped: Stepped, place: int) -> Iterator[tuple[str, int, bytes]]:
        """What came out of the matcher in the bucket at a place, by query, as numbers and blobs."""
        for name, table in stepped.results.items():
            if self.task.revision is None:
                yield from self._blobs(name, table)
            elif table.num_rows:
                yield from self._changes(name, with_ids_of(table, place))
        if LATE in self.outputs:
            yield from self._blobs(LATE, stepped.late)
        elif stepped.late.num_rows:
            yield LATE, stepped.late.num_rows, b""
        yield from ((name, number, b"") for name, number in stepped.told.items() if number)

    def _changes(self, name: str, table: pa.Table) -> Iterator[tuple[str, int, bytes]]:
        """Changes, of which those that withdraw matches are counted apart; in their order, which blobs keep."""
        withdrawn = withdrawn_in(table)
        yield WITHDRAWN, withdrawn, b""
        (_name, number, first), *others = self._blobs(name, table)
        yield from [(name, number - withdrawn, first), *others]

    def _blobs(self, name: str, table: pa.Table) -> Iterator[tuple[str, int, bytes]]:
        for begin in range(0, table.num_rows, ROWS):
            part = table.slice(begin, ROWS).cast(self.outputs[name])
            yield name, part.num_rows, written(part)


class Buckets(StatefulProcessor):
    """Spark's view of the matchers: packed events in, packed matches out."""

    def __init__(self, stream: StreamTask) -> None:
        """Of a program."""
        self.stream = stream

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the parts of the state."""
        self.state = BucketState(handle)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: ARG002, N802, N803
        """Match what one micro-batch brings to one bucket."""
        now, data = self._input(rows)
        bucket, head = int(key[0]), self.state.read_head()
        matcher = self._matcher(bucket, head)
        # all of it before the first row leaves: whoever reads no further must not leave the state behind
        place = bucket_keys(self.stream.buckets).index(bucket)
        matched = list(self.stream.packed(self.stream.step(matcher, now, data), place))
        if place:
            matched = [row for row in matched if row[0] != REFUSED]  # all buckets refuse the same
        version = version_after(head.version if head else b"", now, data)
        matched += self.state.write(matcher, self.stream.layout, head, version, now, data).told()
        _matchers[self.stream.key, bucket] = _run(), version, matcher
        if len(_matchers) > MATCHERS:
            _matchers.popitem(last=False)
        names, numbers, blobs = zip(*matched, strict=True)
        yield pa.table({"query": names, "number": numbers, "blob": pa.array(blobs, pa.binary())}).to_pandas()

    def close(self) -> None:
        """Nothing to close."""

    def _input(self, frames: Iterable[Any]) -> tuple[int, bytes]:
        """The time after a micro-batch, and its events; in order of tasks, for Spark hands them over in any."""
        columns = ["task", "part", "latest", "blob"]
        rows = sorted(row for frame in frames for row in zip(*(frame[name] for name in columns), strict=True))
        latest = max(int(latest) for _task, _part, latest, _blob in rows)
        now = max(latest - self.stream.delay, BEGINNING)
        events = together([bytes(blob) for task, _part, _latest, blob in rows if task >= 0 and len(blob)])
        if not self.stream.is_changed:
            return now, events
        return now, joined(together([bytes(blob) for task, _part, _latest, blob in rows if task < 0]), events)

    def _matcher(self, bucket: int, head: Head | None) -> Held:
        """The bucket's matcher: kept in this worker if it was here last, else made from the state."""
        if head is None:
            return self.stream.held()
        if head.layout != self.stream.layout:
            raise StateError(
                f"checkpoint: required events {head.layout}, as it was begun; got {self.stream.layout}\n"
                "  hint: go on with the same number of buckets, or begin a new checkpoint"
            )
        run, version, matcher = _matchers.pop((self.stream.key, bucket), ("", b"", None))
        # a run reads its state before it trusts what was kept: the head alone does not tell whether that is whole
        if matcher is not None and (run, version) == (_run(), head.version):
            return matcher
        matcher = self.stream.held()
        snapshot, deltas = self.state.read(head)
        try:
            matcher.restore(snapshot)
        except StateError as error:
            problem = str(error).removeprefix("snapshot: ")
            hint = "go on with the query that it was begun with, or begin a new checkpoint"
            raise StateError(f"checkpoint: {problem}\n  hint: {hint}") from None
        for now, data in deltas:
            self.stream.step(matcher, now, data)  # what comes out, came out before
        return matcher


def _run() -> str:
    """What tells this run of a stream from those before a restart: Spark groups its jobs by it."""
    context = TaskContext.get()
    return (context.getLocalProperty("spark.jobGroup.id") if context else None) or ""
