"""Parquet files with times in nanoseconds, as pandas writes them: Spark has none, so they come in microseconds."""

from __future__ import annotations

import warnings
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ouzel.errors import OuzelWarning, SchemaError, outer_level
from ouzel.runtimes.files import matching
from ouzel.runtimes.spark.columns import backquoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"
_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def read_parquet(session: SparkSession, path: str) -> DataFrame:
    """Parquet files as a DataFrame; times in nanoseconds are cut to microseconds, with a warning if that cuts."""
    columns = nanosecond_columns(path)
    table = session.read.schema(parquet_schema(session, path, columns)).parquet(path)
    if not columns:
        return table
    _warn_if_cut(table, list(columns), path)
    return in_microseconds(table, columns)


def parquet_schema(session: SparkSession, path: str, columns: dict[str, bool]) -> StructType:
    """The schema of Parquet files as Spark reads them: columns with nanoseconds are whole numbers of them."""
    from pyspark.errors import AnalysisException

    if columns:
        # it is looked at when the files are read, not now: so it has to stay
        session.conf.set(AS_LONG, "true")
    try:
        return session.read.parquet(path).schema
    except AnalysisException as error:
        if "NANOS" not in str(error):
            raise
    raise SchemaError(
        f"'{path}': required times in microseconds, as Spark has them; got nanoseconds\n"
        "  hint: write the files with them, as by df.to_parquet(…, coerce_timestamps='us') in pandas"
    )


def nanosecond_columns(path: str) -> dict[str, bool]:
    """The columns with times in nanoseconds, and whether they are in a zone, as the first file here has them."""
    try:
        schema = next(map(pq.read_schema, _files(Path(path))), pa.schema([]))
    except (OSError, pa.ArrowException):
        return {}  # Spark will say it
    return {
        field.name: field.type.tz is not None
        for field in schema
        if pa.types.is_timestamp(field.type) and field.type.unit == "ns"
    }


def in_microseconds(table: DataFrame, columns: dict[str, bool]) -> DataFrame:
    """The columns, which are whole nanoseconds, as times."""
    from pyspark.sql import functions as f

    def time(name: str, is_zoned: bool) -> Column:
        micros = f"(({backquoted(name)} - pmod({backquoted(name)}, 1000L)) div 1000)"
        if is_zoned:
            return f.expr(f"timestamp_micros({micros})").alias(name)
        # an interval of whole microseconds: Spark has no other exact way from a number to a time without a zone
        seconds = f"cast(cast({micros} AS decimal(19, 0)) / 1000000 AS decimal(18, 6))"
        return f.expr(f"{_EPOCH} + make_dt_interval(0, 0, 0, {seconds})").alias(name)

    return table.select(
        [time(name, columns[name]) if name in columns else table[backquoted(name)] for name in table.columns]
    )


def _warn_if_cut(raw: DataFrame, columns: list[str], path: str) -> None:
    from pyspark.sql import functions as f

    is_finer: Any = reduce(or_, [f.expr(f"pmod({backquoted(name)}, 1000L) != 0") for name in columns])
    if not raw.where(is_finer).isEmpty():
        warnings.warn(
            f"'{path}': times in nanoseconds ({', '.join(columns)}) are cut to microseconds, which Spark has; "
            "events of one microsecond are simultaneous",
            OuzelWarning,
            stacklevel=outer_level(),
        )


def _files(path: Path) -> list[Path]:
    """The files under a path or pattern on this machine."""
    found = [path] if path.exists() else matching(path)
    below = [file for one in found for file in (sorted(one.rglob("*")) if one.is_dir() else [one])]
    return [file for file in below if file.is_file() and file.name[0] not in "._"]
