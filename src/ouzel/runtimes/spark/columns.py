"""Columns of events and results, as batch and streams see them: which are needed, and of which types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ouzel.logical.columns import needed_columns
from ouzel.runtimes.ingest import AUTO, DEFAULT_TYPE_COLUMN
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


def kept_columns(task: Task) -> list[str]:
    """The columns of events that a program needs."""
    types = type_column(task)
    columns = needed_columns(plan.query for plan in task.compiled.plans)
    columns |= {task.reading.time, *task.reading.order, *([types] if types else [])}
    return [name for name in task.schema.names if name in columns]


def type_column(task: Task) -> str | None:
    """The column with the types of events, if there is one."""
    if task.reading.type == AUTO:
        return DEFAULT_TYPE_COLUMN if DEFAULT_TYPE_COLUMN in task.schema.names else None
    return task.reading.type
