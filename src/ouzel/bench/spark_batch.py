"""Batches on Spark: a sequence over Parquet files, beside Spark's own floor and the same query in Spark SQL.

The floor is an identity: what it costs to bring the columns from files to Python and back, and to do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

import ouzel as oz
from ouzel.bench.measure import Contender, Row, measure
from ouzel.bench.sequences import Sequence
from ouzel.testing.papers import sase_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

IDENTITY, BARE = "identity", "bare DataFrames"
COLUMNS = ("ts", "type", "attr1")
FILES = 8
GROUPS = 4
# 3 types of 3, or 3 of 20, are in the pattern
RELEVANT = {"all relevant": 3, "15% relevant": 20}
DOMAIN = 10_000
QUERIES = 40
KEYS = (100, 100_000)


def batches(events: int, times: int) -> Iterator[Row]:
    """Rows for what share of the events is relevant, and for few keys and many."""
    session = oz.spark_session()
    for label, types in RELEVANT.items():
        with _files(events, DOMAIN, types) as directory:
            # as many events of a key in a window, whatever the number of keys
            yield from measure(label, events, _contenders(session, directory), times, against=IDENTITY)
    for keys in KEYS:
        with _files(events, keys, RELEVANT["15% relevant"]) as directory:
            own = {"Ouzel": _ouzel(session.read.parquet(directory), keys, reads_files=False)}
            yield from measure(f"{keys:,} keys", events, own, times)


def _contenders(session: SparkSession, directory: str) -> dict[str, Contender]:
    stream = session.read.parquet(directory)
    stream.createOrReplaceTempView("events")
    join = Sequence(window=DOMAIN, division="div").joins["buckets"]
    return {
        IDENTITY: Contender(partial(_written, identity(stream.select(*COLUMNS)))),
        "Ouzel": _ouzel(stream, DOMAIN, reads_files=False),
        "Ouzel, workers read": _ouzel(stream, DOMAIN, reads_files=True),
        "Spark SQL": _counted(session.sql(join), "buckets"),
    }


def identity(stream: DataFrame) -> DataFrame:
    """The rows, to Python and back."""
    return stream.mapInArrow(_same, stream.schema)


def _same(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def _ouzel(stream: DataFrame, window: int, *, reads_files: bool) -> Contender:
    options = oz.SparkOptions(reads_files=reads_files)
    return _counted(oz.match(stream, Sequence(window=window).query, spark=options))


def _counted(result: DataFrame, note: str = "") -> Contender:
    return Contender(partial(_written, result), lambda _result: {"matches": result.count()}, note)


def _written(result: DataFrame) -> None:
    """Compute all rows and write them nowhere."""
    result.write.format("noop").mode("overwrite").save()


def planning(times: int) -> Iterator[Row]:
    """A row for what the driver takes for 40 DataFrames, and one for those of 40 queries: nothing is run."""
    events = oz.spark_session().createDataFrame(sase_stream(1_000, 10).select(COLUMNS).to_pandas())
    prepared = iter([several_queries(number) for number in range(times + 1)])
    contenders = {
        BARE: Contender(partial(several_bare, events)),
        "Ouzel": Contender(lambda: oz.match(events, next(prepared), time_unit="ms")),
    }
    yield from measure(f"{QUERIES} queries", QUERIES, contenders, times, against=BARE)


def several_queries(number: int) -> oz.Query:
    """Queries that were not planned before, and are parsed and checked."""
    each = "PATTERN SEQ(E1 a, E2 b) WHERE [attr1] AND a.ts > {} AND b.ts - a.ts > {} WITHIN 1000 RETURN a.ts AS t"
    return oz.query("\n".join(f"QUERY q{n} {each.format(n, number)}" for n in range(QUERIES)))


def several_bare(events: DataFrame) -> list[DataFrame]:
    """As many DataFrames, each filtered, shuffled, and passed through Python."""
    chosen = [events.where(events.ts > n) for n in range(QUERIES)]
    return [identity(one.repartition(2, one.attr1)) for one in chosen]


@contextmanager
def _files(events: int, domain: int, types: int) -> Iterator[str]:
    """A stream as Parquet files, of several row groups each."""
    stream = sase_stream(events, domain, types=types).drop_columns(["attr5"])
    size = -(-events // FILES)
    with TemporaryDirectory(prefix="ouzel-bench-") as directory:
        for number in range(FILES):
            part = stream.slice(number * size, size)
            pq.write_table(part, Path(directory) / f"{number}.parquet", row_group_size=max(1, size // GROUPS))
        yield directory
