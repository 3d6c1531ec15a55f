"""Random queries: batch, streaming, this process and the reference agree.

Streams are cut into random micro-batches, with events out of order, random numbers of buckets, and a restart in
between.  Queries go through a stream several at a time, for a stream takes seconds to start.  OUZEL_AGREEMENT is
how many queries there are, OUZEL_AGREEMENT_SEED what they are drawn from.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from pyspark.sql import DataFrame, SparkSession

import ouzel as oz
from ouzel.testing.strategies import RandomQuery, queries, streams
from spark_events import SCHEMA, Events, expected, rows, rows_of
from spark_feeds import END, Feed, in_batches

QUERIES = int(os.environ.get("OUZEL_AGREEMENT", "24"))
SEED = int(os.environ.get("OUZEL_AGREEMENT_SEED", "20261116"))
PER_STREAM = 8
# Declared, for not every stream has events of every type.
TYPES = {name: ["eid", "k", "x", "y"] for name in "ABCD"}
ARROW = pa.schema({"eid": "string", "ts": "int64", "type": "string", "k": "int64", "x": "int64", "y": "int64"})


def drawn(strategy: Any, count: int, seed: int) -> list[Any]:
    """Some values of a strategy, always the same."""
    found: list[Any] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def is_keyed(query: RandomQuery) -> bool:
    return "[k]" in query.conditions and query.strategy != "strict_contiguity"


def is_ever_final(query: RandomQuery) -> bool:
    """Negation in a window that counts events is decided when the stream ends, which a stream never does.

    Nor does it report totals without windows.
    """
    if query.output == "OUTPUT AGGREGATE":
        return False
    return "EVENTS" not in query.window or all(one.kind != "negative" for one in query.components)


def programs(keyed: bool, seed: int) -> Iterator[list[str]]:
    """Queries in groups, all with an equivalence test on k, or any."""
    some = drawn(queries(non_overlap=True, totals=True), 8 * QUERIES, seed)
    texts = [query.text for query in some if is_ever_final(query) and is_keyed(query) >= keyed]
    while texts:
        yield texts[:PER_STREAM]
        texts = texts[PER_STREAM:]


def cases() -> list[tuple[int, list[str]]]:
    """By turns, groups that are spread over buckets and groups of any queries."""
    by_turns = zip(programs(True, SEED), programs(False, SEED + 1), strict=False)
    both = (group for pair in by_turns for group in pair)
    return list(enumerate(islice(both, -(-QUERIES // PER_STREAM))))


def some_events(number: int, group: list[str]) -> tuple[Events, list[list[str]]]:
    """Of a few streams the one in which most queries find something, and what they find."""
    drawn_streams = sorted(drawn(streams(max_events=18), 60, SEED + number), key=len)[-10:]
    candidates = [[{name: event[name] for name in ARROW.names} for event in one] for one in drawn_streams]
    found = [(events, [expected(events, query) for query in group]) for events in candidates]
    return max(found, key=lambda one: sum(map(bool, one[1])))


@pytest.fixture
def events_of(spark: SparkSession) -> Any:
    def frame(events: Events) -> DataFrame:
        return spark.createDataFrame([tuple(event.values()) for event in events], SCHEMA).repartition(2)

    return frame


def test_there_are_as_many_queries_as_asked_for() -> None:
    assert sum(len(group) for _number, group in cases()) >= QUERIES


@pytest.mark.parametrize(("number", "group"), cases(), ids=lambda one: one if isinstance(one, int) else "")
def test_all_ways_agree(feed: Feed, events_of: Any, number: int, group: list[str]) -> None:
    chance = random.Random(SEED + number)
    events, wanted = some_events(number, group)
    assert any(wanted)
    table = pa.Table.from_pylist(events, ARROW)
    for query, rows_wanted in zip(group, wanted, strict=True):
        assert rows_of(oz.match(table, query, types=TYPES).to_pylist()) == rows_wanted, query
    text = "\n".join(f"QUERY q{place} {query}" for place, query in enumerate(group))
    batch = oz.match(events_of(events), text, spark=oz.SparkOptions(tasks=chance.randint(1, 3)))
    for place, (query, rows_wanted) in enumerate(zip(group, wanted, strict=True)):
        assert rows(batch[f"q{place}"]) == rows_wanted, query
    disorder = chance.choice((0, 3))
    sizes = sorted(chance.choices(range(len(events)), k=2))
    parts = [part for part in in_batches(events, *sizes, disorder=disorder, seed=number) if part]
    options = oz.SparkOptions(buckets=chance.randint(1, 4))
    late = 0
    for run in (parts[:1], [*parts[1:], [END]]):  # begun again from its checkpoint
        feed.add(*run)
        late += feed.run(text, options, watermark=disorder)["late"]
    assert late == 0
    found = feed.found()
    for place, (query, rows_wanted) in enumerate(zip(group, wanted, strict=True)):
        own = found.where(f"query = 'q{place}'").select(f"q{place}.*")
        assert rows(own) == rows_wanted, query
