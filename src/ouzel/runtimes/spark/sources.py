"""Streams of events in: from a Kafka topic, or from files that are added to a directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ouzel.errors import OuzelError, SchemaError
from ouzel.runtimes.files import matching
from ouzel.runtimes.spark.nanoseconds import in_microseconds, nanosecond_columns, parquet_schema
from ouzel.runtimes.spark.session import active_session, local_session
from ouzel.runtimes.spark.topics import Topic, topic_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMATS = {
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
}
"""What the end of a file's name says of it."""

AVRO_SUFFIX = ".avsc"


def read_stream(
    source: str | Path,
    schema: str | StructType | None = None,
    *,
    session: SparkSession | None = None,
    **options: Any,
) -> DataFrame:
    """A stream of events for `match`: those of a Kafka topic, or those in files that are added to a directory.

    - `source` is `kafka://HOST:PORT/TOPIC`, a directory, or a pattern such as `readings/*.json`.
    - `schema` says which columns the events have, as in `"ts timestamp, type string, tag long"`.  For values in
      Avro it is an Avro schema, as JSON or as the path of an `.avsc` file.  For Parquet it may be left out, if
      there is a file already.
    - `options` are Spark's own for such a source, as in `maxFilesPerTrigger=1`.  A topic is read from its
      beginning, unless they say `startingOffsets="latest"`.

    A value that cannot be read becomes an event without a time: `on_bad` of `match` says what becomes of it.
    """
    topic = topic_of(str(source))
    if topic is None:
        return _files(session or local_session(), str(source), schema, options)
    return _events(session or stream_session(str(source), schema), topic, schema, options)


def stream_session(*places: str | StructType | None, master: str | None = None) -> SparkSession:
    """The active session; if there is none, a new one with the connectors that sources, sinks and schemas need."""
    texts = [place for place in places if isinstance(place, str)]
    if active_session() is not None or (master or "").startswith("sc://"):
        return local_session(master)
    from ouzel.runtimes.spark.connectors import avro_jars, kafka_jars

    jars = kafka_jars() if any(map(topic_of, texts)) else []
    jars += avro_jars() if any(map(_avro, texts)) else []
    return local_session(master, {"spark.jars": ",".join(map(str, jars))} if jars else None)


# ---- Kafka -----------------------------------------------------------------------------------------------


def _events(
    session: SparkSession, topic: Topic, schema: str | StructType | None, options: dict[str, Any]
) -> DataFrame:
    if schema is None:
        raise SchemaError(
            f"topic '{topic.name}': required a schema for its values, such as 'ts timestamp, type string', "
            "or an Avro schema; got none"
        )
    reader = session.readStream.format("kafka").options(startingOffsets="earliest").options(**topic.broker)
    with needing_kafka():
        values = reader.options(**options).option("subscribe", topic.name).load()
    return values.select(_parsed(schema).alias("event")).select("event.*")


@contextmanager
def needing_kafka() -> Iterator[None]:
    """Say what is to be done where the session has no connector to Kafka: once it is made, it cannot get one."""
    from pyspark.errors import AnalysisException

    from ouzel.runtimes.spark.connectors import KAFKA_PACKAGE

    try:
        yield
    except AnalysisException as error:
        if "data source: kafka" not in str(error):
            raise
        raise OuzelError(
            "kafka://: required a Spark session with the connector to Kafka; got one that was made without it\n"
            "  hint: let oz.read_stream make the session; or make it with Spark's own spark.jars.packages="
            f"{KAFKA_PACKAGE}"
        ) from None


def _parsed(schema: str | StructType) -> Column:
    from pyspark.sql import functions as f

    avro = _avro(schema) if isinstance(schema, str) else None
    if avro is None:
        return f.from_json(f.col("value").cast("string"), schema)
    from pyspark.sql.avro.functions import from_avro

    # one value that cannot be read must not stop a stream for good
    return from_avro("value", avro, {"mode": "PERMISSIVE"})


def _avro(schema: str) -> str | None:
    """The Avro schema that a text is or names."""
    if schema.endswith(AVRO_SUFFIX):
        schema = Path(schema).read_text(encoding="utf-8")
    if not schema.lstrip().startswith("{"):
        return None
    try:
        kind = json.loads(schema).get("type")
    except ValueError as error:
        raise SchemaError(f"schema: required an Avro schema as JSON; {error}") from None
    if kind != "record":
        raise SchemaError(f"schema: required an Avro schema of type 'record'; got {kind!r}")
    return schema


# ---- files -----------------------------------------------------------------------------------------------


def _files(
    session: SparkSession, source: str, schema: str | StructType | None, options: dict[str, Any]
) -> DataFrame:
    kind = str(options.pop("format", None) or _format(source))
    if schema is None:
        if kind != "parquet":
            raise SchemaError(
                f"'{source}': required a schema for files of {kind}, such as 'ts timestamp, type string'; got none"
            )
        return _parquet(session, source, options)
    reader = session.readStream.format(kind).schema(schema)
    if kind == "csv":
        reader = reader.option("header", True)
    return reader.options(**options).load(source)


def _parquet(session: SparkSession, source: str, options: dict[str, Any]) -> DataFrame:
    """A stream of Parquet files, of which the first are there; times in nanoseconds come in microseconds."""
    columns = nanosecond_columns(source)
    schema = parquet_schema(session, source, columns)
    stream = session.readStream.format("parquet").schema(schema).options(**options).load(source)
    return in_microseconds(stream, columns) if columns else stream


def _format(source: str) -> str:
    """The format of the files in a directory, or of those that a pattern is for, by how their names end."""
    suffixes = {Path(source).suffix}
    is_there = "://" in source or Path(source).exists() or matching(Path(source))
    if not is_there and not suffixes & FORMATS.keys():
        raise OuzelError(f"'{source}': required a directory, or a pattern such as 'DIR/*.json'; there is none")
    if Path(source).is_dir():
        files = (path for path in Path(source).rglob("*") if path.is_file() and path.name[0] not in "._")
        suffixes = {Path(path.name.removesuffix(".gz")).suffix for path in files} or suffixes
    found = {FORMATS[suffix] for suffix in suffixes if suffix in FORMATS}
    if len(found) != 1:
        got = f"files of {', '.join(sorted(found))}" if found else "none that are known"
        raise OuzelError(
            f"'{source}': required files of one format; got {got}\n"
            f"  hint: name them by a pattern, such as '{source.rstrip('/')}/*.json'"
        )
    return found.pop()
