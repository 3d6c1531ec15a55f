"""Streams of matches out: to a Kafka topic as JSON, to a directory of files, or as changes of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError
from ouzel.runtimes.spark.columns import backquoted
from ouzel.runtimes.spark.identity import check_checkpoint, is_begun, is_in_json
from ouzel.runtimes.spark.postgres import is_postgres
from ouzel.runtimes.spark.sink_log import check_written
from ouzel.runtimes.spark.sources import FORMATS, needing_kafka
from ouzel.runtimes.spark.topics import topic_of
from ouzel.runtimes.spark.upserts import upsert_to, without_secrets

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

QUERY = "query"
_JSON = {"ignoreNullFields": "false"}


def write_stream(
    matches: DataFrame,
    to: str | Path,
    *,
    checkpoint: str | Path,
    upsert: str | bool | None = None,
    available_now: bool = False,
    **options: Any,
) -> StreamingQuery:
    """Start to write a stream of matches; the running query, as Spark has it.

    - `to` is `kafka://HOST:PORT/TOPIC`, where a match becomes a message in JSON, or a directory: its name ends in
      the format (`thefts.parquet`), or `format="parquet"` says it.  Files hold every match exactly once; after a
      crash a message may come twice, as Spark's connector has it.
    - `checkpoint` is the directory from which a stream goes on when it is started again.
    - `upsert` applies a stream of changes (`match(…, op=…)`, `match(…, speculation=…)`) to a table by `match_id`:
      `upsert="thefts"` names it if `to` is a database, `jdbc:postgresql://HOST:PORT/DATABASE`, and `options` are
      those of the connection, such as `user` and `password`; `upsert=True` says that `to` is the directory of a
      Delta table.  It is made if it is not there.
    - `available_now` ends the stream when it has seen what is there now.
    - `options` are Spark's own for such a sink.
    """
    if not getattr(matches, "isStreaming", False):
        got = "a batch of them" if hasattr(matches, "isStreaming") else repr(matches)
        raise OuzelError(
            f"write_stream: required a stream of matches, as oz.match makes it of a stream; got {got}"
        )
    topic, table = topic_of(str(to)), None
    if upsert is not None and upsert is not False:
        sink = upsert_to(matches, str(to), upsert, options)
        sink.check(matches, begins=not is_begun(matches, checkpoint))
        table = f"{without_secrets(str(to))}, {upsert}"
        writer = matches.writeStream.foreachBatch(sink.__call__)
    elif is_postgres(str(to)):
        raise OuzelError("a database: required upsert='…' beside it, the name of a table")
    elif topic is not None:
        messages = matches.select(as_json(matches).alias("value")).writeStream.format("kafka")
        writer = messages.options(**topic.broker).options(**options).option("topic", topic.name)
    else:
        kind = options.pop("format", None) or FORMATS.get(Path(to).suffix)
        if kind is None:
            known = ", ".join(FORMATS)
            raise OuzelError(f"'{to}': required a name that ends in {known}, or a format; got neither")
        check_written(matches.sparkSession, to, checkpoint)
        writer = matches.writeStream.format(kind).options(**options).option("path", str(to))
    return started(matches, writer, checkpoint, available_now=available_now, table=table)


def started(
    matches: DataFrame,
    writer: DataStreamWriter,
    checkpoint: str | Path,
    *,
    available_now: bool,
    table: str | None = None,
) -> StreamingQuery:
    """Start a stream of matches, to end when it has seen what is there now, or never."""
    check_checkpoint(matches, checkpoint, table)
    if available_now:
        writer = writer.trigger(availableNow=True)
    with needing_kafka():
        return writer.option("checkpointLocation", str(checkpoint)).start()


def as_json(matches: DataFrame) -> Column:
    """Every match as JSON; where there are several queries, with the name of its own."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    if is_in_json(matches):
        before = f.expr("left(to_json(struct(query)), length(to_json(struct(query))) - 1)")
        return f.concat(before, f.lit(',"match":'), f.col("match"), f.lit("}"))
    if not is_labelled(matches):
        return f.to_json(f.struct(*(f.col(backquoted(name)) for name in matches.columns)), _JSON)
    value: Column = f.lit(None)
    for field in matches.schema.fields[1:]:
        assert isinstance(field.dataType, StructType)
        own = f.struct(f.lit(field.name).alias(QUERY), f.col(backquoted(field.name)).alias("match"))
        value = f.when(f.col(QUERY) == field.name, f.to_json(own, _JSON)).otherwise(value)
    return value


def is_labelled(matches: DataFrame) -> bool:
    """Whether a stream holds the matches of several queries: their names, and a struct for each."""
    from pyspark.sql.types import StructType

    first, *others = matches.schema.fields
    return first.name == QUERY and bool(others) and all(isinstance(one.dataType, StructType) for one in others)
