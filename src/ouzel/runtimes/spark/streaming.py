"""Streaming: `match` on a Spark stream, with a matcher for each bucket of keys in Spark's state.

The stages: rows are packed by bucket, the bucket's matcher takes them, its matches are unpacked to rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle

from ouzel.errors import OuzelError, SchemaError, listed
from ouzel.language.document import is_list
from ouzel.language.durations import length_in_ticks
from ouzel.logical.schema import NESTED
from ouzel.physical.limits import Limits
from ouzel.runtimes.arc_rows import required_automaton
from ouzel.runtimes.reading import Reading, settled
from ouzel.runtimes.revision import Revision, check_revision
from ouzel.runtimes.ruled import FOUND, MATCHES
from ouzel.runtimes.spark.bucket_state import RUNS, STATE, TIME
from ouzel.runtimes.spark.columns import arrow_schema, backquoted, narrowed, result_schemas
from ouzel.runtimes.spark.identity import remember
from ouzel.runtimes.spark.keys import key_columns
from ouzel.runtimes.spark.malformed import Required
from ouzel.runtimes.spark.options import SparkOptions
from ouzel.runtimes.spark.packing import BUCKET, MATCHED_DDL, PACKED_DDL, Packing, Unpacking
from ouzel.runtimes.spark.processor import (
    LATE,
    MALFORMED,
    REFUSED,
    SHED,
    SWITCHES,
    TOLD,
    WITHDRAWN,
    Buckets,
    StreamTask,
)
from ouzel.runtimes.spark.pushdown import wanted_by_spark
from ouzel.runtimes.spark.rule_rows import (
    Fitting,
    RuleTables,
    check_revised_rules,
    check_windows,
    packed_rules,
    refused_rules,
)
from ouzel.runtimes.spark.task import Task, by_name
from ouzel.runtimes.spark.workers import check_state_store, check_workers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def match_stream(
    events: DataFrame,
    text: str,
    params: Mapping[str, Any],
    reading: Reading,
    engine: str,
    tuning: Mapping[str, str],
    limits: Limits,
    options: SparkOptions | None,
    watermark: int | timedelta | str,
    rules: RuleTables | None = None,
    revision: Revision | None = None,
    speculation: Any = 0,
) -> DataFrame:
    """The matches of a stream as a stream; queries come and go by rules, if there are any.

    With a `revision` it is a stream of changes: matches to insert, and to withdraw.
    """
    options = options or SparkOptions()
    schema = arrow_schema(events)
    if revision is not None:
        check_revision(revision, schema, settled(reading, schema.names))
    how = {"tuning": dict(tuning), "revision": revision, "speculation": speculation}
    task = Task(text, "", dict(params), reading, schema, engine, limits, **how)
    stream = stream_task(task, options, watermark, rules)
    check_state_store(events.sparkSession)
    check_workers(events.sparkSession)
    changes = None if rules is None else rules.stream
    matches = _matches(events, changes, stream, options)
    remember(matches, stream)
    if rules is not None and changes is not None:
        rules.refused = refused_rules(changes, stream)
    return matches


def _matches(events: DataFrame, changes: DataFrame | None, stream: StreamTask, options: SparkOptions) -> DataFrame:
    from pyspark.sql.types import StringType, StructField, StructType

    unpacking = Unpacking(stream.outputs, apart=is_apart(stream))
    packed = _packed(events, stream)
    if changes is not None:
        packed = packed.union(packed_rules(changes, stream))
    matched = packed.groupBy("bucket").transformWithStateInPandas(Buckets(stream), MATCHED_DDL, "Append", "None")
    if options.metrics:
        matched = _observed(matched, options.metrics)
    shapes = {name: result_schemas(schema)[0] for name, schema in stream.outputs.items()}
    if not unpacking.apart:
        return matched.mapInArrow(unpacking.blobs, next(iter(shapes.values())))
    columns = [StructField(name, shape) for name, shape in shapes.items()]
    return matched.mapInArrow(unpacking.blobs, StructType([StructField("query", StringType()), *columns]))


def stream_task(
    task: Task, options: SparkOptions, watermark: int | timedelta | str, rules: RuleTables | None = None
) -> StreamTask:
    """What the workers are told: the program over the columns that it needs, and how its events are spread."""
    check_windows(task.compiled.plans)
    check_revised_rules(task, rules)
    keys = stream_keys(task, options, rules)
    arced, ruled = (rules is not None and rules.are_arcs is kind for kind in (True, False))
    if arced:
        required_automaton(task.text)
    # whoever comes later may need any column
    task = replace(task, open=True) if ruled and is_list(task.text) else task if arced else narrowed(task)
    matcher = task.matcher(on_late="keep")  # here already, for its errors
    results = by_name(matcher.push(task.schema.empty_table()), matcher.names)
    if task.open:
        results = {MATCHES: FOUND.empty_table()}
    outputs = {name: result_schemas(table.schema)[1] for name, table in results.items()}
    if options.late:
        outputs[LATE] = result_schemas(matcher.late.schema)[1]
    delay = length_in_ticks(watermark, matcher.time.tick, "watermark")
    first = None if rules is None else rules.first
    told = (task, delay, keys, options.buckets, first, arced)
    program = cloudpickle.dumps(told)  # type: ignore[no-untyped-call]
    key = blake2b(program, digest_size=20).digest()
    buckets = options.buckets if keys else 1
    stream = StreamTask(task, delay, tuple(keys), buckets, outputs, key, ruled, first, arced)
    _check_names(matcher.names, apart=is_apart(stream))
    if rules is not None:
        rules.check(stream)
    return stream


def is_apart(stream: StreamTask) -> bool:
    """Whether results go by the names of queries; those of queries that come and go are in one column."""
    return len(stream.outputs) > 1 or (stream.task.compiled.apart and not stream.task.open)


def stream_keys(task: Task, options: SparkOptions, rules: RuleTables | None = None) -> list[str]:
    """The columns by which events are spread: those that all queries have in common, or those asked for."""
    identity = () if task.revision is None else task.revision.identity
    if not options.keys:
        # a withdrawal must find its event: of a row that withdraws nothing else is sure to be there
        keys = key_columns(task.plans)
        return [key for key in keys if key.split(NESTED)[0] in identity] if identity else keys
    if rules is None or not is_list(task.text):
        raise OuzelError("keys: required rules that are texts; by which keys other queries go is known")
    for name in options.keys:
        if name not in task.schema.names:
            raise SchemaError(f"keys: required a column of the events, {listed(task.schema.names)}; got '{name}'")
    if identity and not set(options.keys) <= set(identity):
        raise OuzelError(f"keys: required columns of the identity, {listed(identity)}, which all rows have")
    if task.plans:
        Fitting(tuple(options.keys))(task.plans)
    return list(options.keys)


def _packed(events: DataFrame, stream: StreamTask) -> DataFrame:
    """The columns that are needed, packed by bucket; of events that no query wants, the time alone."""
    from pyspark.sql import functions as f

    task = stream.task
    columns = {name: events[backquoted(name)] for name in task.schema.names}
    bucket = f.lit(0)
    if stream.keys:
        number = f.xxhash64(*(events[backquoted(key)] for key in stream.keys))
        bucket = f.pmod(number, f.lit(stream.buckets)).cast("int")
    queries = [plan.query for plan in task.plans]
    # a row that withdraws an event need not have its values
    all_matter = task.open or stream.arced or task.op is not None
    wanted = None if all_matter else wanted_by_spark(queries, task, events.schema)
    if wanted is not None:
        # dropping the others would stop the clock where they are all that comes
        condition = f.expr(wanted)
        bucket = f.when(condition, bucket)
        columns = {
            name: column if name == task.reading.time else f.when(condition, column)
            for name, column in columns.items()
        }
    chosen = events.select([column.alias(name) for name, column in columns.items()] + [bucket.alias(BUCKET)])
    packing = Packing(task.schema, task.reading.time, stream.buckets, Required.of(task), task.op)
    return chosen.mapInArrow(packing.rows, PACKED_DDL)


def _observed(matched: DataFrame, name: str) -> DataFrame:
    from pyspark.sql import functions as f

    def total(condition: Column, label: str) -> Column:
        return f.coalesce(f.sum(f.when(condition, f.col("number"))), f.lit(0)).alias(label)

    kind = f.col("query")
    told = {LATE: LATE, MALFORMED: MALFORMED, SHED: "shed", SWITCHES: "switches", REFUSED: "refused"}
    told |= {WITHDRAWN: "withdrawn"}
    told |= {RUNS: "open_runs", STATE: "state_bytes"}
    others = [total(kind == one, label) for one, label in told.items()]
    others.append(f.max(f.when(kind == TIME, f.col("number"))).alias("watermark"))
    return matched.observe(name, total(~kind.isin(*TOLD), "matches"), *others)


def _check_names(names: tuple[str, ...], apart: bool) -> None:
    taken = {LATE, MALFORMED, *(["query"] if apart else [])}
    found = next((name for name in names if name in taken), None)
    if found:
        raise OuzelError(f"query '{found}': required another name; on a stream '{found}' has a meaning of its own")
