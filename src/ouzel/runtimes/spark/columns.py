"""Columns of events and results, as batch and streams see them: which are needed, and of which types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ouzel.logical.columns import needed_columns
from ouzel.logical.schema import NESTED
from ouzel.runtimes.reading import type_column_of
from ouzel.runtimes.spark.task import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


def arrow_schema(events: DataFrame) -> pa.Schema:
    """The Arrow schema in which Spark hands over the rows of a DataFrame."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(events.schema, timezone="UTC")


def result_schemas(result: pa.Schema) -> tuple[StructType, pa.Schema]:
    """What Spark is told of a result, and the Arrow schema in which it then expects it."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    spark_schema = from_arrow_schema(result, prefer_timestamp_ntz=True)
    return spark_schema, to_arrow_schema(spark_schema, timezone="UTC")


def narrowed(task: Task) -> Task:
    """The task without the columns of events and the attributes of declared types that no query needs."""
    columns = needed_columns(plan.query for plan in task.compiled.plans)
    # of a struct all fields are handed over: the worker takes out those it needs
    needed = frozenset(name.split(NESTED)[0] for name in columns)
    own = {*task.reading.times, *task.reading.order, type_column(task)}
    if task.revision is not None and task.op is not None:
        # without an identity, an event is withdrawn by a row that is equal in all columns
        own |= {task.op, *(task.revision.identity or task.schema.names)}
    schema = pa.schema([field for field in task.schema if field.name in needed | own])
    types = task.reading.types
    if types is not None:
        types = {name: _kept(attributes, needed) for name, attributes in types.items()}
    return replace(task, schema=schema, reading=replace(task.reading, types=types))


def _kept(attributes: Any, needed: frozenset[str]) -> Any:
    if isinstance(attributes, Mapping):
        return {name: arrow for name, arrow in attributes.items() if name in needed}
    return [name for name in attributes if name in needed]


def type_column(task: Task) -> str | None:
    """The column with the types of events, if there is one."""
    return type_column_of(task.schema.names, task.reading)


def backquoted(name: str) -> str:
    """A column's name, or the path to a field, as Spark reads it, whatever is in it."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in name.split(NESTED))
