"""What workers take from Parquet files: the events that some component may want, however they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ouzel.physical.limits import Limits
from ouzel.runtimes.reading import Reading
from ouzel.runtimes.spark.blobs import unpacked
from ouzel.runtimes.spark.columns import narrowed
from ouzel.runtimes.spark.parquet import FileTask, row_groups
from ouzel.runtimes.spark.pushdown import types_wanted_by_arrow, wanted_by_arrow
from ouzel.runtimes.spark.task import Task
from spark_events import QUERIES, stream

SCHEMA = pa.schema(
    {"eid": pa.string(), "ts": pa.int64(), "type": pa.string(), "k": pa.int64(), "x": pa.int64(), "y": pa.int64()}
)
EVENTS = pa.Table.from_pylist(
    [{**event, "type": None} if n == 70 else event for n, event in enumerate(stream(5, 90, 50))], SCHEMA
)
WRITTEN: dict[str, dict[str, Any]] = {
    "as ever": {},
    "in row groups": {"row_group_size": 20},
    "without a dictionary": {"use_dictionary": False},
    "with a dictionary too small": {"dictionary_pagesize_limit": 1, "data_page_size": 64, "write_batch_size": 4},
}


def reading(path: Path, query: str, types: dict[str, list[str]] | None = None) -> FileTask:
    task = narrowed(Task(query, "", {}, Reading(types=types), SCHEMA, "auto", Limits()))
    [plan] = task.compiled.plans
    conditions = (wanted_by_arrow([plan.query], task), types_wanted_by_arrow([plan.query], task))
    return FileTask(task, row_groups([str(path)]), ("k",), 3, *conditions)


def taken(files: FileTask) -> list[dict[str, Any]]:
    numbers = pa.RecordBatch.from_pydict({"id": range(len(files.groups))})
    tables = list(unpacked(files.read(iter([numbers]))))
    assert all(table.schema == files.task.schema for table in tables)
    return sorted((row for table in tables for row in table.to_pylist()), key=repr)


@pytest.mark.parametrize("query", ["keyed", "two keys", "closure", "pushed down", "counted"])
@pytest.mark.parametrize("written", WRITTEN)
def test_what_is_taken_is_what_is_wanted(tmp_path: Path, written: str, query: str) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(EVENTS, path, **WRITTEN[written])
    files = reading(path, QUERIES[query])
    wanted = EVENTS if files.condition is None else EVENTS.filter(files.condition)
    assert query == "counted" or 0 < len(wanted) < len(EVENTS)
    assert taken(files) == sorted(wanted.select(files.task.schema.names).to_pylist(), key=repr)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_types_of_other_arrow_types(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "events.parquet"
    index = EVENTS.column_names.index("type")
    pq.write_table(EVENTS.set_column(index, "type", EVENTS.column("type").cast(kind)), path)
    files = reading(path, QUERIES["keyed"])
    wanted = EVENTS.filter(files.condition).select(files.task.schema.names)
    assert taken(files) == sorted(wanted.to_pylist(), key=repr)


def test_types_that_are_not_declared_are_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pq.write_table(EVENTS, path)
    files = reading(path, QUERIES["two keys"], {name: ["eid", "k", "x"] for name in "ABC"})
    found = {row["type"] for row in taken(files)}
    assert found == {"A", "B", "D", None}
    assert pc.sum(pc.equal(EVENTS.column("type"), "C")).as_py() > 0
