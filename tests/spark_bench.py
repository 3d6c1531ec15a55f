"""The workers of a stream without Spark: what Spark would do with packed rows, and with a state it keeps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

import ouzel as oz
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.revision import Revision
from ouzel.runtimes.spark.packing import BUCKET, PACKED, Packing, RulePacking, Unpacking
from ouzel.runtimes.spark.processor import Buckets
from ouzel.runtimes.spark.rule_rows import RuleTables
from ouzel.runtimes.spark.spreading import bucket_keys
from ouzel.runtimes.spark.streaming import is_apart, stream_task
from ouzel.runtimes.spark.task import Task
from spark_events import Events

SCHEMA = pa.schema({"eid": "string", "ts": "int64", "type": "string", "k": "int64", "x": "int64", "y": "int64"})
END = {"eid": "end", "ts": 1_000_000, "type": "D", "k": None, "x": None, "y": None}


class Value:
    """Spark's state of one value, or of a list of them; what is done to it is logged, as Spark's store does."""

    def __init__(self, log: list[tuple[Value, str, Any]]) -> None:
        self.values: list[Any] = []
        self.log = log

    def get(self) -> Any:
        return self.values[0] if self.values else None

    def update(self, value: Any) -> None:
        self.log.append((self, "update", value))
        self.values = [value]

    def appendValue(self, value: Any) -> None:  # noqa: N802
        self.log.append((self, "appendValue", value))
        self.values.append(value)

    def clear(self) -> None:
        self.log.append((self, "clear", None))
        self.values = []


class Items(Value):
    def get(self) -> Iterator[Any]:
        return iter(self.values)


class Handle:
    """All state of one bucket."""

    def __init__(self) -> None:
        self.states: dict[str, Value] = {}
        self.log: list[tuple[Value, str, Any]] = []

    def getValueState(self, name: str, _schema: str) -> Value:  # noqa: N802
        return self.states.setdefault(name, Value(self.log))

    def getListState(self, name: str, _schema: str) -> Value:  # noqa: N802
        return self.states.setdefault(name, Items(self.log))

    def version(self) -> bytes:
        version: bytes = self.states["head"].get()[1]
        return version


class Bench:
    """A stream's workers: what Spark would do with packed rows."""

    def __init__(
        self,
        query: Any,
        buckets: int = 3,
        watermark: int = 0,
        on_bad: str = "error",
        rules: RuleTables | None = None,
        revision: Revision | None = None,
        speculation: Any = 0,
        **options: Any,
    ) -> None:
        said = oz.query(query)
        self.schema = (
            SCHEMA if revision is None or revision.op is None else SCHEMA.append(pa.field("op", pa.int8()))
        )
        how = {"revision": revision, "speculation": speculation}
        task = Task(said.text, "", said.params, Reading(on_bad=on_bad), self.schema, "auto", oz.Limits(), **how)
        self.stream = stream_task(task, oz.SparkOptions(buckets=buckets, **options), watermark, rules)
        self.packing = Packing(self.stream.task.schema, "ts", self.stream.buckets, op=self.stream.task.op)
        self.unpacking = Unpacking(self.stream.outputs, apart=is_apart(self.stream))
        self.handles = [Handle() for _ in range(self.stream.buckets)]
        self.matched: list[pa.RecordBatch] = []
        self.told: dict[str, int] = {}

    def packed(self, tasks: list[Events], rules: pa.Table | None = None) -> pa.Table:
        parts = [] if rules is None else [RulePacking(self.stream.buckets).part(rules, 0, 0)]
        for number, events in enumerate(tasks):
            keys = [hash(event["k"]) % self.stream.buckets for event in events]
            table = pa.Table.from_pylist(events, self.schema).append_column(BUCKET, pa.array(keys, pa.int32()))
            parts.append(self.packing.part(table, number, 0))
        return pa.Table.from_batches(parts, PACKED)

    def attempt(self, packed: pa.Table, bucket: int) -> list[dict[str, Any]]:
        """One task of Spark's: the state it finds is the one that was committed last."""
        key = bucket_keys(self.stream.buckets)[bucket]
        rows = packed.filter(pa.array([number == key for number in packed.column("bucket").to_pylist()]))
        worker = Buckets(self.stream)
        worker.init(self.handles[bucket])  # type: ignore[arg-type]
        frames = list(worker.handleInputRows((key,), iter([rows.to_pandas()]), None))
        return [row for frame in frames for row in frame.to_dict("records")]

    def push(self, *tasks: Events, rules: pa.Table | None = None) -> None:
        packed = self.packed(list(tasks), rules)
        for bucket in range(self.stream.buckets):
            found = self.attempt(packed, bucket)
            for row in found:
                self.told[row["query"]] = self.told.get(row["query"], 0) + row["number"]
            schema = pa.schema({"query": pa.string(), "number": pa.int64(), "blob": pa.binary()})
            self.matched += self.unpacking.blobs(iter([pa.RecordBatch.from_pylist(found, schema)]))

    def found(self) -> list[dict[str, Any]]:
        return [row for batch in self.matched for row in batch.to_pylist()]
